"""Memories that fade are drawn, few by name and many as rows, without one hiding another."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from making_pictures import assert_readable
from typer.testing import CliRunner

from memory_palace.cli.commands import app
from memory_palace.mnemonics.decay import Fit
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.plot import draw_due
from memory_palace.mnemonics.reviews import stand
from memory_palace.plotting.themes import DARK, LIGHT

pytest.importorskip("matplotlib")

TODAY = date(2026, 11, 22)
NAMES = (
    "a thread",
    "a name much longer than there is room for " * 3,
    "記憶",
    "$",
)


def make_standings(count, *, is_dated=True):
    found = []
    for number in range(count):
        last = TODAY - timedelta(days=number * 7 % 61) if is_dated else None
        memory = Memory(
            id=f"{number}.md",
            subject=f"{NAMES[number % 4]} {number}",
            image="",
            content="",
            created=last,
            smashin_score=number % 13,
        )
        found.append((memory, stand(memory, (), today=TODAY)))
    return sorted(found, key=lambda pair: pair[1].due)


@pytest.mark.parametrize("count", [1, 5, 8, 9, 34, 200])
def test_few_and_many_are_readable(count):
    assert_readable(draw_due(make_standings(count), today=TODAY), DARK if count % 2 else LIGHT)


def test_how_far_forgetting_is_known_is_drawn():
    standings, fit = make_standings(5), Fit(1.2, 0.9, 1.6, 40)
    picture = draw_due(standings, today=TODAY, fit=fit)
    assert_readable(picture, LIGHT)
    with picture.lay_out(LIGHT) as figure:
        assert len(figure.axes[0].collections) == 5


def test_a_memory_without_a_date_fades_from_today():
    picture = draw_due(make_standings(2, is_dated=False), today=TODAY)
    with picture.lay_out(LIGHT) as figure:
        seen = figure.axes[0].lines[0].get_ydata()
    assert seen[-1] < seen[28] == pytest.approx(0.6)
    assert all(value != value for value in seen[:28])


def test_every_due_day_is_counted_once():
    standings = make_standings(200)
    with draw_due(standings, today=TODAY).lay_out(LIGHT) as figure:
        below = figure.axes[1]
        drawn = sum(bar.get_height() for bar in below.patches)
        said = int(below.get_xlabel().split(", ")[1].split()[0])
    assert drawn + said == 200


def test_due_draws_what_it_lists(tmp_path, monkeypatch):
    run = CliRunner().invoke
    monkeypatch.chdir(tmp_path)
    run(app, ["init"], catch_exceptions=False)
    made = "memory new Gong --image Kick. --content Vote. --token wet-gong-slippers".split()
    run(app, made, catch_exceptions=False)
    early = "memory due --as-of 2020-01-01 --plot due.svg".split()
    assert "no review is due" in run(app, early).stderr
    assert not (tmp_path / "due.svg").exists()
    run(app, "memory due --all --plot due.svg".split(), catch_exceptions=False)
    names = {file.name for file in tmp_path.glob("due*.svg")}
    assert names == {"due.svg", "due-dark.svg"}
