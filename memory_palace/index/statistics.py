"""What a question needs of all notes, and not only of those that may answer it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.calibration import Spread, find_spread, sample_rows
from memory_palace.index.segment import VectorMember
from memory_palace.models import Matrix, Vector

if TYPE_CHECKING:
    from memory_palace.index.snapshot import Snapshot

_Rows: TypeAlias = NDArray[np.int64]
_Mask: TypeAlias = NDArray[np.bool_]

Figure = Literal["words_length", "extras_length", "notes", "note_length", "most_held"]
"""The mean number of words of a passage, and of what describes it; notes with text, and their mean
number of words; the largest share of a question's words that a note holds, by weight; the share of
the notes that have the best value of ``logic``. Of the first four cold notes are left out."""


class Statistics(Protocol):
    """Figures of all notes.

    Who asks gives what the notes at hand have. Where those are all, that is the answer; where they
    are some of many, the answer is what is known of all by the name that is asked for.
    """

    @property
    def rows(self) -> int:
        """How many passages are live and outside the cold zone."""

    def figure(self, name: Figure, found: float) -> float:
        """Return a figure, ``found`` of the notes at hand."""

    def frequency(self, field: str, parts: tuple[str, ...], rows: _Rows) -> int:
        """Return how many passages outside the cold zone hold a term, or a fact by its parts."""

    def note_frequency(self, term: str, found: int) -> int:
        """Return how many notes outside the cold zone have a word in a passage."""

    def holds(self, field: str, parts: tuple[str, ...], rows: _Rows) -> bool:
        """Say whether any live passage holds a term, in the cold zone too where that is asked."""

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        """Return how scores are spread over the first of the masks where any is above 0.

        ``name`` is that of the signal, or ``words`` and ``extras`` for BM25 of passages and
        ``note_words`` for that of notes.
        """

    def sample(self, vector: Vector, member: VectorMember) -> NDArray[np.float64]:
        """Return the cosines of a vector with those of ``calibration.sample_rows``."""


class Origin(Protocol):
    """The palace that notes were chosen from, as far as one question needs to know it."""

    @property
    def statistics(self) -> Statistics:
        """Figures of all notes."""

    def compare(self, vector: Vector, member: VectorMember) -> NDArray[np.float64]:
        """Return the cosine of a unit vector with every row at hand, in their order."""

    def vectors(self, rows: NDArray[np.int64], member: VectorMember) -> Matrix:
        """Return the unit vectors of a few rows."""

    def called(self, asked: str, loose: str, mistyped: float) -> Iterable[tuple[str, float]]:
        """Yield the paths that a question may name, with values as ``match_names`` gives them."""

    def neighbors_of(self, paths: Iterable[str]) -> Mapping[str, Sequence[Sequence[str]]]:
        """Return what notes link to, and what links to them, as ``NearLinks`` does."""

    def widen(self, paths: Iterable[str]) -> Snapshot:
        """Return the notes at hand, and what links to some of them or is linked from them."""

    def prepare(self, paths: Iterable[str]) -> None:
        """Be told of which notes the lines will be asked for."""

    def lines(self, path: str) -> Sequence[str]:
        """Return the lines of a note as they may be shown."""

    def disputes(self) -> Mapping[str, tuple[str, ...]]:
        """Return the open conflicts of every note that is party to one."""


class OwnStatistics:
    """Figures of a snapshot that holds all notes: what is found in it is what is asked for."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @property
    def rows(self) -> int:
        """How many passages are live and outside the cold zone."""
        return int(np.count_nonzero(self._snapshot.hot_rows))

    def figure(self, name: Figure, found: float) -> float:
        """Return what was found."""
        return found

    def frequency(self, field: str, parts: tuple[str, ...], rows: _Rows) -> int:
        """Count those of some rows that are outside the cold zone."""
        return int(np.count_nonzero(self._snapshot.hot_rows[rows]))

    def note_frequency(self, term: str, found: int) -> int:
        """Return what was found."""
        return found

    def holds(self, field: str, parts: tuple[str, ...], rows: _Rows) -> bool:
        """Say whether there are any rows."""
        return len(rows) > 0

    def spread(self, name: str, scores: NDArray[np.float64], *counted: _Mask) -> Spread | None:
        """Return how the scores are spread over the first of the masks where any is above 0."""
        best = float(scores.max(initial=0.0))
        for mask in counted:
            found = scores[mask]
            if len(counted) == 1 or found.any():
                return find_spread(found, count=len(found), best=best)
        return None

    def sample(self, vector: Vector, member: VectorMember) -> NDArray[np.float64]:
        """Multiply the vectors of the rows that stand for all."""
        return self._snapshot.cosines_of(sample_rows(self._snapshot), vector, member)
