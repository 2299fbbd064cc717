#!/usr/bin/env python3
"""``palace index``, under the name that source document 003 gives it: it finds what was written."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # runs without installation too

from memory_palace.cli.app import run_script

sys.argv[1:] = [word for word in sys.argv[1:] if word.startswith("-")]  # notes need no naming
run_script("index", here=Path(__file__).parent)
