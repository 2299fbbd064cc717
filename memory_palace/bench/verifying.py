"""How many wrong answers verification accepts, by kind, and how many right ones it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from memory_palace.bench.verify_answers import CHANGED, FORMS, OFF, RIGHT, WrittenAnswer
from memory_palace.bench.verify_set.measuring import share_of
from memory_palace.bench.verify_systems import SEARCHED, AnswerOutcome
from memory_palace.checking.verdicts import ACCEPTED, Verdict

ALL = "all"


@dataclass(frozen=True, slots=True)
class KindRow:
    """What one system made of the answers of one kind and form, as shares."""

    system: str
    kind: str
    form: str
    """``near`` or ``own`` words, or ``all``."""
    answers: int
    accepted: float
    """Quoted or supported."""
    quoted: float
    supported: float
    contradicted: float
    not_found: float


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system on all answers."""

    system: str
    answers: int
    precision: float
    recall: float
    f1: float
    worst_kind: str
    """The kind of changed fact that is accepted most."""
    worst_accepted: float
    off_accepted: float
    """Share of the sentences that wander off."""
    right_refused: float
    """Share of the right paraphrases that is contradicted or not found."""
    cites_source: float | None
    """Share of answers for which the right note is cited, where the system chose the notes."""


def count_kinds(
    system: str, answers: Sequence[WrittenAnswer], outcomes: Sequence[AnswerOutcome]
) -> Iterator[KindRow]:
    """Yield a row for each kind, the worst first, then wandering off and right ones, and forms."""
    rows = [_count(system, kind, answers, outcomes) for kind in CHANGED]
    rows.sort(key=lambda row: -row.accepted)
    rows += [_count(system, kind, answers, outcomes) for kind in (OFF, RIGHT)]
    for row in rows:
        if row.answers:
            yield row
            forms = (_count(system, row.kind, answers, outcomes, form) for form in FORMS)
            yield from (each for each in forms if each.answers)


def _count(
    system: str,
    kind: str,
    answers: Sequence[WrittenAnswer],
    outcomes: Sequence[AnswerOutcome],
    form: str = ALL,
) -> KindRow:
    found = [
        outcome.verdict
        for answer, outcome in zip(answers, outcomes, strict=True)
        if answer.kind == kind and form in (ALL, answer.form)
    ]
    share = partial(_share_of, found)
    return KindRow(
        system=system,
        kind=kind,
        form=form,
        answers=len(found),
        accepted=share(*ACCEPTED),
        quoted=share(Verdict.QUOTED),
        supported=share(Verdict.SUPPORTED),
        contradicted=share(Verdict.CONTRADICTED),
        not_found=share(Verdict.NOT_FOUND),
    )


def _share_of(found: Sequence[Verdict], *wanted: Verdict) -> float:
    return share_of(sum(verdict in wanted for verdict in found), len(found))


def sum_system(
    system: str, answers: Sequence[WrittenAnswer], outcomes: Sequence[AnswerOutcome]
) -> SystemRow:
    """Return the figures of one system on all answers; accepting a right one is a hit."""
    pairs = list(zip(answers, outcomes, strict=True))
    right = sum(answer.is_right for answer in answers)
    accepted = [answer for answer, outcome in pairs if outcome.verdict in ACCEPTED]
    hits = sum(answer.is_right for answer in accepted)
    precision, recall = share_of(hits, len(accepted)), share_of(hits, right)
    worst = next(count_kinds(system, answers, outcomes))
    off, paraphrase = (_count(system, kind, answers, outcomes) for kind in (OFF, RIGHT))
    cited = share_of(sum(outcome.cites_source for _, outcome in pairs), len(pairs))
    return SystemRow(
        system=system,
        answers=len(pairs),
        precision=precision,
        recall=recall,
        f1=share_of(2 * precision * recall, precision + recall),
        worst_kind=worst.kind,
        worst_accepted=worst.accepted,
        off_accepted=off.accepted,
        right_refused=paraphrase.contradicted + paraphrase.not_found,
        cites_source=cited if system.startswith(SEARCHED) else None,
    )
