"""How agents use a palace: what they are shown, and the doors they come in by."""
