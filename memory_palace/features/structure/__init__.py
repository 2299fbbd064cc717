"""Structure of passages (source document 001): names, noun phrases, relations, preferences.

Off by default: `palace index --structure` indexes the facts, and `--profile structured` ranks with
their signals. The engine uses it only through the extension interface ``memory_palace.signals``.
"""
