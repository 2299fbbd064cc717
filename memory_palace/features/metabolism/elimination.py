"""Reverse elimination: propose to demote, archive, return or dispute notes, by countable rules.

Every proposal has its evidence. No rule deletes a note or decides a contradiction.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import Literal, TypeAlias

from memory_palace.features.checking.contradictions import find_contradictions
from memory_palace.features.checking.wording import read_claims, split_prose
from memory_palace.features.metabolism.ledger import (
    CONSTITUTION,
    TELEGRAM,
    Ledger,
    field_date,
    is_protected,
    kind_of,
)
from memory_palace.features.tasks.conflicts import read_statements
from memory_palace.language.words import STOP_STEMS, plain_words, tokenize
from memory_palace.markdown.markup import Markup
from memory_palace.notes.dating import superseded_by
from memory_palace.notes.document import Document
from memory_palace.notes.note import stem_of, withhold
from memory_palace.notes.superseding import blank_claims, find_claims

LineRange: TypeAlias = tuple[int, int]
DUPLICATE_SHARE = 0.7
"""Jaccard overlap of words above which two assets of a kind are duplicates."""
_SHOWN = 100
"""Most characters of a statement in a reason."""
_ADDRESS = re.compile(r"https?://[^\s)\]>\"]+")
_NAMES_ALONE = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?(?:(?:\[\[[^\[\]\n]*\]\][ \t,;]*)+|[^\s:;,|()\[\]]+\.md[ \t]*)$", re.M
)
"""A line with only wikilinks or a path."""
_WORD = re.compile(r"\w+")
EliminationAction: TypeAlias = Literal[
    "supersede", "return", "revive", "demote", "archive", "finish", "merge", "contradiction"
]
UNUSED_DAYS = 90
"""Days without use after which an asset is stale, and again until it is archived; also the days
after which finished work that was distilled is archived."""
_LEAVING = frozenset({"supersede", "return", "archive", "finish"})
"""Actions that move a note."""
_BY_DISUSE = frozenset({"archive", "finish"})
"""Actions without a person's request: they require that other notes say all that a note says."""


@dataclass(frozen=True, slots=True)
class Elimination:
    """One proposed action for one note, and its evidence."""

    action: EliminationAction
    path: str
    evidence: tuple[str, ...]
    other: str | None = None
    """The note that takes its place, or the one it is in doubt with."""
    held: str | None = None
    """Why it is not carried out now, although the rule says so."""
    lines: tuple[LineRange, LineRange] | None = None
    """Contradicting lines of the other note and of this one."""


def find_proposals(ledger: Ledger) -> list[Elimination]:
    """Return the proposals, at most one per note, sorted by path."""
    found: dict[str, Elimination] = {}
    for path, document in ledger.documents.items():
        is_free = not document.is_cold and not is_protected(document)
        if is_free and (proposal := _step_for(ledger, document)):
            found[path] = _hold(ledger, proposal)
    for pair in find_pairs(ledger):
        found[pair.path] = _hold(ledger, pair)
        found.pop(pair.other or "", None)  # neither note is moved while their pair is disputed
    return list(_hold_unsaid(ledger, [found[path] for path in sorted(found)]))


def _hold_unsaid(ledger: Ledger, proposals: Sequence[Elimination]) -> Iterator[Elimination]:
    """Yield the proposals, holding unrequested moves of notes with a statement of no staying note.

    Statements of telegraphs and cards count only for the archiving of cards: both repeat other
    notes, and may be archived themselves.
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
    """Return the proposal of rule 3: archive a superseded note and redirect links to its heir."""
    stems = {stem_of(name) for name in names}
    linked = sorted(ledger.out.get(document.path, ()))
    heirs = [path for path in linked if ledger.documents[path].stem in stems]
    words = (f"superseded by {', '.join(names)}",)
    held = None if heirs else "the note that supersedes it was not found"
    return Elimination("supersede", document.path, words, next(iter(heirs), None), held)


def _failed(ledger: Ledger, document: Document) -> Elimination | None:
    """Return rule 6's proposal: an asset with a reopened card or failures returns to a project."""
    reopened = ledger.reopened_sources(document.path)
    successes, failures = ledger.record(document.path)
    has_failed = failures > 0 and failures >= successes
    if not reopened and not has_failed:
        return None
    evidence = [f"made from {path}, which is open again" for path in reopened]
    if has_failed:
        evidence.append(f"{failures} failures, {successes} successes")
    cards = [ledger.cards[s.path] for s in ledger.sources(document.path) if s.path in ledger.cards]
    projects = [document.text("project"), document.text("project_room")]
    projects += [c.document.text("project") for c in (*cards, *ledger.worked_in(document.path))]
    room = next(filter(None, projects), None)
    held = None if room else "no card or field says which project it came from"
    return Elimination("return", document.path, tuple(evidence), other=room, held=held)


def _unused(ledger: Ledger, document: Document) -> Elimination | None:
    """Return the proposal of rules 1 and 2: stale after 90 unused days, archived after 90 more.

    Unused needs no inbound link and a usage log that is old enough to show disuse.
    """
    path, last = document.path, ledger.last_use(document.path)
    is_stale = document.text("status") == "stale"
    made_of = {source.path for source in ledger.sources(path)}
    inbound = [
        other
        for other in ledger.inbound(path)
        if other not in made_of and path not in {d.path for d in ledger.sources(other)}
    ]
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


def _finished_card(ledger: Ledger, document: Document) -> Elimination | None:
    """Return the proposal to archive a completed card 90 days after its telegraph, if unused."""
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
    """Return a proposal held by rules 5 and 7: note in use, disputed, or not committed to git."""
    touched = [proposal.path, proposal.other]
    why = proposal.held
    if proposal.action in _LEAVING and ledger.was_used_lately(proposal.path):
        why = f"opened or cited on {ledger.usage.last(proposal.path)}; it stays for 90 days"
    if proposal.action not in ("supersede", "revive") and proposal.path in ledger.disputed:
        why = "party to an open conflict"
    if any(path in ledger.uncommitted for path in touched):
        why = "has edits that are not committed to git"
    return replace(proposal, held=why)


def find_pairs(ledger: Ledger) -> list[Elimination]:
    """Return pairs of contradicting or duplicate assets; each asset is in at most one pair.

    The older asset of a pair is ``other``. Pairs with a conflict, open or closed, are skipped.
    """
    assets = [
        document
        for document in ledger.documents.values()
        if not document.is_cold
        and (document.place == CONSTITUTION or kind_of(document) not in (None, TELEGRAM))
        and not superseded_by(document.fields)
        and document.path not in ledger.disputed
    ]
    assets.sort(key=lambda d: (d.text("date"), d.path))
    pairs: list[Elimination] = []
    taken: set[str] = set()
    for pair in chain(_contradictions(assets), _duplicates(assets)):
        both = frozenset((pair.path, pair.other or ""))
        if not both & taken and both not in ledger.settled:
            pairs.append(pair)
            taken |= both
    return pairs


def _contradictions(ordered: Sequence[Document]) -> Iterator[Elimination]:
    """Yield pairs of contradicting statements, found by the tests of ``palace verify``."""
    for found in find_contradictions([read_statements(document) for document in ordered]):
        ends = found.first, found.second
        said = (f"{end.place} says “{end.text}”" for end in ends)
        lines = ((ends[0].first_line, ends[0].last_line), (ends[1].first_line, ends[1].last_line))
        evidence = (*said, f"they differ: {found.reason}")
        yield Elimination("contradiction", ends[1].note, evidence, other=ends[0].note, lines=lines)


def _duplicates(ordered: Sequence[Document]) -> Iterator[Elimination]:
    words = {document.path: frozenset(plain_words(document.body)) for document in ordered}
    for older, newer in combinations(ordered, 2):
        one, other = words[older.path], words[newer.path]
        share = len(one & other) / max(1, len(one | other))
        if share > DUPLICATE_SHARE and kind_of(older) is kind_of(newer):
            evidence = (f"shared words {share:.3f}, above {DUPLICATE_SHARE}",)
            yield Elimination("merge", newer.path, evidence, other=older.path)


class HotNotes:
    """Index from statements to the hot notes that contain them."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.gone: set[str] = set()
        """Paths of notes to be archived in the same run."""
        self._needed: dict[str, str] = {}
        self._notes: dict[str, dict[str, None]] = defaultdict(dict)
        """Paths of notes by folded statement."""
        for document in documents:
            for statement in () if document.is_cold else _statements(document):
                self._notes[_key(statement)][document.path] = None

    def let_go(self, document: Document, *, without: Collection[str] = ()) -> str:
        """Return why a note must stay; or return nothing and add it to ``gone`` if others cover it.

        Notes that cover one already gone must stay in this run. Lines of links only are ignored.
        Statements of the notes in ``without`` do not count.
        """
        if document.path in self._needed:
            return f"{self._needed[document.path]} goes because this note says what it said"
        if withhold(document.data.decode("utf-8", "replace"), document.path)[1]:
            return "holds something private, which is not compared"
        away = {document.path, *self.gone, *without}
        said = list(_statements(document))
        others = [sorted(self._notes[_key(each)].keys() - away) for each in said]
        unsaid = [each for each, notes in zip(said, others, strict=True) if not notes]
        if not unsaid:
            self.gone.add(document.path)
            self._needed |= {notes[0]: document.path for notes in others}
            return ""
        first = unsaid[0] if len(unsaid[0]) <= _SHOWN else f"{unsaid[0][: _SHOWN - 1]}…"
        if len(unsaid) == 1:
            return f"says a thing that no other hot note says: {first}"
        return f"says {len(unsaid)} things that no other hot note says, first: {first}"


def _statements(document: Document) -> Iterator[str]:
    """Yield a note's sentences with content words, lines of code, and URLs."""
    body = blank_claims(document.body, find_claims(document.body))
    said = dict.fromkeys(split_prose(read_claims(_NAMES_ALONE.sub("", body))))
    yield from (each for each in said if set(tokenize(each)) - STOP_STEMS)
    lines = zip(body.split("\n"), Markup(body).fenced, strict=True)
    code = (line.strip() for line, is_fenced in lines if is_fenced)
    yield from (line for line in code if _key(line) and not line.startswith(("```", "~~~")))
    yield from dict.fromkeys(_ADDRESS.findall(body))


def _key(statement: str) -> str:
    return " ".join(_WORD.findall(statement.casefold()))
