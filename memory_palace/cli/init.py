"""``palace init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from memory_palace.config import PALACE
from memory_palace.palace import Palace


def init_palace(
    ctx: typer.Context,
    folder: Annotated[Path | None, typer.Argument(help="Where; this folder if left out.")] = None,
) -> None:
    """Make the seven rooms in FOLDER; doing it twice changes nothing.

    Example: palace init ~/memory
    """
    root = (folder or ctx.obj or Path.cwd()).resolve()
    Palace.init(root)
    print(root / PALACE)
