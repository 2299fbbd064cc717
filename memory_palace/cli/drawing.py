"""Options of commands that draw, and where their pictures go."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from typer import Option

from memory_palace.cli.printing import say
from memory_palace.plotting.picture import Picture, write_pictures

PlotFile = Annotated[
    Path | None,
    Option("--plot", help="Draw into this .svg or .png file, and NAME-dark beside it."),
]
Plots = Annotated[
    Path | None,
    Option("--plots", help="Draw SVG files into this folder, for light and for dark paper."),
]


def save_picture(picture: Picture, file: Path) -> None:
    """Write a picture to the file of ``--plot``, and say the names of both files."""
    for path in picture.write(file):
        say(str(path))


def save_pictures(pictures: Iterable[Picture], folder: Path | None) -> None:
    """Write pictures into the folder of ``--plots``, where there is one, and say their names."""
    if folder is not None:
        for path in write_pictures(pictures, folder):
            say(str(path))
