"""The resident server of a palace: it keeps the index and the models open, and answers commands."""
