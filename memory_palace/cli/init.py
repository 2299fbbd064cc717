"""``palace init``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Context

from memory_palace.palace import Palace


def init_palace(
    ctx: Context,
    folder: Annotated[
        Path | None, Argument(help="Folder to hold palace/; the current one by default.")
    ] = None,
) -> None:
    """Create the seven rooms in FOLDER. Running it again changes nothing.

    Example: palace init ~/memory
    """
    root = (folder or ctx.obj or Path.cwd()).resolve()
    print(Palace.init(root).paths.notes)
