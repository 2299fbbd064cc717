"""TODO features/graph."""
