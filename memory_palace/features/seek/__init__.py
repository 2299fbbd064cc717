"""Guided search: notes with places, a goal pursued over steps, a belief that never flaps."""
