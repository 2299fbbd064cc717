"""Memories: notes with an image, a content and a token that proves that they were read."""
