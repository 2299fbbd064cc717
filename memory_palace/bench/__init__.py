"""Measurements over the public API."""
