"""TODO features/editing."""
