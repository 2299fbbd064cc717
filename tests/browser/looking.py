"""What a page shows: its boxes, its elements, where the focus is, what its file holds."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from playwright.sync_api import Page

Boxes: TypeAlias = Mapping[str, tuple[int, int, int, int]]
_BLOCK = re.compile(r'<script type="text/plain" id="([a-z0-9-]+)">([^<]*)</script>')

_FORBIDDEN = """
() => {
  const found = [];
  const kinds = "script iframe frame object embed applet base link meta style svg math form video"
    + " audio source template portal noscript frameset plaintext xmp marquee picture slot";
  const bad = new Set(kinds.split(" "));
  const names = ["src", "srcset", "data", "action", "formaction", "poster", "background", "ping",
    "srcdoc", "xlink:href", "style", "id", "name", "autofocus", "http-equiv", "is"];
  const text = "#note, #panel-title, #dates, #links, #backlinks, #near, #results, #tip";
  const inside = (box) => [...box.querySelectorAll("*")];
  for (const element of [...document.querySelectorAll(text)].flatMap(inside)) {
    if (bad.has(element.localName)) found.push(`<${element.localName}>`);
  }
  for (const element of [...document.querySelectorAll("#note")].flatMap(inside)) {
    for (const name of names) {
      if (element.hasAttribute(name)) found.push(`${element.localName} with ${name}`);
    }
  }
  for (const element of document.querySelectorAll("*")) {
    for (const { name } of element.attributes) {
      if (name.startsWith("on")) found.push(`${element.localName} with ${name}`);
    }
    const to = element.getAttribute("href");
    if (to !== null && element.localName !== "link" && !to.startsWith("#")) {
      const { protocol } = new URL(to, document.baseURI);
      if (!/^(https?|mailto):/i.test(to) || !["https:", "http:", "mailto:"].includes(protocol)) {
        found.push(`a link to ${to}`);
      } else if (!element.relList.contains("noopener")) {
        found.push(`a link without noopener to ${to}`);
      }
    }
  }
  const kept = document.querySelectorAll("script:not([type='text/plain'])").length;
  if (kept !== 1) found.push(`${kept} scripts`);
  if (frames.length) found.push(`${frames.length} frames`);
  if (document.baseURI.split("#")[0] !== location.href.split("#")[0]) found.push("another base");
  return [...new Set(found)];
}
"""
_BOXES = """
() => Object.fromEntries(["header", "#finder", "#tools", "#plan", "#panel", "#close", "#timeline"]
  .map((name) => [name, document.querySelector(name).getBoundingClientRect()])
  .filter(([, box]) => box.width)
  .map(([name, box]) => [name, [box.x, box.y, box.width, box.height].map(Math.round)]))
"""
_BROKEN = """
() => {
  const found = [];
  const wide = document.scrollingElement;
  if (wide.scrollWidth > innerWidth) found.push(`the page is ${wide.scrollWidth} pixels wide`);
  const panel = document.getElementById("panel");
  const isCut = ["hidden", "clip"].includes(getComputedStyle(panel).overflowX);
  if (!isCut && panel.scrollWidth > panel.clientWidth + 1) found.push("the panel scrolls sideways");
  for (const name of ["#search", "#close", "#help-button"]) {
    const element = document.querySelector(name);
    const { x, y, width, height } = element.getBoundingClientRect();
    if (!width) continue;
    const top = document.elementFromPoint(x + width / 2, y + height / 2);
    if (!element.contains(top)) found.push(`${name} is covered by ${top?.outerHTML.slice(0, 80)}`);
  }
  return found;
}
"""
_FOCUS = """
() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  const { x, y, width, height } = element.getBoundingClientRect();
  const isRinged = (part) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(part);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) >= 1) || boxShadow !== "none";
  };
  const left = Math.max(x, 0), right = Math.min(x + width, innerWidth);
  const top = Math.max(y, 0), bottom = Math.min(y + height, innerHeight);
  // A large part, such as the plan behind the sheet of a phone, counts where some of it is seen.
  const heights = height > 200 ? [0.5, 0.1, 0.9] : [0.5];
  const points = heights.map((share) => [(left + right) / 2, top + (bottom - top) * share]);
  const overs = points.map((point) => document.elementFromPoint(...point)).filter(Boolean);
  const mark = document.getElementById(element.getAttribute("aria-activedescendant") || " ");
  return {
    name: element.id ? `#${element.id}` : element.localName,
    text: (element.textContent || "").trim().slice(0, 60),
    ringed: isRinged(element) || (mark !== null && isRinged(mark)),
    seen: right > left && bottom > top
      && overs.some((over) => element.contains(over) || over.contains(element)),
  };
}
"""


def find_forbidden(page: Page) -> list[str]:
    """Return elements, attributes and targets of links that no note may bring into the page."""
    found: list[str] = page.evaluate(_FORBIDDEN)
    return found


def read_boxes(page: Page) -> Boxes:
    """Return x, y, width and height in pixels of what is shown of the page's frame."""
    return {name: tuple(box) for name, box in page.evaluate(_BOXES).items()}


def find_broken(page: Page) -> list[str]:
    """Return what is too wide for its place, and what lies above controls."""
    found: list[str] = page.evaluate(_BROKEN)
    return found


def read_focus(page: Page) -> dict[str, Any] | None:
    """Return what has the focus, whether it is marked and seen; ``None`` where it is lost."""
    focus: dict[str, Any] | None = page.evaluate(_FOCUS)
    return focus


def show_note(page: Page, path: str, *, timeout: float = 10_000) -> None:
    """Go to the address of a note and wait until the panel holds it; ``timeout`` in ms."""
    page.evaluate("(path) => { location.hash = '#note=' + encodeURIComponent(path) }", path)
    page.evaluate(
        """async ([path, timeout]) => {
          const panel = document.getElementById("panel"), end = performance.now() + timeout;
          while (panel.hidden || panel.dataset.path !== path) {
            if (performance.now() > end) throw new Error(`the panel never held ${path}`);
            await new Promise((go) => setTimeout(go, 5));
          }
        }""",
        [path, timeout],
    )


def unpack_file(file: Path) -> dict[str, str]:
    """Return what the blocks of a page hold, as JSON, by their names."""
    blocks = _BLOCK.findall(file.read_text("utf-8"))
    return {name: zlib.decompress(base64.b64decode(block)).decode() for name, block in blocks}


def list_paths(file: Path) -> list[str]:
    """Return the path of every note of a page, in its order."""
    return list(json.loads(unpack_file(file)["packed-0"])["notes"]["path"])
