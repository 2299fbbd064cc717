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
    note_dense,
    note_lexical,
    recency,
    semantic,
    speaker,
    statement,
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
}
