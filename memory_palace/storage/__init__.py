"""Bytes on disk: atomic replacement, logs of JSON lines, the writer's lock."""
