"""Pictures of an answer on a terminal and of the plan: ``make pictures`` writes them."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from memory_palace.cli.answers import arrange
from memory_palace.cli.photographs import photograph_sample
from memory_palace.cli.screen import lay_out
from memory_palace.palace import Palace

QUESTION = "why did we stop using the message broker"
AS_OF = "2026-11-10"
WIDTHS = (80, 200)
_ANSI = [(0, 0, 0), (197, 15, 31), (19, 120, 60), (150, 110, 0), (0, 90, 180), (150, 30, 140)]
_BRIGHT = [(110, 110, 110), (231, 90, 90), (90, 200, 120), (220, 180, 70), (100, 170, 250)]
THEMES = {
    "light": TerminalTheme(
        (255, 255, 255), (30, 30, 30), [*_ANSI, (0, 110, 130), (200, 200, 200)], None
    ),
    "dark": TerminalTheme(
        (24, 26, 31), (220, 223, 228), [*_BRIGHT, (225, 120, 220), (90, 200, 215), (220,) * 3], None
    ),
}
_FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" \
height="{terminal_height}"/></clipPath>{lines}</defs>
<rect fill="BACKGROUND" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, 24)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""What rich fills in. Its own format loads a font from another machine."""


def take_rows(palace: Palace, question: str, width: int, *, as_of: str | None = None) -> list[Text]:
    """Return what a terminal shows of an answer, the command above it."""
    result = palace.query(question, as_of=as_of)
    shown = arrange(palace.paths.root, result)
    command = Text.assemble(("$ ", "dim"), f"palace query {question}")
    return [command, *lay_out(shown, question, width=width, environ={})]


def draw(rows: Sequence[Text], width: int, theme: str) -> str:
    """Return rows of a terminal as SVG."""
    console = Console(
        record=True, width=width, file=StringIO(), force_terminal=True, highlight=False, emoji=False
    )
    for row in rows:
        console.print(row, soft_wrap=True)
    colours = THEMES[theme]
    code_format = _FORMAT.replace("BACKGROUND", colours.background_color.hex)
    return console.export_svg(theme=colours, code_format=code_format, unique_id=f"palace-{theme}")


def draw_sample(sample: Path) -> dict[str, str]:
    """Return the pictures of the sample palace, of which a copy is made, by file name."""
    sample, drawn = sample.resolve(), {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        shutil.copytree(sample, Path("palace"), ignore=shutil.ignore_patterns(".*"))
        palace = Palace(Path())
        palace.index(embedder="minilm")
        for width in WIDTHS:
            rows = take_rows(palace, QUESTION, width, as_of=AS_OF)
            for theme in THEMES:
                drawn[f"answer-{width}-{theme}.svg"] = draw(rows, width, theme)
    return drawn


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, picture in draw_sample(Path("palace")).items():
        (target / name).write_text(picture, "utf-8")
    for name, pixels in photograph_sample(Path("palace")).items():
        (target / name).write_bytes(pixels)
