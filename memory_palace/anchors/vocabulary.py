"""Choose which terms of a palace become anchors, and what becomes of them night by night."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from memory_palace.anchors.corpus import AnchorWork, TermedPassage, read_curated
from memory_palace.anchors.policy import denier
from memory_palace.anchors.terms import Term, match_key
from memory_palace.anchors.tier import Anchor, AnchorFiles
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.word_lists import share_idf
from memory_palace.notes.rooms import stem_of

WEIGHTS: Mapping[str, float] = {
    "curated": 4.0,
    "project": 3.0,
    "entity": 3.0,
    "title": 2.0,
    "link": 2.0,
    "name": 1.5,
}
"""How much more a term counts for standing where people put what matters."""

PASSAGES_EACH = 8
"""Passages to an anchor, so that a palace of few notes has few."""
FEWEST = 24
"""Anchors that any palace may have; only below that is a capital in one passage a name."""
NOTE_SHARE = 4
"""One note alone may name one in so many of them."""
BOILERPLATE_SHARE = 0.3
"""A link in more files than this says what kind of note it is, not what about."""
BOILERPLATE_FILES = 20
"""In fewer files nothing is boilerplate."""
NAME_USES = 4
"""Passages that hold a word, to each that names or links to it: above that it is a mere word."""
TITLE_USES = 8
"""The same for a note's title, which stands in its own passages."""
FEW_USES = 8
"""Passages that any anchor of one word may stand in."""
FADED_SHARE = 0.5
"""Below this share of its first salience an anchor fades."""
FADING_BUILDS = 3
"""After as many fading builds in a row it is pruned (source document 003)."""


@dataclass(slots=True)
class Candidate:
    """A term while it is being counted."""

    display: str
    kinds: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)
    notes: set[int] = field(default_factory=set)
    passages: int = 0
    salience: float = 0.0
    displays: Counter[str] = field(default_factory=Counter)
    """How often it is written each way."""


def choose_anchors(
    work: AnchorWork, snapshot: Snapshot, passages: Sequence[TermedPassage], past: AnchorFiles
) -> tuple[tuple[Anchor, ...], tuple[Anchor, ...]]:
    """Return the anchors of a nightly build, and all that were pruned, each in order of keys."""
    settings = work.config.anchors
    is_denied = denier(settings.deny)
    found = gather(passages, read_curated(work), snapshot)
    limit = min(settings.vocabulary, max(len(passages) // PASSAGES_EACH, FEWEST))
    found = bound_notes(found, limit // NOTE_SHARE)
    candidates = {
        key: candidate for key, candidate in found.items() if not is_denied(candidate.display, key)
    }
    anchors, pruned = renew(candidates, past.anchors, past.pruned, limit=limit, now_ns=work.now_ns)
    return tuple(a for a in anchors if not is_denied(a.display, a.key)), pruned


def gather(
    passages: Sequence[TermedPassage], curated: Iterable[Term], snapshot: Snapshot
) -> dict[str, Candidate]:
    """Return every candidate by its key, with its salience.

    Salience is the weight of the best kind, times the logarithm of the passages that offer the
    term, times idf over notes, times recency in [0.5, 1] relative to the newest note, times
    engagement: 1 + ln(1 + links) / 4 (source document 003 multiplies tf-idf, recency and
    engagement, and leaves each open).
    """
    found: dict[str, Candidate] = {}
    for passage in passages:
        for term in passage.terms:
            _count(found, term, passage.note)
    for term in curated:
        _count(found, term, None)
    total = max(len({passage.note for passage in passages}), 1)
    held = Counter(word for passage in passages for word in found.keys() & set(passage.words))
    kept = {
        key: term
        for key, term in found.items()
        if term.kinds and not _is_boilerplate(term, total) and not _is_word(term, held[key])
    }
    often = {key: term for key, term in kept.items() if term.passages > 1 or term.kinds != {"name"}}
    kept = often if len(often) >= FEWEST else kept
    dates, links = snapshot.told_dates, _count_links(snapshot)
    newest = float(dates.max()) if len(dates) else 0.0
    for key, candidate in kept.items():
        if "curated" not in candidate.kinds:
            candidate.display = max(candidate.displays, key=lambda d: (candidate.displays[d], d))
        candidate.salience = _salience(candidate, total, dates, newest, links[key])
    return kept


def bound_notes(found: Mapping[str, Candidate], most: int) -> dict[str, Candidate]:
    """Keep of the terms that stand in one note alone its ``most`` salient ones.

    A note that is stuffed with names must not be the vocabulary. What people name by its place or
    in front matter stays.
    """
    counts: Counter[int] = Counter()
    kept = {}
    for key, term in sorted(found.items(), key=lambda item: (-item[1].salience, item[0])):
        if len(term.notes) == 1 and not term.kinds & {"curated", "project", "entity", "title"}:
            counts[min(term.notes)] += 1
            if counts[min(term.notes)] > most:
                continue
        kept[key] = term
    return kept


def _count_links(snapshot: Snapshot) -> Counter[str]:
    """Count the notes that link to each key."""
    return Counter(
        match_key(stem_of(target)) for targets in snapshot.link_targets() for target in targets
    )


def _count(found: dict[str, Candidate], term: Term, note: int | None) -> None:
    candidate = found.setdefault(term.alias_of or term.key, Candidate(term.display))
    if term.alias_of and term.alias_of != term.key:
        candidate.aliases.add(term.key)
        return
    candidate.kinds.add(term.kind)
    if term.kind == "curated":
        candidate.display = term.display
    candidate.displays[term.display] += 1
    candidate.passages += 1
    if note is not None:
        candidate.notes.add(note)


def _is_boilerplate(candidate: Candidate, notes: int) -> bool:
    if candidate.kinds & {"curated", "project", "entity", "title"}:
        return False
    share = len(candidate.notes) / notes
    return notes >= BOILERPLATE_FILES and share > BOILERPLATE_SHARE


def _is_word(candidate: Candidate, held: int) -> bool:
    """Say whether a term is a word that people use far more often than they mean the thing.

    "Time" may be the title of a note, but what is said of time is seldom about that.
    """
    if candidate.kinds & {"curated", "project", "entity"}:
        return False
    most = TITLE_USES if "title" in candidate.kinds else NAME_USES
    return held > max(most * candidate.passages, FEW_USES)


def _salience(
    candidate: Candidate, notes: int, dates: NDArray[np.float64], newest: float, links: int
) -> float:
    weight = max((WEIGHTS[kind] for kind in candidate.kinds), default=1.0)
    idf = share_idf(max(len(candidate.notes), 1), notes) / log(1 + notes)
    age_days = (newest - max((float(dates[n]) for n in candidate.notes), default=newest)) / 86_400
    recency = 0.5 + 0.5 * 0.5 ** (age_days / 180)
    engagement = 1 + log(1 + links) / 4
    salience: float = weight * log(1 + max(candidate.passages, 1)) * idf * recency * engagement
    return round(salience, 6)


def renew(
    candidates: Mapping[str, Candidate],
    before: Iterable[Anchor],
    pruned: Iterable[Anchor],
    *,
    limit: int,
    now_ns: int,
) -> tuple[tuple[Anchor, ...], tuple[Anchor, ...]]:
    """Return the anchors of a build and those that were pruned, each in order of their keys.

    Anchors are carried on, and the most salient new ones join up to ``limit``. A curated anchor
    never fades. A pruned one comes back when it has more salience than when it was first
    discovered.
    """
    known = {a.key: a for a in before if a.key in candidates or not a.is_curated}
    gone = {a.key: a for a in pruned if not _is_back(candidates.get(a.key), a)}
    new = {
        key: Anchor(key, candidate.display, since_ns=now_ns)
        for key, candidate in candidates.items()
        if key not in known and key not in gone
    }
    carried = {key: _carry(anchor, candidates.get(key)) for key, anchor in (known | new).items()}
    gone |= {key: anchor for key, anchor in carried.items() if anchor.state == "pruned"}
    live = [anchor for anchor in carried.values() if anchor.state != "pruned"]
    live.sort(key=lambda anchor: (not anchor.is_curated, -anchor.salience, anchor.key))
    kept = live[: limit + sum(anchor.is_curated for anchor in live)]
    return tuple(sorted(kept, key=_key_of)), tuple(sorted(gone.values(), key=_key_of))


_key_of = attrgetter("key")


def _is_back(candidate: Candidate | None, anchor: Anchor) -> bool:
    if candidate is None:
        return False
    return "curated" in candidate.kinds or candidate.salience > anchor.first_salience


def _carry(anchor: Anchor, candidate: Candidate | None) -> Anchor:
    if candidate is None:
        candidate = Candidate(anchor.display, set(anchor.kinds), set(anchor.aliases))
    first = anchor.first_salience or candidate.salience
    has_faded = candidate.salience < FADED_SHARE * first and "curated" not in candidate.kinds
    fading = anchor.fading + 1 if has_faded else 0
    state = "pruned" if fading >= FADING_BUILDS else "fading" if fading else "active"
    return replace(
        anchor,
        display=candidate.display,
        kinds=tuple(sorted(candidate.kinds)),
        aliases=tuple(sorted(candidate.aliases)),
        state=state,
        salience=candidate.salience,
        first_salience=first,
        fading=fading,
    )
