"""The features: one folder each, with what it does, its values and its verbs."""
