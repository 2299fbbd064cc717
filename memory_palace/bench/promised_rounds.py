"""Promised of a round of the Red Queen: it helps what it changes, and harms nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from memory_palace.bench.given import GARDEN, Given, at_least, checkout, need_models
from memory_palace.bench.golden import read_questions
from memory_palace.bench.hardening import measure_hardening
from memory_palace.bench.timing import Measured

_VAULTS = {"garden": f"{GARDEN}/content", "help": "multilingual-help/notes/en"}
_EVERYTHING = 100_000
"""More questions than notes ask of each other, so that a round asks all."""
_SLACK = 0.01
"""How far R@5 of other notes may fall."""


def measure_rounds(given: Given) -> Iterator[Measured]:
    """Ask people's questions before and after one round over each of two collections."""
    need_models("minilm")
    for name, vault in _VAULTS.items():
        asked = read_questions(checkout("tests/people") / f"questions_{name}_dev.jsonl")
        found = measure_hardening(given.find(vault), asked, embedder="minilm", asked=_EVERYTHING)
        for row in found.rows:
            if row.measure == "recall@5" and row.group != "all":
                least = row.before - (_SLACK if row.group == "others" else 0.0)
                what = f"a round, {name}: R@5 on {row.group} notes"
                yield at_least(what, row.after, f"of {row.questions}", least, row.before)
        label = f"a round, {name}: notes that got words in their text"
        yield Measured(label, found.prose, f"of {found.changed:.0f}", limit=0)
