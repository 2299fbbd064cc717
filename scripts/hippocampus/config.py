#!/usr/bin/env python3
"""``palace config show``, under the name that source document 003 gives it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # runs without installation too

from memory_palace.cli.app import run_script

run_script("config", "show", here=Path(__file__).parent)
