"""A browser, pages in it that are watched, and palaces to look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.hostile_vault import write_hostile_vault
from browser.watching import Watch, build_view, find_chromium, run
from copying_palaces import copy_sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser of the system; its cache and profile are gone afterwards."""
    api = pytest.importorskip("playwright.sync_api", reason="needs the extra [browser]")
    program = find_chromium()
    with api.sync_playwright() as playwright:
        # Its sandbox needs what containers do not give; no name leads to another machine.
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        arguments = ["--no-sandbox", "--disable-dev-shm-usage", nowhere]
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def watch(chromium: Browser) -> Iterator[Watch]:
    """Open pages with it; any fault of one fails the test at its end."""
    watch = Watch(chromium)
    yield watch
    watch.close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample palace, indexed."""
    return copy_sample(tmp_path_factory.mktemp("sample"), embedder="hashing").paths.root


@pytest.fixture(scope="session")
def sample_view(sample: Path) -> Path:
    """The page of the sample palace."""
    return build_view(sample, sample / "palace.html")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hostile vault, indexed; notes whose names cannot be read are left out."""
    root = write_hostile_vault(tmp_path_factory.mktemp("hostile") / "vault")
    run("-C", root, "index", "-q", "--embedder", "hashing")
    return root


@pytest.fixture(scope="session")
def hostile_view(hostile: Path) -> Path:
    """The page of the hostile vault."""
    return build_view(hostile, hostile.parent / "hostile.html")
