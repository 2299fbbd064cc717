"""Draw the pictures of the documents: ``make pictures`` runs ``tests/pictures.py FOLDER``.

An answer as a terminal shows it, the plan and a note beside it as a browser shows them.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import chdir
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from browsing import READY, open_browser
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from benchmarks.generate import scratch_folder
from memory_palace.features.asking.answers import Answer
from memory_palace.features.asking.screen import lay_out
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

SCREENS = {1280: 800, 390: 844}
"""Width and height in pixels: of a laptop's window and of a phone."""
SCHEMES = ("light", "dark")
NOTE = "palace/project_rooms/radio-link/why MQTT was dropped.md"
TITLE = "Weather station"
_CHANGED = 1_794_382_400
"""Seconds since 1970 of 2026-11-11: when the files changed is not the notes' own."""
_COLOURS = 256


def take_rows(palace: Palace, question: str, width: int, *, as_of: str | None = None) -> list[Text]:
    """Return what a terminal shows of an answer, the command above it."""
    result = palace.query(question, as_of=as_of).worth_reading()
    shown = Answer.of(result, root=palace.paths.root).arrange()
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


def photograph_sample(sample: Path) -> dict[str, bytes]:
    """Return pictures of the plan of a copy of the sample palace, with and without a note.

    They are PNG files by name. Raise ``MissingPartError`` without the extra ``[browser]``.
    """
    taken = {}
    with scratch_folder() as folder, open_browser() as browser:
        root = folder / TITLE
        shutil.copytree(sample, root / "palace", ignore=shutil.ignore_patterns(".*"))
        for note in root.rglob("*.md"):
            os.utime(note, (_CHANGED, _CHANGED))
        palace = Palace(root)
        palace.index(embedder="minilm")
        page = palace.view(folder / "palace.html").file
        for width, height in SCREENS.items():
            for scheme in SCHEMES:
                address = page.resolve().as_uri()
                size = {"width": width, "height": height}
                taken[f"plan-{width}-{scheme}.png"] = _photograph(browser, address, size, scheme)
                address += f"#note={quote(NOTE, safe='')}"
                taken[f"note-{width}-{scheme}.png"] = _photograph(browser, address, size, scheme)
    return taken


def _photograph(browser: Any, address: str, size: dict[str, int], scheme: str) -> bytes:
    with browser.new_context(
        viewport=size, color_scheme=scheme, reduced_motion="reduce", locale="en-GB"
    ) as context:
        page = context.new_page()
        page.goto(address)
        page.wait_for_selector(READY, state="attached")
        page.wait_for_timeout(1_000)  # until the camera stands still
        taken: bytes = page.screenshot()
    return shrink(taken)


def shrink(picture: bytes) -> bytes:
    """Return a PNG picture with few colours, and so of few bytes."""
    from PIL import Image  # delayed: matplotlib brings it, and few draw pictures

    with Image.open(BytesIO(picture)) as image:
        few = image.convert("RGB").quantize(_COLOURS, Image.Quantize.MAXCOVERAGE)
    written = BytesIO()
    few.save(written, "PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name, picture in draw_sample(Path("palace")).items():
        (target / name).write_text(picture, "utf-8")
    for name, pixels in photograph_sample(Path("palace")).items():
        (target / name).write_bytes(pixels)
