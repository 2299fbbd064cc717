"""TODO features/asking."""
