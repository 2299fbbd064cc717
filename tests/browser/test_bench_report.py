"""The page of `palace bench report` sorts by keyboard, fits a phone, and runs nothing else."""

from __future__ import annotations

import pytest
from browser.test_axe import list_violations
from browser.watching import NARROW, WIDE

from memory_palace.bench.cost import RunCost
from memory_palace.bench.metrics import MEASURES
from memory_palace.bench.report_page import render_report
from memory_palace.bench.runs import Answer, Run

pytestmark = pytest.mark.browser
HOSTILE = "</script><script>window.pwned = 1</script><img src=x onerror='pwned = 1'>\u202e"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    shares = {"bm25": 0.5, "hybrid": 0.75, HOSTILE: 0.25}
    file.write_bytes(render_report([run_of(name, share) for name, share in shares.items()]))
    return file


def run_of(system, share):
    answers = tuple(
        Answer(str(n), "g", "ab"[n % 2], False, False, ("x",), ("x",), (1.0,),
               dict.fromkeys(MEASURES, float(n < share * 20)))
        for n in range(20)
    )  # fmt: skip
    return Run("set", system, answers, RunCost(20, 1.0, 1.0, 1.0, 1.0, 90.0), "")


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_tables_sort_by_keyboard_and_axe_finds_nothing(watch, report, size, theme):
    page = watch.visit(size, theme, hosts=[report.as_uri()]).page
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    table = page.locator("table").first
    names = table.locator("tbody th")
    heading = table.locator("th", has_text="any@1").first
    for order, first in (("descending", "hybrid"), ("ascending", "</script>")):
        heading.locator("button").press("Enter")
        assert heading.get_attribute("aria-sort") == order
        assert names.first.text_content().startswith(first)
    assert not page.evaluate("'pwned' in window")
    assert list_violations(page) == []
