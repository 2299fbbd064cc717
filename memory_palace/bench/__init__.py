"""Measurements over the public API. Everything is printed beside something of the same run."""
