"""The signals by name. A new signal is a file beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.signals import (
    anchor,
    anchoring,
    beside,
    dense,
    described,
    importance,
    lexical,
    logic,
    name,
    note_dense,
    note_lexical,
    noun_phrase,
    overlap,
    preference,
    quoted,
    recency,
    semantic,
    speaker,
    statement,
    temporal,
    temporal_phrase,
    theme,
    weekday,
)

Signal: TypeAlias = Callable[[SearchContext], Scores]
"""Gives one score per candidate, never negative; 0 is silence. Signals never call each other."""

SIGNALS: Mapping[str, Signal] = {
    "semantic": semantic.score,
    "recency": recency.score,
    "importance": importance.score,
    "dense": dense.score,
    "note_dense": note_dense.score,
    "lexical": lexical.score,
    "note_lexical": note_lexical.score,
    "beside": beside.score,
    "speaker": speaker.score,
    "statement": statement.score,
    "anchor": anchor.score,
    "anchoring": anchoring.score,
    "described": described.score,
    "overlap": overlap.score,
    "logic": logic.score,
    "logic_undamped": logic.score_undamped,
    "preference": preference.score,
    "noun_phrase": noun_phrase.score,
    "temporal": temporal.score,
    "weekday": weekday.score,
    "quoted": quoted.score,
    "name": name.score,
    "theme": theme.score,
    "temporal_phrase": temporal_phrase.score,
}

STRUCTURAL = frozenset(
    {
        "overlap", "logic", "logic_undamped", "preference", "noun_phrase", "temporal", "weekday",
        "quoted", "name", "theme", "temporal_phrase",
    }
)  # fmt: skip
"""Signals of source document 001. They look at words, facts and dates alone, so that their values
are computed once, for all candidates."""

LOW_PRECISION = frozenset({"overlap", "logic", "logic_undamped", "preference", "noun_phrase"})
"""Those whose sum is capped."""


def measure(signal: str, context: SearchContext) -> Scores:
    """Return the values of a signal, computed or as settled before."""
    if signal not in STRUCTURAL:
        return SIGNALS[signal](context)
    if signal not in context.settled:
        context.settled[signal] = SIGNALS[signal](context)
    return context.settled[signal]
