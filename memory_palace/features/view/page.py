"""Write a plan as one HTML file that needs no network and may run nothing but its own script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files

from memory_palace.features.view.packing import pack
from memory_palace.features.view.values import PalacePlan

STYLES = ("app.css", "panel.css", "print.css")
SCRIPTS = (
    "../vendor/markdown-it.min.js",
    "state.js",
    "data.js",
    "colours.js",
    "camera.js",
    "places.js",
    "floor.js",
    "notes.js",
    "marks.js",
    "plan.js",
    "pointer.js",
    "legend.js",
    "timeline.js",
    "folding.js",
    "syntax.js",
    "markdown.js",
    "panel.js",
    "search.js",
    "rooms.js",
    "keys.js",
    "help.js",
    "live.js",
    "start.js",
)
"""In this order, inside one function: what one defines, those after it may use when they run. All
may use it once the plan is open; ``start.js``, which opens it, is the last."""


def render(plan: PalacePlan, *, live: str | None = None) -> bytes:
    """Return the page of ``plan`` as UTF-8; the same plan gives the same bytes.

    With ``live``, the generation of the index that a server has open, it holds no texts: it asks
    the server for them.
    """
    packed = pack(plan, with_texts=live is None)
    parts = {
        "policy": content_policy(is_live=live is not None),
        "title": escape(plan.title),
        "live": escape(live or ""),
        "style": style(),
        "script": script(),
        "data": "\n".join(
            f'<script type="text/plain" id="{name}">{block}</script>'
            for name, block in [
                ("packed-plan", packed.plan),
                *((f"packed-text-{n}", block) for n, block in enumerate(packed.texts)),
            ]
        ),
    }
    pieces = read("index.html").split("{{")
    page = [pieces[0]]
    for piece in pieces[1:]:
        name, rest = piece.split("}}", 1)
        page += [parts[name], rest]
    return "".join(page).encode()


def content_policy(*, is_live: bool) -> str:
    """Return what the page may do: run its own script, show data: pictures, and nothing else."""
    rules = [
        "default-src 'none'",
        f"script-src '{digest(script())}'",
        f"style-src '{digest(style())}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        *(["connect-src 'self'"] if is_live else []),
    ]
    return "; ".join(rules)


def digest(content: str) -> str:
    """Return the source expression for an inline element with ``content``."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode("ascii")


@cache
def style() -> str:
    """Return all rules of the page."""
    return "\n" + "".join(read(name) for name in STYLES)


@cache
def script() -> str:
    """Return all scripts of the page as one."""
    body = "".join(read(name) for name in SCRIPTS)
    return f'\n(() => {{\n"use strict";\n{body}}})();\n'


@cache
def read(name: str) -> str:
    """Return a file of the folder ``page``."""
    return (files("memory_palace.features.view") / "page" / name).read_text("utf-8")
