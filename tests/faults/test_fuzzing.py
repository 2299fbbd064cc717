"""No text makes a reader of notes or questions fail; the readers are called without the fence."""

import os
from contextlib import suppress
from datetime import date
from itertools import cycle

import pytest
from fuzzing import DIGITS, make_text, time_words

from memory_palace.config import Config
from memory_palace.errors import UsageError
from memory_palace.facts import derive
from memory_palace.features.structure.signals import analyse
from memory_palace.index.commit import Detail
from memory_palace.language.times import find_times
from memory_palace.models import ParsedQuery, Problem
from memory_palace.notes.note import Fence
from memory_palace.notes.parsing import parse_note
from memory_palace.retrieval.question import read_question, take_times
from memory_palace.retrieval.quotes import find_quoted

FIRST, TEXTS = (
    int(os.environ.get(f"FUZZ_{name}", n)) for name, n in (("FIRST", 0), ("TEXTS", 10_000))
)
"""The number of the first text, and how many: a million take 40 minutes of one core."""
LOCALES = ("", "en-US", "en-GB", "de", "ja", "zh-CN", "en-CA")


@pytest.fixture
def fenceless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whatever a reader raises fly."""

    def read(self, reader, read, lost, line=None):
        return read()

    monkeypatch.setattr(Fence, "read", read)
    monkeypatch.setattr(Fence, "read_lines", lambda self, reader, read, text, line: [*read(text)])


def count(text: str) -> int:
    return len(text.split())


def read_all(number: int) -> None:
    """Read a text as a note and as a question, with everything on."""
    text, locale = make_text(number), LOCALES[number % len(LOCALES)]
    name = text[:40].replace("/", "-").replace("\0", " ")
    path, data = f"{number % 2100}/{name}.md", text.encode("utf-8", "surrogatepass")
    note = parse_note(path, data, count_tokens=count, token_limit=64, locale=locale)
    derive(note, Detail.STRUCTURED, Config(locale=locale))
    if number % 5 < 2 or number % 3 == 0:
        ask(text[:120], locale=locale, as_of=float(number * 1000))


def ask(asked: str, *, locale: str, as_of: float) -> None:
    question = read_question(ParsedQuery(asked, as_of, locale=locale))
    assert question.terms is not None and question.untimed_terms is not None
    analyse(asked)
    find_quoted(asked)
    word = asked[:20].replace(" ", "")
    with suppress(UsageError):  # what is in quotation marks and no time is refused
        take_times(ParsedQuery(f"{asked} when:{word}", as_of, locale=locale), ())


def read_many(numbers: range) -> list[str]:
    failed = []
    for number in numbers:
        try:
            read_all(number)
        except Exception as error:
            failed.append(f"{number}: {error!r}: {make_text(number)!r}")
    return failed


def test_no_text_makes_a_reader_fail(fenceless: None) -> None:
    assert read_many(range(FIRST, FIRST + TEXTS)) == []


def test_every_word_of_time_has_digits_straight_before_and_behind_it(fenceless: None) -> None:
    for word, digits in zip(time_words(), cycle(DIGITS), strict=False):
        find_times(f"{digits}{word}", date(2026, 1, 31))
        find_times(f"{word}{digits} 2026{word}", date(2026, 1, 31))


def test_a_reader_that_is_broken_on_purpose_is_named_with_its_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*given: object, **named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("memory_palace.language.times.find_times", broken)
    seen = 0
    for number in range(100):
        data = b"# Heading\n\nthe third line, in May 2026 \n" + make_text(number).encode()
        note = parse_note("a.md", data, count_tokens=count, token_limit=64)
        told = [p for each in derive(note, Detail.PLAIN) for p in each.problems]
        assert all(isinstance(problem, Problem) and problem.is_failure for problem in told)
        seen += any(p.line == 3 and "the reader of dates failed (ZeroDiv" in str(p) for p in told)
    assert seen > 90
