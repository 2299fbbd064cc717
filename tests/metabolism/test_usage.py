"""The log of use: what counts, since when it can speak of disuse, and that it costs no reading."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from copying_palaces import copy_sample

from memory_palace.notes.usage import Usage, logs_usage, read_usage, record_usage
from memory_palace.palace import Palace

TODAY = date(2026, 11, 21)
FROST = "palace/project_rooms/public-page/frost message.md"
BUCKET = "palace/project_rooms/rain-gauge/tipping bucket correction.md"


@pytest.fixture
def sample(tmp_path):
    return copy_sample(tmp_path, embedder="hashing")


def lines(palace):
    log = palace.paths.logs / "usage.jsonl"
    return (
        [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
    )


def at(day):
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


def log_days(logs, *days_ago, act="opened"):
    for days in days_ago:
        record_usage(logs, act, ["a.md"], now=at(TODAY - timedelta(days=days)))


def read(logs, *, is_kept=True):
    return read_usage(logs, today=TODAY, is_kept=is_kept)


def test_what_is_opened_is_logged_and_what_a_question_lists_is_not(sample):
    sample.query("rain gauge")
    sample.recall("what did the rain gauge cost us")
    assert lines(sample) == []
    sample.read("frost message")
    sample.memories.show("thread in the funnel")
    found = [(line["act"], line["paths"]) for line in lines(sample)]
    assert found == [
        ("opened", [FROST]),
        ("opened", ["palace/reflection_wing/memories/thread in the funnel.md"]),
    ]


def test_what_an_answer_or_something_remembered_rests_on_or_names_is_cited(sample):
    sample.remember("The frost message goes out at six.", source=f"{FROST}:3-9")
    sample.remember("The mast creaks.", source="a talk with Ilse")
    assert [(line["act"], line["paths"]) for line in lines(sample)] == [("cited", [FROST])]
    sample.memories.verify("Ilse sends it, and nobody else may.", [f"{FROST}:1-20"])
    assert [line["paths"] for line in lines(sample)] == [[FROST], [FROST]]
    sample.memories.verify(f"The bucket holds seven elephants ({BUCKET}).")
    assert lines(sample)[-1]["paths"] == [BUCKET]


@pytest.mark.parametrize(
    ("setting", "has_wing", "expected"),
    [("auto", True, True), ("auto", False, False), ("on", False, True), ("off", True, False)],
)
def test_use_is_logged_where_metabolism_has_its_wing_unless_the_settings_say_otherwise(
    sample, setting, has_wing, expected
):
    if not has_wing:
        shutil.rmtree(sample.paths.notes / "reflection_wing")
    palace = Palace(sample.paths.root, config=replace(sample.config, usage_log=setting))
    assert logs_usage(palace.paths, palace.config) is expected
    palace.read("frost message")
    assert bool(lines(palace)) is expected


def test_a_log_that_cannot_be_written_costs_no_reading(sample):
    sample.paths.logs.parent.mkdir(parents=True, exist_ok=True)
    sample.paths.logs.write_text("a file where the folder of the logs should be")
    assert "Frost message" in sample.read("frost message").text


def test_an_act_that_is_unknown_is_no_use(tmp_path):
    log_days(tmp_path, 9, act="retrieved")
    assert read(tmp_path).days == {} and read(tmp_path).began == TODAY - timedelta(days=9)


@pytest.mark.parametrize(("age", "expected"), [(89, False), (90, True)])
def test_a_log_speaks_of_disuse_after_ninety_days(age, expected):
    assert Usage(TODAY - timedelta(days=age)).tells_disuse(TODAY) is expected
    assert not Usage().tells_disuse(TODAY)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        ((120, 90, 60, 30), 120),
        ((120, 89, 60, 30), 89),  # 31 days without a line
        ((120, 90, 60, 31), None),  # and none since
        ((), None),
    ],
)
def test_a_month_without_a_line_begins_the_log_anew(tmp_path, days, expected):
    log_days(tmp_path, *days)
    began = read(tmp_path).began
    assert began == (None if expected is None else TODAY - timedelta(days=expected))


def test_a_log_that_is_switched_off_still_shows_use_and_no_disuse(tmp_path):
    log_days(tmp_path, 120, 95, 70, 45, 20)
    assert read(tmp_path, is_kept=False) == replace(read(tmp_path), began=None)
    assert read(tmp_path).tells_disuse(TODAY)
