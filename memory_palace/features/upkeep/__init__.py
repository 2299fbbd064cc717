"""TODO features/upkeep."""
