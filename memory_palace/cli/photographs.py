"""Pictures of the plan and of a note beside it, as a browser shows them."""

from __future__ import annotations

import os
import shutil
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memory_palace.bench.browsing import READY, open_browser
from memory_palace.bench.generate import scratch_folder
from memory_palace.palace import Palace
from memory_palace.view.options import ViewOptions
from memory_palace.view.writing import write_view

SCREENS = {1280: 800, 390: 844}
"""Width and height in pixels: of a laptop's window and of a phone."""
SCHEMES = ("light", "dark")
NOTE = "palace/project_rooms/radio-link/why MQTT was dropped.md"
TITLE = "Weather station"
_CHANGED = 1_794_382_400
"""Seconds since 1970 of 2026-11-11: when the files changed is not the notes' own."""
_COLOURS = 256


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
        page = write_view(palace, ViewOptions(), out=folder / "palace.html").file
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
        few = image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    written = BytesIO()
    few.save(written, "PNG", optimize=True)
    return written.getvalue()
