"""Two hops over the index: a question to the folders it is about, then to the notes in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.lookup import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.stopwords import STOP_STEMS
from memory_palace.language.tokens import tokenize
from memory_palace.models import Query
from memory_palace.retrieval.filters import match_notes
from memory_palace.retrieval.routing import choose_domains, count_votes


def narrow(query: Query, snapshot: Snapshot) -> Query:
    """Return a question that is kept to its folders, or as it is where they are not sure.

    Notes that the filters leave out have no vote. Folders below each other are apart.
    """
    passed = match_notes(snapshot, query.filters)
    folders = [path.rpartition("/")[0] for path in snapshot.paths]
    names = sorted({folders[at] for at in np.flatnonzero(passed)})
    if not query.text or len(names) < 2:
        return query
    place = {name: at for at, name in enumerate(names)}
    homes = np.array([place.get(folder, -1) for folder in folders], np.int64)
    homes[~passed] = -1
    votes = count_votes(_hold(query.text, snapshot, homes, len(names)), len(names), passed.sum())
    route = choose_domains(names, votes, _compare(query, snapshot, homes, len(names)))
    if not route.is_sure:
        return query
    return replace(query, filters=replace(query.filters, folders=frozenset(route.domains)))


def _hold(
    text: str, snapshot: Snapshot, homes: NDArray[np.int64], count: int
) -> list[NDArray[np.float64]]:
    """Return for each word how many notes of each folder have it."""
    lookup = PostingLookup(snapshot, "words")
    found = []
    for stem in dict.fromkeys(stem for stem in tokenize(text) if stem not in STOP_STEMS):
        rows, _ = lookup.find(stem)
        notes = np.unique(snapshot.row_note[rows])
        held = homes[notes]
        found.append(np.bincount(held[held >= 0], minlength=count).astype(np.float64))
    return found


def _compare(
    query: Query, snapshot: Snapshot, homes: NDArray[np.int64], count: int
) -> NDArray[np.float64] | None:
    """Return the mean cosine of the passages of each folder; ``None`` without vectors."""
    if query.vector is None:
        return None
    cosines = snapshot.similarities(query.vector)
    live = snapshot.row_note >= 0
    folder = np.where(live, homes[snapshot.row_note], -1)
    is_in = folder >= 0
    sums = np.bincount(folder[is_in], weights=cosines[is_in], minlength=count)
    return sums / np.maximum(np.bincount(folder[is_in], minlength=count), 1)
