"""axe-core finds nothing serious, in light and dark, on a laptop and on a phone."""

from collections.abc import Mapping
from importlib.resources import files

import pytest
from browser.watching import NARROW, WIDE, expect

pytestmark = pytest.mark.browser
SERIOUS = ("serious", "critical")
_RUN = "() => axe.run(document, {resultTypes: ['violations']})"


def open_note(page):
    page.keyboard.press("/")
    page.keyboard.type("broker")
    expect(page.locator("#results [role=option]").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#panel[data-path]")).to_be_visible()


def open_results(page):
    page.keyboard.press("/")
    page.keyboard.type("the")
    expect(page.locator("#results [role=option]").first).to_be_visible()


def open_help(page):
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()


SCENES: Mapping[str, object] = {
    "plan": lambda page: None,
    "panel": open_note,
    "results": open_results,
    "help": open_help,
}


def list_violations(page) -> list[str]:
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8"))
    return [
        f"{found['impact']}: {found['id']}: {node['html'][:120]} {node['failureSummary']}"
        for found in page.evaluate(_RUN)["violations"]
        for node in found["nodes"]
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scene", SCENES)
def test_axe_finds_no_serious_violation(watch, sample_view, scene, size, theme):
    page = watch.open(sample_view, size, theme)
    SCENES[scene](page)
    found = list_violations(page)
    print("\n".join(found))  # noqa: T201 - the milder ones, shown with -s
    assert [line for line in found if line.startswith(SERIOUS)] == []


def test_axe_finds_what_is_wrong_with_a_page_that_is(watch, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<html data-ready=plan><button></button><p style='color:#eee'>pale", "utf-8")
    found = list_violations(watch.open(file))
    assert {"button-name", "color-contrast"} <= {line.split(": ")[1] for line in found}
