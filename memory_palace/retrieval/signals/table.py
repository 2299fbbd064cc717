"""The signals by name. A new signal is a file beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TypeAlias

import numpy as np

from memory_palace.language.time_words import may_name_time
from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.signals import (
    anchor,
    anchoring,
    beside,
    bridge,
    dense,
    described,
    enriched,
    importance,
    lexical,
    note_dense,
    note_lexical,
    recency,
    semantic,
    speaker,
    statement,
)

Signal: TypeAlias = Callable[[SearchContext], Scores]
"""Gives one score per candidate, never negative; 0 is silence. Signals never call each other."""


def _late(name: str, function: str = "score") -> Signal:
    """Import a signal when it is first asked: reading a question costs as much as answering it."""

    def score(context: SearchContext) -> Scores:
        module = import_module(f"memory_palace.retrieval.signals.{name}")
        scores: Scores = getattr(module, function)(context)
        return scores

    return score


def _late_in_time(name: str) -> Signal:
    """Do the same, where the question can name a time at all."""
    ask = _late(name)

    def score(context: SearchContext) -> Scores:
        if may_name_time(context.query.text):
            return ask(context)
        return np.zeros(len(context.rows), np.float32)

    return score


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
    "enriched": enriched.score,
    "bridge": bridge.score,
    "overlap": _late("overlap"),
    "logic": _late("logic"),
    "logic_undamped": _late("logic", "score_undamped"),
    "preference": _late("preference"),
    "noun_phrase": _late("noun_phrase"),
    "temporal": _late_in_time("temporal"),
    "weekday": _late_in_time("weekday"),
    "quoted": _late("quoted"),
    "name": _late("name"),
    "theme": _late("theme"),
    "temporal_phrase": _late_in_time("temporal_phrase"),
}

SETTLED = frozenset(
    {
        "overlap", "logic", "logic_undamped", "preference", "noun_phrase", "temporal", "weekday",
        "quoted", "name", "theme", "temporal_phrase",
    }
)  # fmt: skip
"""Signals of source document 001. They look at words, facts and dates alone, so that their values
are computed once, for all candidates."""


def measure(signal: str, context: SearchContext) -> Scores:
    """Return the values of a signal, computed or as settled before."""
    if signal not in SETTLED:
        return SIGNALS[signal](context)
    if signal not in context.settled:
        context.settled[signal] = SIGNALS[signal](context)
    return context.settled[signal]
