"""Markdown in: rooms, front matter, links, chunks, dates and the manifest."""
