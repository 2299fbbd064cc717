"""Memories: notes with an image, a content, and a verification token that proves reading."""
