"""Evidence for metabolism: kinds of assets, links between notes and cards, outcomes, usage."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from importlib.resources import files

from memory_palace.changes.journal import edits_not_in_git, read_moves
from memory_palace.config import SEVEN, Rooms
from memory_palace.errors import UsageError
from memory_palace.features.tasks.cards import Card, read_cards, target_of_item
from memory_palace.features.tasks.conflicts import read_conflicts
from memory_palace.features.tasks.tasks import own_links
from memory_palace.graph.resolve import ZonedNames
from memory_palace.notes.dating import date_in_front_matter, date_in_name, superseded_by
from memory_palace.notes.document import Document, Library
from memory_palace.notes.note import find_disputes, stem_of
from memory_palace.notes.usage import KNOWN_AFTER_DAYS, Usage, logs_usage, read_usage
from memory_palace.palace import Palace

WING = "reflection_wing"
CONSTITUTION = "grand_hall/constitution.md"
"""Place of the constitution, see ``Rooms.path_of``."""


@dataclass(frozen=True, slots=True)
class AssetKind:
    """A kind of note in the reflection wing."""

    name: str
    """Name on the command line."""
    type: str
    """Front matter field ``type`` of its notes."""
    folder: str
    sections: Sequence[str]
    """Required sections; the first states the subject."""
    evidence: str | None = None
    """Section that lists the tasks an asset worked in."""
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other headings by section that a source note may use."""

    def missing(self, sections: Mapping[str, str]) -> list[str]:
        filled = {name.casefold() for name, text in sections.items() if text.strip()}
        return [name for name in self.sections if name.casefold() not in filled]

    def find(self, document: Document, section: str) -> str:
        """Return a note's text under a section's name or one of its synonyms."""
        return document.section(section, *self.synonyms.get(section, ()))


_ASSETS = tomllib.loads(files(__package__).joinpath("assets.toml").read_text("utf-8"))
KINDS = {name: AssetKind(name, **values) for name, values in _ASSETS.items()}
TELEGRAM = KINDS.pop("telegram")


def get_kind(name: str) -> AssetKind:
    """Return the asset kind with a name; raise ``UsageError`` for an unknown name."""
    if name not in KINDS:
        raise UsageError(f"the kind of an asset is one of {', '.join(KINDS)}, not {name!r}")
    return KINDS[name]


def kind_of(document: Document) -> AssetKind | None:
    """Return the asset kind by a note's folder, or ``None`` outside the reflection wing."""
    for kind in (*KINDS.values(), TELEGRAM):
        if document.place.startswith(f"{WING}/{kind.folder}/"):
            return kind
    return None


def is_protected(document: Document) -> bool:
    """Return whether a note is the constitution, pinned, or an accepted rule: never changed."""
    is_record = kind_of(document) is KINDS["constitution"]
    return (
        document.place == CONSTITUTION
        or document.text("pinned").casefold() in ("true", "yes")
        or (is_record and document.text("decision").casefold() == "accepted")
    )


@dataclass(frozen=True, slots=True)
class Ledger:
    """Notes, links in both directions, cards, usage and conflicts on a given day."""

    documents: Mapping[str, Document]
    out: Mapping[str, frozenset[str]]
    """Targets by note: links, a card's inputs, and notes named in front matter, such as sources."""
    back: Mapping[str, frozenset[str]]
    cards: Mapping[str, Card]
    """Cards by path, including archived cards."""
    usage: Usage
    today: date
    disputed: frozenset[str] = field(default_factory=frozenset)
    """Paths of notes in an open conflict."""
    uncommitted: frozenset[str] = field(default_factory=frozenset)
    """Paths of notes with edits that are not committed to git."""
    settled: frozenset[frozenset[str]] = field(default_factory=frozenset)
    """Pairs of notes with a conflict, open or closed."""
    rooms: Rooms = SEVEN

    def linked(self, path: str) -> frozenset[str]:
        return self.out.get(path, frozenset()) | self.back.get(path, frozenset())

    def worked_in(self, path: str) -> list[Card]:
        return [
            card
            for card in (self.cards[p] for p in sorted(self.linked(path)) if p in self.cards)
            if card.state == "completed"
        ]

    def is_open_card(self, path: str) -> bool:
        return path in self.cards and self.cards[path].state != "completed"

    def reopened_sources(self, path: str) -> list[str]:
        return [source.path for source in self.sources(path) if self.is_open_card(source.path)]

    def record(self, path: str) -> tuple[int, int]:
        """Return the numbers of successes and failures of a note.

        Each linked completed card that was never reopened is a success, each reopening of a linked
        card a failure. ``successes`` and ``failures`` in the note's front matter are added.
        """
        cards = [self.cards[p] for p in self.linked(path) if p in self.cards]
        reopened = [len(card.document.texts("reopened")) for card in cards]
        pairs = zip(cards, reopened, strict=True)
        done = sum(card.state == "completed" and not times for card, times in pairs)
        document = self.documents[path]
        told = document.text("successes")[:9], document.text("failures")[:9]
        successes, failures = (int(given) if given.isdecimal() else 0 for given in told)
        return done + successes, sum(reopened) + failures

    @property
    def tells_disuse(self) -> bool:
        return self.usage.tells_disuse(self.today)

    def was_used_lately(self, path: str) -> bool:
        last = self.usage.last(path)
        return last is not None and (self.today - last).days < KNOWN_AFTER_DAYS

    def inbound(self, path: str) -> list[str]:
        return sorted(
            source
            for source in self.back.get(path, frozenset())
            if source != path and not self.documents[source].is_cold
        )

    def last_use(self, path: str) -> date | None:
        """Return the latest of a note's last logged use, own date, and dates of linking notes."""
        days = [self.usage.last(path), date_of(self.documents[path])]
        days += [date_of(self.documents[source]) for source in self.back.get(path, frozenset())]
        return max((day for day in days if day is not None), default=None)

    def sources(self, path: str) -> list[Document]:
        """Return the notes named in ``source`` and ``corridor_card`` of a note's front matter."""
        named = {
            *self.documents[path].texts("source"),
            *self.documents[path].texts("corridor_card"),
        }
        stems = {stem_of(name).strip("[]") for name in named}
        return [
            self.documents[target]
            for target in sorted(self.out.get(path, frozenset()))
            if self.documents[target].stem in stems
        ]


def take_ledger(palace: Palace, library: Library, *, today: date | None = None) -> Ledger:
    """Return the ledger of a palace; ``today`` is by default the present day in UTC."""
    documents, today = library.documents, today or datetime.now(UTC).date()
    logged = logs_usage(palace.paths, palace.config)
    moves = read_moves(palace.paths)
    usage = read_usage(palace.paths.logs, moves, today=today, is_kept=logged)
    conflicts = read_conflicts(documents.values())
    return replace(
        make_ledger(documents, usage, today, palace.paths.rooms),
        disputed=frozenset(find_disputes(palace.paths)),
        uncommitted=frozenset(edits_not_in_git(palace.paths, list(documents))),
        settled=frozenset(frozenset(conflict.parties) for conflict in conflicts),
    )


def make_ledger(
    documents: Mapping[str, Document], usage: Usage, today: date, rooms: Rooms = SEVEN
) -> Ledger:
    """Return a ledger with all links resolved, to hot notes first, as in the link graph."""
    cards = {card.path: card for card in read_cards(documents.values())}
    zones = ZonedNames((d.path, d.texts("aliases"), d.is_cold) for d in documents.values())
    top = "/" + rooms.prefix.rstrip("/")
    out: dict[str, frozenset[str]] = {}
    back: dict[str, set[str]] = {}
    for path, document in documents.items():
        names = _names_in(document, cards.get(path), rooms)
        found = {zones.find(name.removeprefix(top), path) for name in names}
        out[path] = frozenset(target for target in found if target and target != path)
        for target in out[path]:
            back.setdefault(target, set()).add(path)
    frozen = {path: frozenset(sources) for path, sources in back.items()}
    return Ledger(documents, out, frozen, cards, usage, today, rooms=rooms)


def date_of(document: Document) -> date | None:
    """Return the latest date in a note's front matter or file name, or ``None``."""
    found = [{"date": document.fields.get(key)} for key in ("completed", "last_updated")]
    days = [date_in_name(document.path), *map(date_in_front_matter, (*found, document.fields))]
    moments = [day.timestamp for day in days if day is not None]
    return datetime.fromtimestamp(max(moments), UTC).date() if moments else None


def field_date(document: Document, key: str) -> date | None:
    """Return a front matter field as a UTC date, or ``None`` if it is no date."""
    found = date_in_front_matter({"date": document.fields.get(key)})
    return None if found is None else datetime.fromtimestamp(found.timestamp, UTC).date()


def _names_in(document: Document, card: Card | None, rooms: Rooms) -> list[str]:
    names = [link.target for link in own_links(document) if link.target]
    names += superseded_by(document.fields)
    for key in ("source", "corridor_card", "promoted_to"):
        names += [value.strip("[]") for value in document.texts(key)]
    if card is not None:
        names += [target_of_item(item, rooms)[0] for item in card.inputs]
    return list(dict.fromkeys(name for name in names if name))
