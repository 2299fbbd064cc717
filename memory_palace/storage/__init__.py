"""Bytes on disk: atomic replacement and the writer's lock."""
