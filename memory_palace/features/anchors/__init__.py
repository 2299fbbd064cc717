"""Anchors: the terms that matter in a palace, and the passages each of them leads to."""
