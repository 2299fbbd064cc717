"""Expressions of time written without sight of the rules, read right to the day.

``times_*.jsonl`` and ``timeless_*.jsonl`` were written before the rules; the ``held`` halves were
seen by nobody who wrote rules for letters until these were done; who wrote those for Chinese and
Japanese had written the expressions as well. ``times_second.jsonl`` is of another hand, and was
read by none of them before the rules were done.
"""

import json
from collections import defaultdict
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

from memory_palace.language.time_spans import EARLIEST
from memory_palace.language.times import find_times

FOLDER = Path(__file__).parent
DIGESTS = {
    "times_held": "b6f6902d163c82a89e3e854d3a689aeeb24e3db80eeb559873e800ed3d0b0b09",
    "timeless_held": "f6d9ee0ec5ac04e6400ba90f18a619200395b1ece9118440124c61539319a45b",
}
"""As they were given when the other half was committed, before the rules."""
LEAST_OF_A_LANGUAGE = 0.85
LEAST_LEFT_ALONE = 0.98
SURE = 0.5


def load(name: str) -> list[dict[str, str | None]]:
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def read_days(row: dict[str, str | None]) -> tuple[str | None, str] | None:
    """The days of the surest expression (of several the longest), in its likeliest reading."""
    as_of = date.fromisoformat(row["as_of"] or "")
    found = find_times(row["text"] or "", as_of, locale=row.get("locale") or "")
    sure = [item for item in found if item.certainty >= SURE]
    if not sure:
        return None
    best = max(sure, key=lambda item: (item.certainty, len(item.text)))
    window = best.windows[0]
    first = None if window.first <= EARLIEST else window.first.isoformat()
    return first, window.last.isoformat()


@pytest.mark.parametrize("half, least", [("dev", 0.95), ("held", 0.90), ("second", 0.95)])
def test_expressions_are_read_right_to_the_day(half: str, least: float) -> None:
    wrong, count = defaultdict(list), defaultdict(int)
    for row in load(f"times_{half}"):
        count[row["lang"]] += 1
        days = read_days(row)
        if days != (row["first"], row["last"]):
            wrong[row["lang"]].append((row["text"], days, (row["first"], row["last"])))
    shares = {lang: 1 - len(wrong[lang]) / count[lang] for lang in count}
    missed = sum(map(len, wrong.values()))
    assert len(shares) == 8
    assert min(shares.values()) >= LEAST_OF_A_LANGUAGE, (shares, dict(wrong))
    assert 1 - missed / sum(count.values()) >= least, dict(wrong)


def test_questions_without_a_time_have_none_that_is_sure() -> None:
    rows = load("timeless_dev") + load("timeless_held")
    read = []
    for row in rows:
        found = find_times(row["text"] or "", date(2026, 11, 22))
        read += [(row["text"], item.text) for item in found if item.certainty >= SURE][:1]
    assert len(rows) >= 200
    assert 1 - len(read) / len(rows) >= LEAST_LEFT_ALONE, read


@pytest.mark.parametrize("name", DIGESTS)
def test_the_half_that_nobody_saw_is_as_it_was(name: str) -> None:
    assert sha256((FOLDER / f"{name}.jsonl").read_bytes()).hexdigest() == DIGESTS[name]
