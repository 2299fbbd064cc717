"""A question answered from a few notes and the figures of all, as a server would give them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from memory_palace.features.store.fetching import ChosenSnapshot, gather
from memory_palace.graph.near import NearLinks
from memory_palace.index.publish import _merge
from memory_palace.index.snapshot import Snapshot, Statistics
from memory_palace.models import ParsedQuery
from memory_palace.notes.reading import find_disputes
from memory_palace.retrieval.context import find_candidates
from memory_palace.retrieval.excerpts import NoteReader
from memory_palace.retrieval.profiles import get_profile
from memory_palace.retrieval.question import _called
from memory_palace.retrieval.rank import ScoringRule, score_quickly
from memory_palace.retrieval.search import search

DAYS = 30.0


class Record:
    """Figures of a snapshot, kept by the names they are asked for."""

    def __init__(self, snapshot):
        self._own, self.kept = Statistics(snapshot), {}

    def _keep(self, value, *key):
        before = self.kept.setdefault(key, value)
        assert np.array_equal(before, value), f"{key} means two things"
        return value

    @property
    def rows(self):
        return self._keep(self._own.rows, "rows")

    def figure(self, name, found):
        return self._keep(self._own.figure(name, found), "figure", name)

    def frequency(self, field, parts, rows):
        return self._keep(self._own.frequency(field, parts, rows), "frequency", field, parts)

    def note_frequency(self, term, found):
        return self._keep(self._own.note_frequency(term, found), "notes", term)

    def holds(self, field, parts, rows):
        return self._keep(self._own.holds(field, parts, rows), "holds", field, parts)

    def spread(self, name, scores, *counted):
        return self._keep(self._own.spread(name, scores, *counted), "spread", name)

    def sample(self, vector):
        found = self._own.sample(vector)
        return self._keep(found, "sample", vector.tobytes())


class Told:
    """What was kept, whatever is found in the notes at hand; nothing else is known."""

    def __init__(self, kept):
        self._kept = kept

    @property
    def rows(self):
        return self._kept["rows",]

    def figure(self, name, found):
        return self._kept["figure", name]

    def frequency(self, field, parts, rows):
        return self._kept["frequency", field, parts]

    def note_frequency(self, term, found):
        return self._kept["notes", term]

    def holds(self, field, parts, rows):
        return self._kept["holds", field, parts]

    def spread(self, name, scores, *counted):
        return self._kept["spread", name]

    def sample(self, vector):
        return self._kept["sample", vector.tobytes()]


class Recorded(Snapshot):
    """A snapshot whose figures are kept when they are asked for."""

    def __init__(self, whole):
        super().__init__(whole.commit, whole._folds, rooms=whole.room_map)
        self.record = Record(self)

    @property
    def statistics(self):
        return self.record


class Home:
    """The whole palace, asked for rows by where they are among the chosen ones."""

    def __init__(self, whole, paths, rows):
        self._whole, self._paths, self._rows = whole, paths, rows
        self.statistics = Told(whole.record.kept)

    def compare(self, vector):
        return self._whole.cosines_of(self._rows, vector)

    def vectors(self, rows):
        return self._whole.rows_of(self._rows[rows])

    def called(self, asked, loose, mistyped):
        found = _called(asked, loose, mistyped, self._whole)
        return ((self._whole.paths[place], value) for place, value in found)

    def neighbors_of(self, paths):
        return NearLinks.from_snapshot(self._whole).neighbors_of(paths)

    def widen(self, paths):
        return self.chosen  # what is linked to hits is there

    def disputes(self):
        return find_disputes(self._paths)

    def prepare(self, paths):
        """Nothing is read ahead."""

    def lines(self, path):
        return NoteReader(self._whole, self._paths)._read_lines(path)


def choose(whole: Recorded, places: Iterable[int], paths: object) -> ChosenSnapshot:
    """Return a snapshot of some notes of a palace."""
    wanted = sorted(set(places), key=lambda place: (bool(whole.cold[place]), place))
    order = [np.flatnonzero(whole.row_owner == place) for place in wanted]
    chosen = {whole.paths[place] for place in wanted}
    hot, cold = (
        [row for row in _merge(fold, {s.name for s in fold.segments}) if row.path in chosen]
        for fold in (*whole._folds, *whole._folds)[:2]
    )
    cold = cold if len(whole._folds) > 1 else []
    home = Home(whole, paths, np.concatenate([np.zeros(0, np.int64), *order]))
    home.chosen = gather(whole.commit, hot, cold, home, rooms=whole.room_map)
    return home.chosen


def rank_notes(query: ParsedQuery, whole: Snapshot, profile: str, *, limit: int) -> list[int]:
    """Return the notes that score best at first sight."""
    context = find_candidates(query, whole, half_life_days=DAYS)
    found = score_quickly(context, ScoringRule(get_profile(profile), is_gated=True))
    order = np.argsort(-found, kind="stable")
    return list(dict.fromkeys(context.notes[order].tolist()))[:limit]


def answer_twice(query, whole, profile, paths, *, limit, neighbors=1, hits=10):
    """Return the hits of all notes, and those of the notes that score best at first sight."""
    recorded = Recorded(whole)
    asked = {"profile": profile, "limit": hits, "half_life_days": DAYS, "neighbors": neighbors}
    found = search(query, recorded, paths=paths, **asked).hits
    chosen = rank_notes(query, whole, profile, limit=limit)
    near = NearLinks.from_snapshot(whole).neighbors_of(hit.path for hit in found)
    beside = {path for sides in near.values() for side in sides for path in side}
    places = [place for place, path in enumerate(whole.paths) if path in beside]
    return found, search(query, choose(recorded, [*chosen, *places], paths), **asked).hits
