"""A year of a palace in fast motion: daily questions, the weekly run, and what is still found."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.golden import copy_palace
from memory_palace.bench.runs import Progress
from memory_palace.changes.changing import read_notes
from memory_palace.errors import CheckFailedError
from memory_palace.metabolism.assets import KINDS
from memory_palace.notes.golden import GoldenQuestion
from memory_palace.notes.usage import KNOWN_AFTER_DAYS, record_usage
from memory_palace.palace import Palace
from memory_palace.workflow.golden import FIRST

Opening: TypeAlias = Literal["first", "random", "none"]
"""What somebody opens each day: the first answer to a question, any hot note, or nothing."""
_MONTH_DAYS = 30


@dataclass(frozen=True, slots=True)
class Month:
    """How a palace stands after so many days, beside a copy of which nobody took care."""

    day: int
    guard: int
    """Questions of the golden set with an answer among the first ``FIRST``."""
    held: int
    """Those of the set that the palace never sees."""
    guard_alone: int
    """The same of the copy."""
    held_alone: int
    hot: int
    """Notes in the hot rooms."""
    stale: int
    archived: int
    """Notes that were sent to the archive until then."""


@dataclass(slots=True)
class Year:
    """What became of the palace."""

    months: list[Month] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """What went to the archive, in order."""
    left_in_use: list[str] = field(default_factory=list)
    """Of it what had been opened within 90 days."""
    held_back: dict[str, None] = field(default_factory=dict)
    """Steps that were not done, each with the reason."""


def live_through(
    source: Path,
    guard: Sequence[GoldenQuestion],
    held: Sequence[GoldenQuestion],
    *,
    start: date,
    days: int = 365,
    opening: Opening = "first",
    is_logged: bool = True,
    embedder: str = "minilm",
    seed: int = 1,
    progress: Progress = lambda what, done, total: None,
) -> Year:
    """Live in a copy of a palace as the reference says, and count what is found each month.

    Every day somebody asks one of ``guard``, the palace's golden set, and opens what ``opening``
    says; every week completed cards are distilled, ripe notes promoted, and the rules carried out.
    ``held`` is asked each month, and neither opened nor shown to the palace.
    """
    with scratch_folder() as folder:
        alone = _copy(source, folder / "alone", embedder)
        palace = _copy(source, folder / "kept", embedder)
        for golden in guard:
            palace.golden.add(golden.question, *golden.notes)
        log = "on" if is_logged else "off"
        palace = Palace(palace.paths.root, config=replace(palace.config, usage_log=log))
        life = _Life(palace, alone, random.Random(seed), opening if is_logged else "none")
        for number in range(days + 1):
            day = start + timedelta(days=number)
            if number % _MONTH_DAYS == 0 or number == days:
                life.count(number, guard, held)
            life.open_a_note(day, guard)
            if number % 7 == 6:
                life.take_care(day)
            progress("days", number, days)
        return life.year


def _copy(source: Path, root: Path, embedder: str) -> Palace:
    root.mkdir()
    palace = copy_palace(source, root)
    palace.index(embedder=embedder)
    return palace


class _Life:
    """A palace in use, and beside it a copy of which nobody takes care."""

    def __init__(self, palace: Palace, alone: Palace, rng: random.Random, opening: Opening) -> None:
        self._palace, self._alone, self._rng, self._opening = palace, alone, rng, opening
        self._opened: dict[str, date] = {}
        self._moved: dict[str, str] = {}
        self.year = Year()

    def open_a_note(self, day: date, questions: Sequence[GoldenQuestion]) -> None:
        """Ask a question and open what it finds first; or any note, or none."""
        found: Sequence[str] = ()
        if self._opening == "random":
            found = [self._rng.choice(self._palace.notes()).path]
        elif self._opening == "first":
            found = _ask(self._palace, self._rng.choice(questions).question)[:1]
        noon = datetime.combine(day, time(12), UTC)
        record_usage(self._palace.paths.logs, "opened", found, now=noon)
        self._opened |= dict.fromkeys(found, day)

    def take_care(self, day: date) -> None:
        """Do what the reference says of every week."""
        report = self._palace.metabolism.report(today=day)
        for card in report.undistilled:
            with suppress(CheckFailedError):  # too little to distil
                self._palace.metabolism.distill(card.path, apply=True, today=day)
        for path, _ in report.ripe:
            self._promote(path, day)
        known = len(self._palace.changes.log())
        done = self._palace.metabolism.eliminate(apply=True, today=day)
        self.year.held_back |= dict.fromkeys(done.held)
        for entry in self._palace.changes.log()[known:]:
            for move in entry.moves:
                self._follow(move.old, move.new, day)

    def _promote(self, path: str, day: date) -> None:
        for kind in KINDS:
            try:
                self._palace.metabolism.promote(path, kind, apply=True, today=day)
            except CheckFailedError:
                continue  # a section is missing, which a person would write
            return

    def _follow(self, old: str, new: str, day: date) -> None:
        last = self._opened.pop(old, None)
        if self._palace.paths.rooms.is_archived(new):
            self.year.left.append(old)
            if last is not None and (day - last).days < KNOWN_AFTER_DAYS:
                self.year.left_in_use.append(old)
            return
        self._moved[old] = new
        if last is not None:
            self._opened[new] = last

    def count(
        self,
        number: int,
        guard: Sequence[GoldenQuestion],
        held: Sequence[GoldenQuestion],
    ) -> None:
        """Ask all questions of both palaces."""
        hot = [d for d in read_notes(self._palace).documents.values() if not d.is_cold]
        month = Month(
            day=number,
            guard=_count_found(self._palace, self._moved, guard),
            held=_count_found(self._palace, self._moved, held),
            guard_alone=_count_found(self._alone, {}, guard),
            held_alone=_count_found(self._alone, {}, held),
            hot=len(hot),
            stale=sum(document.text("status") == "stale" for document in hot),
            archived=len(self.year.left),
        )
        self.year.months.append(month)


def _count_found(palace: Palace, moved: Mapping[str, str], golden: Sequence[GoldenQuestion]) -> int:
    """Return how many questions have one of their notes among the first."""
    return sum(
        not {moved.get(path, path) for path in one.notes}.isdisjoint(_ask(palace, one.question))
        for one in golden
    )


def _ask(palace: Palace, question: str) -> list[str]:
    """Ask as of today, not of the day that is lived through: "half a year ago" stays what it is."""
    return [hit.path for hit in palace.query(question, limit=FIRST, neighbors=0).hits]
