#!/usr/bin/env python3
"""``palace metabolism cold [--fix]``: the name is document 002's."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs without installation too

from memory_palace.cli.app import run_script

run_script("metabolism", "cold", here=Path(__file__))
