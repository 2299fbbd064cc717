"""The Chromium of the system, for tests and pictures of the page."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memory_palace.errors import MissingPartError
from memory_palace.libraries import install_command

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
READY = "html[data-ready=plan]"


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
