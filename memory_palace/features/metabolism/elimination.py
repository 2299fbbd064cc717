"""Reverse elimination: which notes step down, go, or are in doubt, by rules that can be counted.

Every rule gives proposals with their evidence; nothing is deleted, and no contradiction is
decided here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from memory_palace.features.metabolism.assets import CONSTITUTION, TELEGRAM, is_protected, kind_of
from memory_palace.features.metabolism.ledger import Ledger, field_date
from memory_palace.features.metabolism.likeness import Cosine, HotNotes, LineRange, find_pairs
from memory_palace.notes.document import Document
from memory_palace.notes.rooms import stem_of
from memory_palace.notes.validity import superseded_by

EliminationAction: TypeAlias = Literal[
    "supersede", "return", "revive", "demote", "archive", "finish", "merge", "contradiction"
]
UNUSED_DAYS = 90
"""Days without use after which an asset is stale, and again until it is archived; also the days
after which finished work that was distilled is archived."""
_LEAVING = frozenset({"supersede", "return", "archive", "finish"})
"""Steps that take a note from where it is."""
_BY_DISUSE = frozenset({"archive", "finish"})
"""Steps that nobody has asked for: only what is said elsewhere goes so."""


@dataclass(frozen=True, slots=True)
class Elimination:
    """One step for one note, and what was counted."""

    action: EliminationAction
    path: str
    evidence: tuple[str, ...]
    other: str | None = None
    """The note that takes its place, or the one it is in doubt with."""
    held: str | None = None
    """Why it is not carried out now, although the rule says so."""
    lines: tuple[LineRange, LineRange] | None = None
    """Of a contradiction, those of the other note and its own."""


def find_proposals(ledger: Ledger, *, cosine: Cosine | None) -> list[Elimination]:
    """Return at most one step for each note, by path."""
    found: dict[str, Elimination] = {}
    for path, document in ledger.documents.items():
        if not document.is_cold and not is_protected(document):
            proposal = _step_for(ledger, document)
            if proposal is not None:
                found[path] = _hold(ledger, proposal)
    assets = [
        document
        for document in ledger.documents.values()
        if not document.is_cold
        and (document.place == CONSTITUTION or kind_of(document) not in (None, TELEGRAM))
        and not superseded_by(document.fields)
        and document.path not in ledger.disputed
    ]
    for pair in find_pairs(assets, cosine=cosine, settled=ledger.settled):
        found[pair.newer] = _hold(
            ledger,
            Elimination(pair.action, pair.newer, pair.evidence, pair.older, lines=pair.lines),
        )
        found.pop(pair.older, None)  # neither goes while they are in doubt
    return list(_hold_unsaid(ledger, [found[path] for path in sorted(found)]))


def _hold_unsaid(ledger: Ledger, proposals: Sequence[Elimination]) -> Iterator[Elimination]:
    """Hold what nobody asked to go and what says something that no note says that stays hot.

    A telegraph stands for its card. It repeats what it was made of, so it stands for nothing else,
    and no more do cards: they go when it says what they say.
    """
    staying = HotNotes(ledger.documents.values())
    for proposal in proposals:
        if proposal.action == "supersede" and not proposal.held:
            staying.gone.add(proposal.path)
    passing = {path for path, d in ledger.documents.items() if kind_of(d) is TELEGRAM}
    passing |= ledger.cards.keys()
    for proposal in proposals:
        if proposal.action in _BY_DISUSE and not proposal.held:
            without = () if proposal.path in ledger.cards else passing - {proposal.path}
            document = ledger.documents[proposal.path]
            yield replace(proposal, held=staying.let_go(document, without=without) or None)
        else:
            yield proposal


def _step_for(ledger: Ledger, document: Document) -> Elimination | None:
    if document.path in ledger.cards:
        return _finished_card(ledger, document)
    if names := superseded_by(document.fields):
        return _superseded(ledger, document, names)
    if kind_of(document) is not None:
        return _failed(ledger, document) or _unused(ledger, document)
    return None


def _superseded(ledger: Ledger, document: Document, names: Sequence[str]) -> Elimination:
    """Rule 3: superseded is archived at once, and links lead to what took its place."""
    stems = {stem_of(name) for name in names}
    linked = sorted(ledger.out.get(document.path, ()))
    heirs = [path for path in linked if ledger.documents[path].stem in stems]
    words = (f"superseded by {', '.join(names)}",)
    held = None if heirs else "the note that supersedes it was not found"
    return Elimination("supersede", document.path, words, next(iter(heirs), None), held)


def _failed(ledger: Ledger, document: Document) -> Elimination | None:
    """Rule 6: an asset goes back to its project where its card is open again, or it fails."""
    reopened = ledger.reopened_sources(document.path)
    successes, failures = ledger.record(document.path)
    has_failed = failures > 0 and failures >= successes
    if not reopened and not has_failed:
        return None
    evidence = [f"made from {path}, which is open again" for path in reopened]
    if has_failed:
        evidence.append(f"{failures} failures, {successes} successes")
    room = _room_of_origin(ledger, document)
    held = None if room else "no card or field says which project it came from"
    return Elimination("return", document.path, tuple(evidence), other=room, held=held)


def _room_of_origin(ledger: Ledger, document: Document) -> str | None:
    cards = [ledger.cards[s.path] for s in ledger.sources(document.path) if s.path in ledger.cards]
    cards += ledger.worked_in(document.path)
    names = [document.text("project"), document.text("project_room")]
    names += [card.document.text("project") for card in cards]
    return next(filter(None, names), None)


def _unused(ledger: Ledger, document: Document) -> Elimination | None:
    """Rules 1 and 2: stale after 90 days without use or inbound link, archived after 90 more.

    Only where a log of use is old enough to say so: without one daily use looks like none.
    """
    path, last = document.path, ledger.last_use(document.path)
    is_stale = document.text("status") == "stale"
    inbound = [p for p in ledger.inbound(path) if not _is_own(ledger, path, p)]
    began = ledger.usage.began
    idle = None if last is None else (ledger.today - last).days
    evidence = (
        f"last use {last}, {idle} days ago",
        f"{len(inbound)} inbound links from notes in use",
        f"use is logged since {began}" if began else "use is not logged",
    )
    is_idle = idle is not None and idle >= UNUSED_DAYS and not inbound
    if is_stale and not is_idle:
        return Elimination("revive", path, evidence)
    if not is_idle or document.text("priority") == "high" or not ledger.tells_disuse:
        return None
    since = field_date(document, "stale_since")
    if not is_stale or since is None:
        return Elimination("demote", path, evidence)
    if (ledger.today - since).days >= UNUSED_DAYS:
        return Elimination("archive", path, (*evidence, f"stale since {since}"))
    return None


def _is_own(ledger: Ledger, path: str, source: str) -> bool:
    """Whether a link comes from what the asset was made of, or what was made of it."""
    made_of = {document.path for document in ledger.sources(path)}
    return source in made_of or path in {document.path for document in ledger.sources(source)}


def _finished_card(ledger: Ledger, document: Document) -> Elimination | None:
    """Completed work is archived 90 days after it was distilled, where nobody opened it since."""
    card = ledger.cards[document.path]
    completed = field_date(document, "completed") or field_date(document, "last_updated")
    if card.state != "completed" or completed is None or ledger.was_used_lately(document.path):
        return None
    for path in sorted(ledger.back.get(document.path, ())):
        telegraph = ledger.documents[path]
        names_it = telegraph.text("corridor_card") in (document.stem, card.task_id)
        if kind_of(telegraph) is TELEGRAM and names_it and not telegraph.is_cold:
            distilled = max(completed, field_date(telegraph, "date") or completed)
            if (ledger.today - distilled).days < UNUSED_DAYS:
                return None
            evidence = (f"completed {completed}", f"distilled {distilled} in {path}")
            return Elimination("finish", document.path, evidence, other=path)
    return None


def _hold(ledger: Ledger, proposal: Elimination) -> Elimination:
    """Rule 7, and rule 5's second half: hands off what is in use, disputed or not committed."""
    touched = [proposal.path, proposal.other]
    why = proposal.held
    if proposal.action in _LEAVING and ledger.was_used_lately(proposal.path):
        why = f"opened or cited on {ledger.usage.last(proposal.path)}; it stays for 90 days"
    if proposal.action not in ("supersede", "revive") and proposal.path in ledger.disputed:
        why = "party to an open conflict"
    if any(path in ledger.uncommitted for path in touched):
        why = "has edits that are not committed to git"
    return replace(proposal, held=why)
