"""Readers of other programs' exports."""
