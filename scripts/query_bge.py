#!/usr/bin/env python3
"""``palace query``, under the name that source document 002 gives it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs without installation too

from memory_palace.cli.app import run_script

formula = [] if "--raw" in sys.argv else ["--profile", "compound"]
run_script("query", "--top-k", "3", *formula, here=Path(__file__))
