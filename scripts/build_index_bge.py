#!/usr/bin/env python3
"""``palace index --prefer bge-m3``, under the name that source document 002 gives it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs without installation too

from memory_palace.cli.script import run_script

run_script("index", "--prefer", "bge-m3", here=Path(__file__))
