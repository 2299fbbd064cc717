"""Readers of other programs' exports: one module for each format, and what they share.

`registry` names the formats, `detection` tells them apart; `export_files`, `splitting` and `fields`
are for files that nobody here wrote.
"""
