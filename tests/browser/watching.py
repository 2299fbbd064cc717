"""Pages in a browser that is watched: whatever a page should not do is written down as a fault."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import pytest
from browser.hostile_vault import PWNED
from browsing import PROGRAMS, READY

from memory_palace.cli.app import main

if TYPE_CHECKING:
    from playwright.sync_api import (
        Browser,
        BrowserContext,
        ConsoleMessage,
        Frame,
        Locator,
        LocatorAssertions,
        Page,
        Request,
    )

Theme: TypeAlias = Literal["light", "dark"]
WIDE, NARROW = (1280, 800), (390, 844)
"""Pixels of a laptop's window and of a phone."""
_REPORT = """
addEventListener("securitypolicyviolation", (event) => console.error(
  `the policy was violated: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""
_QUIET = ("log", "debug", "info", "startGroup", "endGroup", "timeEnd")


@dataclass
class Visit:
    """A page that is open, and what it did that it should not."""

    page: Page
    hosts: Sequence[str]
    """Beginnings of the addresses that it may ask for."""
    faults: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Listen to all that tells of a fault."""
        page = self.page
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", self._see)
        page.on("popup", lambda other: self.faults.append(f"opened {other.url}"))
        page.on("download", lambda file: self.faults.append(f"downloaded {file.url}"))
        page.on("framenavigated", self._follow)
        page.on("crash", lambda crashed: self.faults.append("the page crashed"))
        page.on("dialog", lambda box: (self.faults.append(f"dialog: {box.message}"), box.dismiss()))

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type not in _QUIET:
            self.faults.append(f"console: {message.type}: {message.text}")

    def _see(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:", *self.hosts)):
            self.faults.append(f"asked for {request.url}")

    def _follow(self, frame: Frame) -> None:
        if frame.parent_frame or not frame.url.startswith(("about:blank", *self.hosts)):
            self.faults.append(f"went to {frame.url}")

    def open(self, address: str) -> Page:
        """Go to an address, and wait for the first picture of the plan."""
        self.page.goto(address)
        self.page.wait_for_selector(READY, state="attached")
        return self.page

    def check(self) -> None:
        """Fail where there was a fault, or a script of a note has run.

        A page with a fault is not asked more: it may be on its way to another.
        """
        is_open = not self.faults and not self.page.is_closed()
        if is_open and self.page.evaluate(f"'{PWNED}' in window"):
            self.faults.append("a script of a note has run")
        assert not self.faults, "\n".join(self.faults)


@dataclass
class Watch:
    """Opens pages, each in a profile of its own, and checks them all at the end."""

    browser: Browser
    visits: list[Visit] = field(default_factory=list)
    contexts: list[BrowserContext] = field(default_factory=list)

    def visit(
        self,
        size: tuple[int, int] = WIDE,
        theme: Theme = "light",
        *,
        hosts: Sequence[str] = (),
        touch: bool = False,
    ) -> Visit:
        """Return an empty page; ``hosts`` are beginnings of addresses that it may ask for."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=theme,
            has_touch=touch,
            reduced_motion="reduce",
            locale="en-GB",
            timezone_id="UTC",
        )
        context.add_init_script(_REPORT)
        context.set_default_timeout(10_000)
        self.contexts.append(context)
        visit = Visit(context.new_page(), hosts)
        visit.watch()
        self.visits.append(visit)
        return visit

    def open(self, file: Path, size: tuple[int, int] = WIDE, theme: Theme = "light") -> Page:
        """Open a file as a reader would, and return its page when the plan is painted."""
        return self.visit(size, theme, hosts=[file.as_uri()]).open(file.as_uri())

    def close(self) -> None:
        """Check every page, and close them all."""
        try:
            for visit in self.visits:
                visit.check()
        finally:
            for context in self.contexts:
                context.close()


def expect(locator: Locator) -> LocatorAssertions:
    """Return what waits for a state of an element, or fails."""
    from playwright.sync_api import expect as wait

    return wait(locator)


def find_chromium() -> str:
    """Return the browser of the system; skip where there is none."""
    for program in PROGRAMS:
        if found := shutil.which(program):
            return found
    pytest.skip("needs chromium")


def run(*arguments: object) -> int:
    """Run a command line in this process and return its status."""
    try:
        main([str(part) for part in arguments])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def build_view(root: Path, file: Path, *options: object) -> Path:
    """Write the page of a palace that is indexed, by the command, and return its file."""
    assert run("-C", root, "view", "--out", file, *options) == 0
    return file
