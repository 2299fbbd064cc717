"""Notes and conversations of other programs, read from their exports and written as notes."""
