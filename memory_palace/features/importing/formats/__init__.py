"""Readers of other programs' exports, and what they share: files, JSON entries, fields."""
