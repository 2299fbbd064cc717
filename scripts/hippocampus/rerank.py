#!/usr/bin/env python3
"""``palace query --profile anchors --details``, under the name of source document 003."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # runs without installation too

from memory_palace.cli.app import run_script

run_script("query", "--profile", "anchors", "--details", here=Path(__file__).parent)
