"""The signals by name. A new signal is a function in a module beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TypeAlias

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext

Signal: TypeAlias = Callable[[SearchContext], Scores]
"""Gives one score per candidate, never negative; 0 is silence."""

SIGNALS: Mapping[str, str] = {
    "semantic": "evidence",
    "recency": "metadata",
    "importance": "metadata",
    "dense": "evidence",
    "note_dense": "evidence",
    "lexical": "evidence",
    "note_lexical": "evidence",
    "surrounding": "evidence",
    "speaker": "evidence",
    "statement": "evidence",
    "anchor": "evidence",
    "anchoring": "evidence",
    "enriched": "evidence",
    "bridge": "evidence",
    "temporal": "time",
    "weekday": "time",
    "described": "structure",
    "overlap": "structure",
    "logic": "structure",
    "logic_undamped": "structure",
    "preference": "structure",
    "noun_phrase": "structure",
    "quoted": "structure",
    "name": "structure",
    "theme": "structure",
    "temporal_phrase": "structure",
}
"""The module in which the function of each name stands. It is imported when a profile first asks:
reading a question costs as much as answering it."""

_SETTLED = frozenset({"time", "structure"})
"""Modules whose signals look at words, facts and dates alone, so that their values are computed
once, for all candidates."""


def measure(signal: str, context: SearchContext) -> Scores:
    """Return the values of a signal, computed or as settled before."""
    module = SIGNALS[signal]
    if module == "time" and not context.names_time:
        return context.silence()
    if module not in _SETTLED:
        return find_signal(signal)(context)
    if signal not in context.settled:
        context.settled[signal] = find_signal(signal)(context)
    return context.settled[signal]


@cache
def find_signal(name: str) -> Signal:
    """Return the function of a signal."""
    found: Signal = getattr(import_module(f"{__package__}.{SIGNALS[name]}"), name)
    return found
