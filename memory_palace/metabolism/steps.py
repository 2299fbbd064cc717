"""Proposals carried out: one change for all of them, with a line of evidence for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from memory_palace.changes.changing import Plan
from memory_palace.changes.cold_zone import plan_archive
from memory_palace.changes.operations import Create, Move, Replace
from memory_palace.metabolism.elimination import Elimination
from memory_palace.metabolism.ledger import Ledger
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.rooms import stem_of
from memory_palace.workflow.conflict_notes import make_quote, plan_open

_LOWER = {"high": "medium", "medium": "low", "low": "low", "": "low"}
RAISED_BY = "metabolism"


def carry_out(ledger: Ledger, proposals: Sequence[Elimination]) -> Plan:
    """Return the change for those proposals that nothing holds up."""
    draft = _Draft(ledger, ledger.today.isoformat())
    for proposal in proposals:
        if proposal.held:
            draft.held.append(f"{proposal.action} {proposal.path}: {proposal.held}")
        else:
            draft.take(proposal)
    return draft.finish()


@dataclass(slots=True)
class _Draft:
    ledger: Ledger
    today: str
    texts: dict[str, bytes] = field(default_factory=dict)
    moves: dict[str, Move] = field(default_factory=dict)
    creates: dict[str, Create] = field(default_factory=dict)
    evidence: list[str] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)

    def take(self, proposal: Elimination) -> None:
        path = proposal.path
        document = self.ledger.documents[path]
        match proposal.action:
            case "demote":
                lower = _LOWER.get(document.text("priority").casefold(), "low")
                self._set(path, status="stale", stale_since=self.today, priority=lower)
            case "revive":
                self._set(path, status=None, stale_since=None)
            case "archive" | "finish":
                self._archive(path)
            case "supersede":
                self._succeed(document, proposal.other)
                self._archive(path)
            case "return":
                self._return(document, proposal.other)
            case "merge" | "contradiction":
                self._open(proposal)
        words = "; ".join(proposal.evidence)
        target = f" ({proposal.other})" if proposal.other else ""
        self.evidence.append(f"{proposal.action} {path}{target}: {words}")

    def finish(self) -> Plan:
        """Return the change; texts that came out as they were are left out."""
        documents = self.ledger.documents
        replaced = [
            Replace(path, documents[path].data, text)
            for path, text in sorted(self.texts.items())
            if text != documents[path].data
        ]
        return Plan(
            (*replaced, *self.creates.values(), *self.moves.values()),
            f"reverse elimination: {len(self.evidence)} steps",
            tuple(self.evidence),
            self.redirects,
            held=tuple(self.held),
        )

    def _set(self, path: str, **values: object) -> None:
        before = self.texts.get(path, self.ledger.documents[path].data)
        self.texts[path] = set_fields(path, before, values)

    def _archive(self, path: str) -> None:
        self.moves[path] = plan_archive(self.ledger.rooms, path, year=int(self.today[:4]))

    def _succeed(self, loser: Document, winner: str) -> None:
        """Give the successor the loser's names, so that links by name lead to it."""
        text = self.texts.get(winner, self.ledger.documents[winner].data)
        successor = parse_document(winner, text)
        own = successor.texts("aliases") if successor is not None else ()
        stem = stem_of(winner)
        names = [name for name in (loser.stem, *loser.texts("aliases")) if name != stem]
        self._set(winner, aliases=list(dict.fromkeys([*own, *names])))
        self.redirects[loser.path] = winner

    def _return(self, document: Document, project: str) -> None:
        self._set(document.path, status="returned", returned_at=self.today)
        room = self.ledger.rooms.path_of(f"project_rooms/{project}")
        self.moves[document.path] = Move(document.path, f"{room}/{document.path.split('/')[-1]}")

    def _open(self, proposal: Elimination) -> None:
        older, newer = (self.ledger.documents[p] for p in (proposal.other, proposal.path))
        kind = "duplicate" if proposal.action == "merge" else "contradiction"
        evidence = list(proposal.evidence)
        if kind == "duplicate":
            richer = max((older, newer), key=lambda d: (len(d.body), d is older))
            evidence.append(
                f"the richer of the two is {richer.path}; its aliases can take the other's name"
            )
        lines = proposal.lines or ((None, None), (None, None))
        quotes = [
            make_quote(each, first_line=first, last_line=last)
            for each, (first, last) in zip((older, newer), lines, strict=True)
        ]
        note = plan_open(
            (quotes[0], quotes[1]),
            self.ledger.rooms,
            title=f"{older.title} or {newer.title}",
            kind=kind,
            raised_by=RAISED_BY,
            today=self.today,
            evidence=evidence,
        )
        self.creates[note.path] = note
