"""A year of a palace: what logs tell, and since when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from typer.testing import CliRunner

from memory_palace.cli.commands import app
from memory_palace.cli.history import chart_history, draw_row, has_blocks
from memory_palace.mnemonics.reviews import LOG, Review, to_record
from memory_palace.notes.usage import record_usage
from memory_palace.palace import Palace
from memory_palace.plotting.themes import DARK, LIGHT
from memory_palace.storage.logs import append_record
from memory_palace.view.history import WEEKS, PalaceHistory, WeeklyTrack, read_history
from memory_palace.view.history_plot import describe_track, draw_history

TODAY = date(2026, 11, 22)


def at(day):
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    folder = palace.paths.notes / "chambers"
    for number, day in enumerate((date(2024, 1, 1), date(2026, 11, 16), TODAY)):
        text = f"---\ncreated: {day}\n---\n# Note {number}\n\nText.\n"
        (folder / f"{number}.md").write_text(text, "utf-8")
    palace.index(embedder="hashing")
    return palace


def by_name(palace):
    return {track.name: track for track in read_history(palace, today=TODAY).tracks}


def test_notes_are_counted_in_the_weeks_of_their_dates(palace):
    history = read_history(palace, today=TODAY)
    assert history.first == date(2025, 11, 17) and history.first.weekday() == 0
    assert history.week(WEEKS - 1) <= TODAY < history.week(WEEKS)
    written = history.tracks[0]
    assert written.counts[-1] == 2 and sum(written.counts) == 2
    assert (written.earlier, written.began) == (1, date(2024, 1, 1))


def test_without_a_log_nothing_is_known(palace):
    tracks = by_name(palace)
    for name in ("changed", "used", "reviewed", "archived"):
        assert tracks[name].began is None and set(tracks[name].counts) == {None}
        assert "nothing yet" in describe_track(tracks[name])


def test_weeks_before_a_log_began_are_not_zero(palace):
    logs = palace.paths.logs
    note = "palace/chambers/0.md"
    for weeks in (10, 2, 2):
        day = TODAY - timedelta(weeks=weeks)
        record_usage(logs, "opened", [note], now=at(day))
        append_record(logs / LOG, to_record(Review(note, at(day), True, 0.8, 3)))
    for number, (old, new) in enumerate([("chambers", "archive_basement"), ("a", "b")]):
        entry = {"id": f"i{number}", "time": f"{TODAY - timedelta(weeks=3)}T10:00:00+00:00"}
        entry |= {"command": "cold", "reason": "r", "evidence": [], "digests": {}}
        entry["writes"] = [[f"palace/{number}.md", None, "a" * 64]]
        entry["moves"] = [[f"palace/{old}/{number}.md", f"palace/{new}/{number}.md"]]
        append_record(logs / "moves.jsonl", entry)
    tracks = by_name(palace)
    for name in ("used", "reviewed"):
        assert tracks[name].counts[-11:] == (1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0)
        assert set(tracks[name].counts[:-11]) == {None}
    assert tracks["changed"].counts[-4:] == (2, 0, 0, 0)
    assert tracks["archived"].counts[-5:] == (None, 1, 0, 0, 0)


def make_history(most):
    tracks = tuple(
        WeeklyTrack(name, "from a log", "with a limit that is told " * 3, TODAY, weeks, 12_345)
        for name, weeks in (
            ("written", tuple(range(WEEKS))),
            ("changed", (None,) * 20 + (most,) * 33),
            ("archived", (None,) * WEEKS),
        )
    )
    return PalaceHistory(date(2025, 11, 17), TODAY, tracks)


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("most", [0, 1, 9_999_999])
def test_a_chart_fits_a_terminal(blocks, most):
    lines = list(chart_history(make_history(most), blocks=blocks))
    assert max(map(len, lines)) <= 80
    assert "\n".join(lines).isascii() is not blocks
    assert "1,378" in lines[2]


def test_months_stand_above_the_week_of_their_first_day():
    lines = list(chart_history(make_history(1), blocks=True))
    place = lines[1].index("Mar") - 10
    monday = date(2025, 11, 17) + timedelta(weeks=place)
    assert monday <= date(2026, 3, 1) < monday + timedelta(weeks=1)


def test_a_row_tells_none_from_unknown_and_never_rounds_to_none():
    assert draw_row([None, 0, 1, 50, 100], "12345678", "0") == " 0148"
    assert draw_row([None, None], "12345678", "0") == "  "
    assert draw_row([0, 0], "12345678", "0") == "00"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, True),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, False),
        ({"LC_CTYPE": "ja_JP.eucJP"}, False),
    ],
)
def test_blocks_are_for_terminals_that_have_them(environ, expected):
    assert has_blocks(environ) is expected


def test_a_year_is_drawn(palace):
    pytest.importorskip("matplotlib")
    from making_pictures import assert_readable

    for theme in (LIGHT, DARK):
        assert_readable(draw_history(make_history(9_999_999), title="A year"), theme)
        assert_readable(draw_history(read_history(palace, today=TODAY), title="年 " * 99), theme)


def test_status_shows_and_draws_the_year(palace, tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "year.svg"
    command = ["-C", str(tmp_path), "status", "--history", "--plot", str(file)]
    shown = CliRunner().invoke(app, command, catch_exceptions=False)
    assert shown.stdout.startswith("weeks from ") and "embedder" not in shown.stdout
    assert b"A year of" in file.read_bytes() and (tmp_path / "year-dark.svg").exists()
