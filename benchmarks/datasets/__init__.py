"""Loaders of public question sets, and of people's own."""
