"""The signals, grouped by what they look at; ``table`` has them by name."""
