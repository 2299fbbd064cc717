#!/usr/bin/env python3
"""``palace index --embedder bge-m3`` where bge-m3 is ready: the name is document 002's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs without installation too

from memory_palace.cli.app import run_script


def choose_bge() -> list[str]:
    """Return the options that ask for bge-m3; none where the model of the index is used."""
    try:
        from memory_palace.embedding.registry import is_available
    except ModuleNotFoundError:  # of a bare Python: the command says what it needs
        return []
    return ["--embedder", "bge-m3"] if is_available("bge-m3") else []


run_script("index", *choose_bge(), here=Path(__file__))
