"""How well verification tells answers that came from a memory from those that did not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np

from memory_palace.bench.verify_set.cases import HALVES, Case, Split, load_cases, make_cases
from memory_palace.checking.alignment import EmbedTokens
from memory_palace.checking.checker import check_answer
from memory_palace.checking.verdicts import ACCEPTED, Passage
from memory_palace.mnemonics.verification import TokenVerdict, check_tokens

CLAIMED_F1 = 0.92
"""Of source document 000, which names neither cases nor checks."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One answer, checked for its token and for what it claims."""

    holds_token: bool
    is_supported: bool


Accept: TypeAlias = Callable[[Checked], bool]
Label: TypeAlias = Callable[[Case], bool]

CHECKS: Mapping[str, Accept] = {
    "token alone": lambda found: found.holds_token,
    "support alone": lambda found: found.is_supported,
    "both": lambda found: found.holds_token and found.is_supported,
}
LABELS: Mapping[str, Label] = {
    "claims": lambda case: case.is_supported,
    "source": lambda case: case.has_token,
    "both": lambda case: case.is_supported and case.has_token,
}
"""What is true of a case: its claims are borne out, its token is the memory's, or both."""
TABLE = (
    ("token alone", "claims"),
    ("support alone", "claims"),
    ("both", "claims"),
    ("token alone", "source"),
    ("both", "both"),
)
"""Checks, each with what it is judged by. A check of claims cannot see a source, nor the other."""


@dataclass(frozen=True, slots=True)
class VerificationRow:
    """One check over some cases."""

    split: Split
    check: str
    judged_by: str
    kind: str
    """A kind of case, or ``all``."""
    cases: int
    positives: int
    precision: float
    recall: float
    f1: float
    false_positive_rate: float
    """Share of the negatives that were accepted; 0 where there are none."""
    correct: float


def measure_verification(
    split: Split, *, embed_tokens: EmbedTokens | None = None, cases: Sequence[Case] | None = None
) -> list[VerificationRow]:
    """Return a row for each check over one set, then one for each check and kind.

    ``embed_tokens`` compares meanings, without it words are compared. The development half is what
    thresholds and rules were made on; the other may be asked once they are fixed.
    """
    if cases is None:
        cases = load_cases() if split in HALVES else make_cases(split)
    chosen = [case for case in cases if case.split == split]
    near = None if embed_tokens is None else cache(embed_tokens)
    found = [_verify(case, near) for case in chosen]
    pairs = list(zip(chosen, found, strict=True))
    kinds = list(dict.fromkeys(case.kind for case in chosen))
    rows = [_row(split, check, label, "all", pairs) for check, label in TABLE]
    return rows + [
        _row(split, check, label, kind, [pair for pair in pairs if pair[0].kind == kind])
        for check, label in TABLE
        for kind in kinds
    ]


def _verify(case: Case, embed_tokens: EmbedTokens | None) -> Checked:
    passage = Passage(case.subject, 1, 1, case.content)
    found = check_answer(case.response, [passage], tokens=[case.token], embed_tokens=embed_tokens)
    return Checked(
        check_tokens(case.response, [case.token]) == TokenVerdict.HELD,
        found.verdict in ACCEPTED,
    )


def _row(
    split: Split, check: str, label: str, kind: str, pairs: Sequence[tuple[Case, Checked]]
) -> VerificationRow:
    accepted = np.array([CHECKS[check](found) for _, found in pairs], dtype=bool)
    positive = np.array([LABELS[label](case) for case, _ in pairs], dtype=bool)
    hits = int((accepted & positive).sum())
    precision = share_of(hits, int(accepted.sum()))
    recall = share_of(hits, int(positive.sum()))
    return VerificationRow(
        split=split,
        check=check,
        judged_by=label,
        kind=kind,
        cases=len(pairs),
        positives=int(positive.sum()),
        precision=precision,
        recall=recall,
        f1=share_of(2 * precision * recall, precision + recall),
        false_positive_rate=share_of(int((accepted & ~positive).sum()), int((~positive).sum())),
        correct=share_of(int((accepted == positive).sum()), len(pairs)),
    )


def share_of(part: float, whole: float) -> float:
    """Return a part of a whole, from 0 to 1; 0 of nothing."""
    return part / whole if whole else 0.0
