"""Live pages in browsers: they follow the notes, survive their server, and search by meaning."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.test_axe import SERIOUS, list_violations
from browser.watching import NARROW, WIDE, Visit, Watch, expect
from viewing.living import LivePage, living

from memory_palace import Palace

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser
WAIT_MS = 60_000
"""Another process indexes what was edited, on a machine that has eight browsers to run."""
TOPICS = "frost rain wind snow hail fog dew sleet thaw ice cloud storm calm haze mist gale".split()


def write(root: Path, name: str, *paragraphs: str) -> None:
    """Write a note."""
    (root / f"{name}.md").write_text("\n\n".join([f"# {name}", *paragraphs]) + "\n", "utf-8")


@pytest.fixture
def root(tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed palace of some notes on the weather, and a runtime folder of its own."""
    monkeypatch.setenv("PALACE_NO_SERVE", "1")
    root = tmp_path / "weather"
    root.mkdir()
    for topic in TOPICS:
        long = [f"Day {day} of {topic}: the gauge was read at noon." for day in range(40)]
        write(root, topic.title(), f"What the keeper wrote about {topic}.", *long)
    Palace.init(root, here=True).index(embedder="hashing")
    return root.resolve()


def visit_note(watch: Watch, url: str, name: str) -> Visit:
    """Open a note of a live page in a browser of its own."""
    visit = watch.visit(hosts=[url])
    visit.open(f"{url}#note={name}.md")
    expect(visit.page.locator("#note")).to_contain_text("What the keeper wrote")
    return visit


@contextmanager
def visiting(watch: Watch, root: Path) -> Iterator[LivePage]:
    """Serve a palace; its pages are checked and left before the server ends: they would say so."""
    with living(root) as live:
        yield live
        for visit in watch.visits:
            visit.check()
            visit.page.goto("about:blank")


def count_says(page: Page, words: str) -> None:
    """Wait until the list of rooms says how many notes there are."""
    expect(page.locator("#rooms")).to_contain_text(words, timeout=WAIT_MS)


def test_eight_browsers_show_what_changes(watch: Watch, root: Path) -> None:
    with visiting(watch, root) as live:
        pages = [visit_note(watch, live.url, "Frost").page for _ in range(8)]
        for page in pages:
            count_says(page, f"{len(TOPICS)} notes")
        panel = pages[0].locator("#panel")
        panel.evaluate("(panel) => { panel.scrollTop = 300; }")
        place = panel.evaluate("(panel) => panel.scrollTop")
        for turn in range(12):
            name = TOPICS[turn % 5].title()
            write(root, name, f"What the keeper wrote in turn {turn}.", *["More."] * 60)
        write(root, "Frost", "Felt was no use in frost.", *["More."] * 60)
        write(root, "Almanac", "May was dry.")
        (root / "Hail.md").unlink()
        (root / "Fog.md").rename(root / "Murk.md")
        for page in pages:
            expect(page.locator("#note")).to_contain_text("Felt was no use", timeout=WAIT_MS)
            count_says(page, f"{len(TOPICS)} notes")
            assert page.evaluate("location.hash") == "#note=Frost.md"
        assert panel.evaluate("(panel) => panel.scrollTop") == place
        pages[1].fill("#search", "Almanac")
        expect(pages[1].locator("#results")).to_contain_text("May was dry")
        (root / "Frost.md").unlink()
        for page in pages:
            expect(page.locator("#panel")).to_be_hidden(timeout=WAIT_MS)
            count_says(page, f"{len(TOPICS) - 1} notes")


def test_a_page_says_that_its_server_is_gone(watch: Watch, root: Path) -> None:
    with living(root) as live:
        visits = [visit_note(watch, live.url, "Frost") for _ in range(8)]
        for visit in visits:
            assert visit.faults == []
        live.end(signal.SIGKILL)
        for visit in visits:
            notice = visit.page.locator("#notice")
            expect(notice).to_contain_text("no longer served", timeout=WAIT_MS)
            expect(notice).to_contain_text("palace view --live")
            expect(visit.page.locator("#note")).to_contain_text("What the keeper wrote")
    refused = "console: error: Failed to load resource: net::ERR_"
    for visit in visits:
        visit.page.goto("about:blank")  # all that it has said is heard
        visit.faults[:] = [fault for fault in visit.faults if not fault.startswith(refused)]


def test_eight_tabs_of_one_browser_are_all_answered(watch: Watch, root: Path) -> None:
    """It opens six connections to a server, whatever it has open."""
    with visiting(watch, root) as live:
        first = visit_note(watch, live.url, "Frost")
        tabs = [first] + [Visit(first.page.context.new_page(), [live.url]) for _ in range(7)]
        for tab in tabs[1:]:
            tab.watch()
            watch.visits.append(tab)
            tab.open(live.url)
        for tab in tabs:
            tab.page.fill("#search", "what was read at noon")
            group = tab.page.locator("#results [role=group]")
            expect(group).to_contain_text("was read at noon", timeout=WAIT_MS)


def test_axe_finds_no_serious_violation_while_it_is_live_or_no_longer(
    watch: Watch, root: Path
) -> None:
    with living(root) as live:
        url, pages = live.url, []
        for size in (WIDE, NARROW):
            for theme in ("light", "dark"):
                page = watch.visit(size, theme, hosts=[url]).open(url)
                page.fill("#search", "what was read at noon")
                expect(page.locator("#results [role=group]")).to_be_visible(timeout=WAIT_MS)
                pages.append(page)
        found = [line for page in pages for line in list_violations(page)]
        assert [visit.faults for visit in watch.visits] == [[]] * 4
        live.end(signal.SIGKILL)
    for page, visit in zip(pages, watch.visits, strict=True):
        expect(page.locator("#notice")).to_be_visible(timeout=WAIT_MS)
        found += list_violations(page)
        page.goto("about:blank")
        visit.faults.clear()  # that it could not ask
    assert [line for line in found if line.startswith(SERIOUS)] == []
