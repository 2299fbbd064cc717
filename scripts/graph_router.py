#!/usr/bin/env python3
"""``palace graph``, under the name that source document 002 gives it; alone, the whole graph."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # runs without installation too

from memory_palace.cli.app import run_script

VERBS = {"neighbors", "route", "orphans", "broken", "export", "-h", "--help"}
run_script("graph", *([] if VERBS & {*sys.argv} else ["export"]), here=Path(__file__))
