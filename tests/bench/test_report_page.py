"""The page of a report says what the runs say, and nothing that a run is called runs in it."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

from memory_palace.bench.cost import RunCost
from memory_palace.bench.metrics import MEASURES
from memory_palace.bench.plots import draw_runs
from memory_palace.bench.report import compare_runs
from memory_palace.bench.report_page import render_report
from memory_palace.bench.runs import Answer, Run

HOSTILE = "</script><script>alert(1)</script>\u202e\x1b\"'><img src=x onerror=alert(1)>"


def run_of(system, scores, *, name="set", category="one"):
    answers = tuple(
        Answer(
            str(number), "g", (category, "two")[number % 2], False, False, ("a",), ("a",), (1.0,),
            dict.fromkeys(MEASURES, float(score)),
        )
        for number, score in enumerate(scores)
    )  # fmt: skip
    return Run(name, system, answers, RunCost(len(answers), 1.5, 1.0, 2.0, 2.0, 90.0), "hashing")


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.inside = [], {}, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_data(self, data):
        self.texts.setdefault(self.inside, []).append(data)


FIRST, SECOND = run_of("bm25", [0, 0, 1, 1, 0, 1]), run_of("hybrid", [1, 0, 1, 1, 1, 1])


def test_the_page_has_each_figure_and_each_paired_difference():
    page = render_report([FIRST, SECOND]).decode()
    text = " ".join(Tags(page).texts["td"])
    difference = compare_runs(FIRST, SECOND)
    assert f"{difference.mean:+.3f}" in text and f"{difference.p:.4f}" in text
    assert "Compared with bm25 (hashing)" in page and 'data-value="0.833333"' in page
    assert page.count("<picture>") == len(draw_runs([FIRST, SECOND])) or "Left out:" in page


def test_the_same_runs_give_the_same_bytes():
    assert render_report([FIRST, SECOND]) == render_report([FIRST, SECOND])


def test_the_policy_lets_only_the_own_script_and_style_in():
    page = render_report([FIRST]).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert " style=" not in page and " onclick=" not in page


def test_no_name_of_a_run_becomes_markup():
    runs = [run_of(HOSTILE, [0, 1], name=HOSTILE, category=HOSTILE), SECOND]
    page = render_report(runs).decode()
    found = Tags(page)
    assert [tag for tag, _ in found.tags].count("script") == 1
    assert not any(key.startswith("on") for _, attrs in found.tags for key in attrs)
    assert all(attrs["src"].startswith("data:") for tag, attrs in found.tags if tag == "img")
    assert "\u202e" not in page and "\x1b" not in page


def test_runs_that_cannot_be_compared_say_why():
    other = Run("other", "x", (), RunCost(), "")
    assert "no question in common" in render_report([FIRST, other]).decode()
