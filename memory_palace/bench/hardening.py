"""What a round of the Red Queen is worth to ``palace query``, by questions of people."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from memory_palace.bench.golden import copy_palace
from memory_palace.bench.metrics import interval
from memory_palace.changes.changing import read_notes
from memory_palace.config import find_paths
from memory_palace.errors import UsageError
from memory_palace.graph.naming import NoteNames
from memory_palace.markdown.markup import Markup
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.document import Document
from memory_palace.notes.golden import GoldenQuestion
from memory_palace.palace import Palace
from memory_palace.redqueen.round_values import Strategy
from memory_palace.redqueen.rounds import QUESTIONS, Round, run
from memory_palace.redqueen.session import Roles

CUT, DEEPEST = 5, 10
"""A question is answered by a note among the first five; reciprocal ranks are 0 below the tenth."""


@dataclass(frozen=True, slots=True)
class HardeningRow:
    """What some questions found before and after a round."""

    group: str
    """Questions on notes that were changed, on others, or all."""
    questions: int
    """Counted once for each round."""
    measure: str
    """Recall@5, or the mean reciprocal rank."""
    before: float
    after: float
    low: float
    high: float
    """95 % interval of the paired difference, by bootstrap over the notes."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Hardening:
    """What was measured of some rounds, each over the notes as they were."""

    rows: tuple[HardeningRow, ...]
    rounds: int
    changed: float
    """Notes that were changed, in the mean of the rounds."""
    proposals: Mapping[str, float]
    """What was written, by kind, likewise."""
    refused: float
    """What a model proposed in vain, likewise."""
    prose: int
    """Changed notes with words in their text that they did not have, headings aside, in all."""


def measure_hardening(
    source: Path,
    questions: Sequence[GoldenQuestion],
    *,
    embedder: str,
    asked: int | None = None,
    seed: int = 1,
    rounds: int = 1,
    roles: Roles | None = None,
) -> Hardening:
    """Ask questions of copies of a palace, or of a folder of notes, before and after a round.

    ``asked`` is how many questions the round itself asks; all that it proposes is written.
    ``rounds`` of that, each over the notes as they were and with the next seed, are pooled: they
    say what one is worth on average. ``roles`` are a model's.
    """
    pooled: list[_Outcome] = []
    played: list[Round] = []
    prose = 0
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "before"
        palace = copy_notes(source, base)
        palace.index(embedder=embedder)
        named = _find_notes(palace, questions)
        before, documents = _ranks(palace, named), read_notes(palace).documents
        for turn in range(rounds):
            folder = Path(name) / str(turn)
            shutil.copytree(base, folder)
            after = Palace(folder)
            played.append(_play(after, asked=asked, seed=seed + turn, roles=roles))
            changed = set(played[-1].outcome.paths)
            ranks = zip(named, before, _ranks(after, named), strict=True)
            pooled += [_Outcome(q.notes[0], not changed.isdisjoint(q.notes), *r) for q, *r in ranks]
            texts = read_notes(after).documents
            prose += sum(has_new_prose(documents[path], texts[path]) for path in changed)
            shutil.rmtree(folder)
    return _sum_up(pooled, played, prose)


def copy_notes(source: Path, root: Path) -> Palace:
    """Copy a palace with its index, or make one of a copy of any folder of notes."""
    paths = find_paths(source)
    if paths is None:
        if not source.is_dir():
            raise UsageError(f"{source} is not a folder")
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".*"))
        return Palace.init(root, here=True)
    return copy_palace(source, root, with_index=paths.index.is_dir())


def has_new_prose(before: Document, after: Document) -> bool:
    """Whether a note's text has words that it did not have; headings are no prose."""
    return bool(_count_words(after) - _count_words(before))


def _count_words(document: Document) -> Counter[str]:
    return Counter(strip_markup(Markup(document.body).without_headings()).split())


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Where one question found its note before and after one round; 0 below the tenth."""

    note: str
    is_changed: bool
    before: int
    after: int


def _find_notes(palace: Palace, questions: Sequence[GoldenQuestion]) -> list[GoldenQuestion]:
    names = NoteNames.from_snapshot(palace.snapshot(include_cold=True))
    return [GoldenQuestion(q.question, tuple(map(names.find, q.notes))) for q in questions]


def _play(palace: Palace, *, asked: int | None, seed: int, roles: Roles | None) -> Round:
    """Apply a round."""
    return run(
        palace,
        strategy=Strategy.RANDOM,
        question_count=asked or QUESTIONS,
        seed=seed,
        limit=None,
        roles=roles,
        apply=True,
        allow_uncommitted=True,
    )


def _ranks(palace: Palace, questions: Sequence[GoldenQuestion]) -> list[int]:
    """Return where each question finds the first of its notes, 0 where it does not."""
    found = palace.rank_paths((q.question for q in questions), limit=DEEPEST)
    return [
        next((rank for rank, path in enumerate(paths, start=1) if path in q.notes), 0)
        for q, paths in zip(questions, found, strict=True)
    ]


def _sum_up(pooled: Sequence[_Outcome], played: Sequence[Round], prose: int) -> Hardening:
    kinds = Counter(proposal.kind for done in played for proposal in done.proposals)
    return Hardening(
        rows=tuple(_rows(pooled)),
        rounds=len(played),
        changed=fmean(len(set(done.outcome.paths)) for done in played),
        proposals={kind: count / len(played) for kind, count in sorted(kinds.items())},
        refused=fmean(len(done.refused) for done in played),
        prose=prose,
    )


def _rows(pooled: Sequence[_Outcome]) -> Iterator[HardeningRow]:
    groups = {
        "changed": [outcome for outcome in pooled if outcome.is_changed],
        "others": [outcome for outcome in pooled if not outcome.is_changed],
        "all": pooled,
    }
    for group, members in groups.items():
        notes = [outcome.note for outcome in members]
        for measure, worth in (("recall@5", _is_answered), ("reciprocal rank", _reciprocal)):
            before = [worth(outcome.before) for outcome in members]
            after = [worth(outcome.after) for outcome in members]
            if members:
                gains = [y - x for x, y in zip(before, after, strict=True)]
                low, high = interval(gains, clusters=notes)
                means = fmean(before), fmean(after)
                yield HardeningRow(group, len(members), measure, *means, low, high)


def _is_answered(rank: int) -> float:
    return float(0 < rank <= CUT)


def _reciprocal(rank: int) -> float:
    return 1 / rank if rank else 0.0
