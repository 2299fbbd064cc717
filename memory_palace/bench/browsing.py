"""What a page of ``palace view`` costs in a browser: to see it, to search it, to move it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from memory_palace.errors import MissingPartError
from memory_palace.libraries import install_command

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SIZE = {"width": 1280, "height": 800}
READY = "html[data-ready=plan]"
GESTURE = 180
"""Frames of the wheel and of the pointer whose times are taken."""
EMPTY = """<!doctype html><html lang="en" data-ready="plan"><title>Empty</title>
<canvas id="canvas" width="1000" height="640" style="width:1000px;height:640px"></canvas>
<input id="search"><p>Nothing</p><script>
const canvas = document.getElementById("canvas"), brush = canvas.getContext("2d");
let turn = 0;
const draw = () => {
  brush.clearRect(0, 0, 1000, 640);
  brush.fillRect(turn % 900, 300, 40, 40);
  turn += 1;
  requestAnimationFrame(draw);
};
draw();
const search = document.getElementById("search");
search.addEventListener("input", () => performance.measure("search"));
performance.mark("plan-painted");
</script></html>
"""
"""A page that draws a square and finds nothing: what the browser and the machine take."""

_PAINTED = """() => {
  const first = (entries) => entries[0]?.startTime ?? null;
  return [first(performance.getEntriesByName("plan-painted")),
    first(performance.getEntriesByName("first-contentful-paint"))];
}"""
_LISTEN = """() => {
  const times = window.keystrokes = [], field = document.getElementById("search");
  const searches = () => performance.getEntriesByName("search").length;
  field.addEventListener("keydown", (event) => {
    const before = searches();
    const look = () => {
      if (searches() === before) setTimeout(look, 0);
      // A task behind the next frame: what was found is painted.
      else requestAnimationFrame(() => setTimeout(() => {
        times.push(performance.now() - event.timeStamp);
      }));
    };
    look();
  }, { capture: true });
  field.focus();
}"""
_MOVE = """(frames) => new Promise((done) => {
  const canvas = document.getElementById("canvas"), box = canvas.getBoundingClientRect();
  const at = { clientX: box.x + box.width * 0.4, clientY: box.y + box.height * 0.4, bubbles: true,
    cancelable: true, pointerId: 7, isPrimary: true, button: 0, buttons: 1 };
  const times = [];
  const step = (time) => {
    times.push(time);
    const n = times.length, half = frames / 2;
    if (n > frames) {
      canvas.dispatchEvent(new PointerEvent("pointerup", { ...at, buttons: 0 }));
      done(times.slice(1).map((now, i) => now - times[i]));
      return;
    }
    if (n <= half) {
      const deltaY = n < half / 2 ? -60 : 60;
      canvas.dispatchEvent(new WheelEvent("wheel", { ...at, deltaY }));
    } else {
      if (n === Math.floor(half) + 1) canvas.dispatchEvent(new PointerEvent("pointerdown", at));
      at.clientX += n % 60 < 30 ? 6 : -6;
      canvas.dispatchEvent(new PointerEvent("pointermove", at));
    }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


@dataclass(frozen=True, slots=True)
class PageCost:
    """What a page took; times in milliseconds, medians of several visits."""

    painted: float
    """From the start of the navigation until the plan was drawn."""
    first_content: float
    """Until the first text or picture of the page was painted."""
    keystroke: float
    keystroke_late: float
    """What one in twenty takes."""
    frames: float
    """A second, while the plan is zoomed and dragged: the median frame."""
    frames_late: float
    """The frame that one in twenty is slower than."""
    heap_mib: float


@contextmanager
def open_browser() -> Iterator[Any]:
    """Give the Chromium of the system; raise ``MissingPartError`` without it or the extra."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingPartError(f"needs playwright; run `{install_command('browser')}`") from error
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise MissingPartError(f"needs a browser: none of {', '.join(PROGRAMS)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def measure_page(browser: Any, file: Path, words: Sequence[str], *, runs: int) -> PageCost:
    """Return what a page costs, opened ``runs`` times; ``words`` are typed letter by letter."""
    visits = [_visit(browser, file, words) for _ in range(runs)]
    keys = [time for visit in visits for time in visit[2]]
    frames = [time for visit in visits for time in visit[3]]
    return PageCost(
        painted=median(visit[0] for visit in visits),
        first_content=median(visit[1] for visit in visits),
        keystroke=median(keys),
        keystroke_late=float(np.percentile(keys, 95)),
        frames=1_000 / median(frames),
        frames_late=1_000 / float(np.percentile(frames, 95)),
        heap_mib=median(visit[4] for visit in visits),
    )


def _visit(
    browser: Any, file: Path, words: Sequence[str]
) -> tuple[float, float, list[float], list[float], float]:
    with browser.new_context(viewport=SIZE) as context:
        page = context.new_page()
        page.goto(file.as_uri())
        page.wait_for_selector(READY, state="attached", timeout=120_000)
        page.wait_for_timeout(200)  # the first paint is told of after it
        painted, first_content = page.evaluate(_PAINTED)
        frames = page.evaluate(_MOVE, GESTURE)
        keys = _type(page, words)
        session = context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        heap = session.send("Runtime.getHeapUsage")["usedSize"] / (1 << 20)
        return painted, first_content or painted, keys, frames, heap


def _type(page: Any, words: Sequence[str]) -> list[float]:
    """Type words into the search, each letter when the one before has been answered."""
    page.evaluate(_LISTEN)
    typed = 0
    for word in words:
        page.fill("#search", "")
        page.wait_for_timeout(100)
        for letter in word:
            page.keyboard.press(letter)
            typed += 1
            _wait(page, typed)
    times: list[float] = page.evaluate("window.keystrokes")
    return times


def _wait(page: Any, typed: int) -> None:
    page.evaluate(
        """(typed) => new Promise((done, fail) => {
          const end = performance.now() + 10000;
          const look = () => {
            if (window.keystrokes.length >= typed) done();
            else if (performance.now() > end) fail(new Error("a letter was never answered"));
            else setTimeout(look, 2);
          };
          look();
        })""",
        typed,
    )
