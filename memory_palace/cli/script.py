"""The doors in ``scripts/``: the same commands under other names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from memory_palace.cli.app import main
from memory_palace.config import nearest_paths


def run_script(*command: str, here: Path) -> None:
    """Run a command with the script's own arguments.

    The palace is the nearest at or above the working folder, else the one the script belongs to.
    """
    is_near = nearest_paths(Path.cwd()) is not None
    root = [] if is_near or "PALACE_ROOT" in os.environ else ["-C", str(_home(here))]
    main([*root, *command, *sys.argv[1:]])


def _home(here: Path) -> Path:
    return here.resolve().parent.parent
