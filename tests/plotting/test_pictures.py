"""Pictures: the same bytes each time, nothing cut, nothing over anything else."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import combinations

import pytest
from making_pictures import assert_readable

from memory_palace.bench.confidence import Bin
from memory_palace.bench.cost import RunCost
from memory_palace.bench.metrics import CUTS
from memory_palace.bench.plots import (
    draw_ablation,
    draw_by_bytes,
    draw_recall,
    draw_reliability,
    draw_runs,
)
from memory_palace.bench.recall import Estimate, RecallRow
from memory_palace.bench.report import MeasuredDifference
from memory_palace.bench.runs import Answer, Run
from memory_palace.bench.shown import ShownRow
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.plotting.marks import spread
from memory_palace.plotting.picture import Picture, write_pictures
from memory_palace.plotting.text import MISSING, fit, legible, measure
from memory_palace.plotting.themes import THEMES

pytest.importorskip("matplotlib")

NASTY = {
    "plain": ["grep", "bm25", "hybrid"],
    "long": [f"a system whose name says how it was configured, part by part, {n}" for n in "abcde"],
    "unbroken": ["x" * 90, "W" * 60, "i" * 200],
    "many": [f"system {n}" for n in range(20)],
    "foreign": [
        "猫の写真の整理について",
        "Кошка на подоконнике",
        "बिल्ली",
        "قطة على النافذة",
        "ไทย",
    ],
    "formula": ["$x^2$", r"\frac{a}{b}", "100 % _and_ $", "{braces}", "a\nb\tc"],
    "hidden": ["a\u202eb", "\u200b\u200b", "", "  ", "\x00\x1b[31m"],
    "emoji": ["🐈‍⬛ cats", "☃", "🏳️‍🌈", "👩‍👩‍👧"],
}


def make_run(system, categories, place):
    answers = []
    for number in range(40):
        good = float((number * 7 + place) % 10 < 5 + place % 4)
        scores = dict.fromkeys(("all@5", "recall@5", "ndcg@10", "mrr", "shown"), good)
        scores |= {f"any@{k}": good for k in CUTS} | {"bytes": 900.0 + 400 * place}
        category = categories[number % len(categories)]
        answers.append(
            Answer(f"q{number}", "c", category, False, False, ("a",), ("a",), (1.0,), scores)
        )
    return Run("a set", system, tuple(answers), RunCost(), "")


def make_pictures(names):
    runs = [make_run(name, names, place) for place, name in enumerate(names)]
    differences = [
        MeasuredDifference(names[0], name, "any@5", 40, 0.5, n / 90, n / 90 - 0.1, 0.2, 1, 2, 0.5)
        for n, name in enumerate(names)
    ]
    shown = [ShownRow(n, "all", 9, 0.5, 0.4, 0.6, bytes=900.0) for n in names]
    return [
        *draw_runs(runs),
        draw_ablation("set", differences, measure="any@5"),
        draw_by_bytes("set", shown),
    ]


@pytest.mark.parametrize("names", NASTY)
def test_no_name_is_cut_or_hides_another(names):
    for picture in make_pictures(NASTY[names]):
        assert_readable(picture, THEMES[len(names) % 2])


@pytest.mark.parametrize("counts", [[1], [5, 5], [10_000, 1, 9]])
def test_reliability_is_readable_for_any_counts(counts):
    bins = [Bin(0.05 + 0.1 * n, 0.5, 0.1, 0.9, count) for n, count in enumerate(counts)]
    assert_readable(draw_reliability(bins), THEMES[0])


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_same_picture_is_the_same_bytes(kind):
    first, second = (
        [p.encode(theme, kind) for p in make_pictures(NASTY["plain"]) for theme in THEMES]
        for _ in range(2)
    )
    assert first == second
    assert len(set(first)) == len(first)


def test_no_picture_says_when_or_by_what_it_was_made():
    for picture in make_pictures(NASTY["plain"]):
        text = picture.encode().decode()
        assert "dc:date" not in text and "matplotlib" not in text.lower().split("<defs>")[0]


def test_a_picture_is_written_for_light_and_for_dark_paper(tmp_path):
    picture = make_pictures(NASTY["plain"])[0]
    files = write_pictures([picture], tmp_path / "new")
    assert [file.name for file in files] == ["a-set-recall.svg", "a-set-recall-dark.svg"]
    for theme, file in zip(THEMES, files, strict=True):
        assert file.read_bytes() == picture.encode(theme)
        assert theme.paper in file.read_text("utf-8")
    with pytest.raises(UsageError, match=r"must end in \.png or \.svg"):
        picture.write(tmp_path / "a.pdf")
    (file, _) = write_pictures([replace(picture, name="../a/" + "b" * 300)], tmp_path)
    assert file.parent == tmp_path and file.exists()


def test_settings_of_the_user_change_nothing(monkeypatch):
    import matplotlib

    picture = make_pictures(NASTY["plain"])[0]
    before = picture.encode()
    monkeypatch.setitem(matplotlib.rcParams, "font.size", 30)
    monkeypatch.setitem(matplotlib.rcParams, "axes.spines.top", True)
    assert picture.encode() == before
    assert matplotlib.rcParams["font.size"] == 30


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPartError, match=r"pip install .*\[plots\]"):
        Picture("a", "A", 3, lambda figure, theme: None).encode()


def test_what_no_font_has_is_shown_as_a_box():
    assert legible("a\U0001f9ff") in ("a" + MISSING, "a\U0001f9ff")
    assert legible("a\U00100000b") == f"a{MISSING}b"
    assert legible("two\nlines\tand  blanks") == "two lines and blanks"


@pytest.mark.parametrize("text", [text for names in NASTY.values() for text in names])
def test_text_is_fitted_to_a_width(text):
    for line in fit(text, 80, 8).split("\n"):
        assert measure(line, 8) <= 80


def test_text_that_fits_is_whole():
    assert fit("a short name", 200, 8) == "a short name"
    assert fit("one name on two lines", 60, 8).replace("\n", " ") == "one name on two lines"
    assert fit("one name on more lines than two", 60, 8).endswith("…")


def test_names_are_moved_apart_and_stay_in_order():
    places = spread([0.5, 0.5, 0.51, 0.99, 1.0], [0.1] * 5)
    for (first, a), (second, b) in combinations(enumerate(places), 2):
        assert b - a >= 0.1 * (second - first) - 1e-9, (first, second)
    assert max(places) <= 1 + 1e-9
    assert spread([0.2, 0.8], [0.1, 0.1]) == [0.2, 0.8]


def test_what_is_said_is_drawn_beside_its_bytes():
    half = Estimate(0.5, 0.4, 0.6)
    rows = [
        RecallRow(
            "garden", "dev", system, 9, 9, half, half, held, None, half, half, size, 5, 1, 2, 1
        )
        for system, size, held in (("recall", 1300, half), ("nothing", 0, half), ("chat", 1, None))
    ]
    (picture,) = draw_recall(rows)
    assert_readable(picture, THEMES[1])
    with picture.lay_out(THEMES[0]) as figure:
        left, right = figure.axes
        assert [label.get_text() for label in left.get_yticklabels()] == ["nothing", "recall"]
        assert [bar.get_width() for bar in right.patches] == [0, 1300]
        assert right.get_xlim()[0] == 0
