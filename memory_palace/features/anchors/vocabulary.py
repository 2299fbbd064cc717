"""Choose which terms of a palace become anchors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from memory_palace.features.anchors.anchor_file import Anchor
from memory_palace.features.anchors.corpus import AnchorWork, TermedPassage, read_curated
from memory_palace.features.anchors.policy import denied_keys
from memory_palace.features.anchors.terms import Term, match_key
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
NAME_USES = 4
"""Passages that hold a word, to each that names or links to it: above that it is a mere word."""
TITLE_USES = 8
"""The same for a note's title, which stands in its own passages."""
FEW_USES = 8
"""Passages that any anchor of one word may stand in."""


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
    work: AnchorWork, snapshot: Snapshot, passages: Sequence[TermedPassage]
) -> tuple[Anchor, ...]:
    """Return the anchors of a nightly build in order of keys: the most salient, and all curated."""
    settings = work.config.anchors
    denied = denied_keys(settings.deny)
    found = gather(passages, read_curated(work), snapshot)
    limit = min(settings.vocabulary, max(len(passages) // PASSAGES_EACH, FEWEST))
    found = bound_notes(found, limit // NOTE_SHARE)
    order = sorted(found, key=lambda key: (-found[key].salience, key))
    order = [key for key in order if key not in denied]
    curated = {key for key in order if "curated" in found[key].kinds}
    chosen = curated | set([key for key in order if key not in curated][:limit])
    terms = ((key, found[key]) for key in sorted(chosen))
    return tuple(
        Anchor(key, term.display, tuple(sorted(term.kinds)), tuple(sorted(term.aliases)))
        for key, term in terms
    )


def gather(
    passages: Sequence[TermedPassage], curated: Iterable[Term], snapshot: Snapshot
) -> dict[str, Candidate]:
    """Return every candidate by its key, with its salience.

    Salience is the weight of the best kind, times the logarithm of the passages that offer the
    term, times idf over notes, times engagement: 1 + ln(1 + links) / 4.
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
        key: term for key, term in found.items() if term.kinds and not _says_little(term, held[key])
    }
    often = {key: term for key, term in kept.items() if term.passages > 1 or term.kinds != {"name"}}
    kept = often if len(often) >= FEWEST else kept
    linked = (target for targets in snapshot.link_targets() for target in targets)
    links = Counter(match_key(stem_of(target)) for target in linked)
    for key, candidate in kept.items():
        if "curated" not in candidate.kinds:
            candidate.display = max(candidate.displays, key=lambda d: (candidate.displays[d], d))
        candidate.salience = _salience(candidate, total, links[key])
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


def _says_little(candidate: Candidate, held: int) -> bool:
    """Whether a term is a word used far more often than for the thing.

    "Time" may be the title of a note, but what is said of time is seldom about that.
    """
    if candidate.kinds & {"curated", "project", "entity"}:
        return False
    most = TITLE_USES if "title" in candidate.kinds else NAME_USES
    return held > max(most * candidate.passages, FEW_USES)


def _salience(candidate: Candidate, notes: int, links: int) -> float:
    weight = max((WEIGHTS[kind] for kind in candidate.kinds), default=1.0)
    idf = share_idf(max(len(candidate.notes), 1), notes) / log(1 + notes)
    engagement = 1 + log(1 + links) / 4
    salience: float = weight * log(1 + max(candidate.passages, 1)) * idf * engagement
    return round(salience, 6)
