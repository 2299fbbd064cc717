"""Measurements beside something else of the same run; not part of the package."""
