"""Golden questions: queries with known answers, kept in a file; list, add and check them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from memory_palace.changes.changing import write_file
from memory_palace.changes.composing import one_line
from memory_palace.changes.journal import Create, Replace
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.notes.golden import GoldenQuestion, add_row, read_golden, read_golden_text
from memory_palace.notes.note import stem_of
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.shown import Shown, inner, plural, say_behind

FIRST = 5
"""Number of top hits among which an answering note must be."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A golden question, and the rank of the first note that answers it."""

    question: str
    notes: tuple[str, ...]
    """Paths of the notes that answer it, cold ones included."""
    rank: int | None
    """From 1 to ``FIRST``; ``None`` where none of them is among these."""
    found: tuple[str, ...]
    """Paths of the first notes, best first."""
    unknown: tuple[str, ...] = ()
    """Names in the file that lead to no note."""


@dataclass(frozen=True, slots=True)
class GoldenCheck(Shown):
    """Results of asking all golden questions."""

    asked: int
    any_at_1: int
    any_at_5: int
    golden: Sequence[Answered]
    behind: int = inner()
    """Notes that differ from the index."""

    @classmethod
    def of(cls, asked: Sequence[Answered], *, behind: int) -> Self:
        ranks = [one.rank for one in asked]
        return cls(len(asked), ranks.count(1), len(asked) - ranks.count(None), asked, behind)

    def lines(self) -> Iterable[str]:
        yield f"asked         {self.asked}"
        yield f"first         {self.any_at_1}"
        yield f"first {FIRST}       {self.any_at_5}"
        for one in self.golden:
            if one.rank is None:
                yield f"not answered  {one.question}"
                yield from (f"  wanted      {path}" for path in one.notes)
                yield from (f"  not there   {name}" for name in one.unknown)
                yield f"  found       {one.found[0] if one.found else 'nothing'}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if self.behind:
            yield say_behind(self.behind)

    def failure(self) -> CheckFailedError | None:
        failing = plural(self.asked - self.any_at_5, "golden question")
        message = f"{failing} without an answer among the first {FIRST}"
        return CheckFailedError(message) if self.any_at_5 < self.asked else None


def list_golden(palace: Palace) -> list[GoldenQuestion]:
    """Return the golden questions of a palace in file order."""
    return read_golden(palace.paths)


def add_golden(palace: Palace, question: str, *notes: str) -> GoldenQuestion:
    """Add answering notes to a new or known golden question; return the question with them.

    Raise ``UsageError`` without notes, or if a name matches no note or several.
    """
    question = one_line(question, "the question")
    if not notes:
        raise UsageError("name a note that answers the question")
    names = NoteNames.from_snapshot(palace.snapshot(include_cold=True))
    found = [names.find(note) for note in notes]

    file = palace.paths.golden

    def write() -> Create | Replace | None:
        before = after = read_golden_text(file)
        for path in found:
            after = add_row(after, question, path)
        if after == before:
            return None
        old, data = (text.encode("utf-8", "surrogateescape") for text in (before, after))
        shown = palace.paths.shown(file)
        return Replace(shown, old, data) if file.exists() else Create(shown, data)

    write_file(palace, write, command="golden", reason=f"add the golden question {question!r}")
    return GoldenQuestion(question, tuple(found))


def ask_golden(palace: Palace) -> list[Answered]:
    """Return the answers to all golden questions, ranked as ``palace query`` ranks notes."""
    golden = read_golden(palace.paths)
    if not golden:
        return []
    names = NoteNames.from_snapshot(palace.snapshot(include_cold=True))
    found = palace.rank_paths((one.question for one in golden), limit=FIRST)
    return [_answer(names, *pair) for pair in zip(golden, found, strict=True)]


def _answer(names: NoteNames, golden: GoldenQuestion, found: tuple[str, ...]) -> Answered:
    known = {name: _find(names, name) for name in golden.notes}
    paths = tuple(path for path in known.values() if path is not None)
    unknown = tuple(name for name, path in known.items() if path is None)
    rank = next((rank for rank, path in enumerate(found, start=1) if path in paths), None)
    return Answered(golden.question, paths, rank, found, unknown)


def _find(names: NoteNames, name: str) -> str | None:
    """Return the note with a name, or else with its stem, as it may have moved; else ``None``."""
    for called in (name, stem_of(name)):
        try:
            return names.find(called)
        except UsageError:
            continue
    return None


class Golden(Feature):
    """``Palace.golden``: questions that the palace must keep answering."""

    list = Verb(list_golden)
    add = Verb(add_golden)
    check = Verb(ask_golden)
