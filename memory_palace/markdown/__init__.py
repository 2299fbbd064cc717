"""Markdown as CommonMark reads it, with Obsidian's wiki links: blocks, code, headings, links."""
