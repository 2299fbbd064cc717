"""Guided search: notes that have places, a goal pursued over steps, and a belief that never flaps."""
