"""TODO features/recall."""
