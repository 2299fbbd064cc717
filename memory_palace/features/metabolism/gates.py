"""Promotion gates with counted evidence; plans that promote notes to assets and rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_palace.changes.changing import Plan
from memory_palace.changes.composing import (
    compose_note,
    edit_fields,
    make_slug,
    one_line,
    record_decision,
)
from memory_palace.changes.journal import Create, Operation, Replace
from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.distill import MOST_TOKENS
from memory_palace.features.metabolism.ledger import (
    CONSTITUTION,
    KINDS,
    WING,
    AssetKind,
    Ledger,
    field_date,
    kind_of,
)
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document, set_fields
from memory_palace.notes.note import stem_of

LEAST_TASKS = 2
LEAST_USES = 3
"""Fewest uses of a note to promote, checked if usage is logged."""
LEAST_SUCCESS = 0.8
"""Share of successes that a note to promote must exceed."""
LEAST_ROOMS = 2
LEAST_DAYS = 90
"""Lowest age in days of a note that may become part of the constitution."""
_COST = "Cost of deviation"
_ITEM = re.compile(r"^(\d{1,9})[.)] ", re.MULTILINE)
_UNTRUSTED = frozenset(
    "untrusted agent web external import imported chat transcript llm model generated "
    "scraped".split()
)


@dataclass(frozen=True, slots=True)
class PromotionGate:
    """One condition of a promotion, the count for it, and the notes counted."""

    name: str
    is_open: bool
    counted: str
    evidence: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}: {self.counted}"


def reflection_gates(ledger: Ledger, path: str) -> list[PromotionGate]:
    """Return the gates of promoting a note into the reflection wing."""
    return [
        _worked(ledger, path),
        _compressible(ledger.documents[path]),
        _lowers_cost(ledger, path),
        *_always(ledger, path),
    ]


def constitution_gates(ledger: Ledger, path: str, *, cost_of_deviation: str) -> list[PromotionGate]:
    """Return the four tests of a constitution candidate, and the gates of every promotion."""
    document = ledger.documents[path]
    projects = {card.document.text("project") for card in ledger.worked_in(path)} - {""}
    day = field_date(document, "date")
    age = None if day is None else (ledger.today - day).days
    is_stale = document.text("status") == "stale"
    has_cost = bool(cost_of_deviation.strip())
    absent = f'the cost of deviating is missing; add --section "{_COST}=…"'
    cost = "the cost is stated" if has_cost else absent
    held = f"{'undated' if age is None else f'{age} days old'}, {LEAST_DAYS} needed"
    held += ", and stale" if is_stale else ""
    is_old = age is not None and age >= LEAST_DAYS and not is_stale
    worked = f"worked in {len(projects)} project rooms, {LEAST_ROOMS} needed"
    is_wide = len(projects) >= LEAST_ROOMS
    return [
        _worked(ledger, path),
        PromotionGate("deviating is costly", has_cost, cost),
        PromotionGate("a long-term default", is_old, held),
        PromotionGate("not a local trick", is_wide, worked, tuple(sorted(projects))),
        *_always(ledger, path),
    ]


def _worked(ledger: Ledger, path: str) -> PromotionGate:
    cards = tuple(card.path for card in ledger.worked_in(path))
    counted = f"linked with {len(cards)} completed cards, {LEAST_TASKS} needed"
    return PromotionGate("worked in several tasks", len(cards) >= LEAST_TASKS, counted, cards)


def _compressible(document: Document) -> PromotionGate:
    markup = Markup(document.body)
    lines = zip(markup.without_headings().split("\n"), markup.fenced, strict=True)
    tokens = estimate_tokens("\n".join(line for line, is_code in lines if not is_code).strip())
    counted = f"{tokens} tokens, at most {MOST_TOKENS}"
    return PromotionGate("compressible", 0 < tokens <= MOST_TOKENS, counted)


def _lowers_cost(ledger: Ledger, path: str) -> PromotionGate:
    """Return the gate on the share of successes and, if usage is logged long enough, on uses."""
    successes, failures = ledger.record(path)
    share = successes / (successes + failures) if successes + failures else 0.0
    is_open = share > LEAST_SUCCESS
    counted = f"{successes} successes, {failures} failures, more than {LEAST_SUCCESS:.0%} needed"
    if ledger.tells_disuse:
        uses = ledger.usage.count(path) + len(ledger.worked_in(path))
        is_open = is_open and uses >= LEAST_USES
        counted += f"; used {uses} times, {LEAST_USES} needed"
    else:
        counted += "; use is not logged for 90 days yet, so links and cards alone are counted"
    return PromotionGate("lowers cost or error", is_open, counted)


def _always(ledger: Ledger, path: str) -> list[PromotionGate]:
    origins = {
        document.path: why
        for document in (ledger.documents[path], *ledger.sources(path))
        if (why := _distrust(document))
    }
    trust = "; ".join(origins.values()) or "nothing counts against it"
    reopened = tuple(ledger.reopened_sources(path))
    is_finished = not reopened and not ledger.is_open_card(path)
    is_disputed = path in ledger.disputed
    open_card = "a card it was made from is not completed"
    cards = "no card it was made from is open" if is_finished else open_card
    party = "party to an open conflict"
    conflict = f"{party}; resolve that first" if is_disputed else f"not {party}"
    return [
        PromotionGate("trusted origin", not origins, trust, tuple(origins)),
        PromotionGate("finished work", is_finished, cards, reopened),
        PromotionGate("undisputed", not is_disputed, conflict),
    ]


def _distrust(document: Document) -> str:
    """Return why a note's origin is not trusted, or an empty string if it is."""
    for key in ("origin", "trust"):
        if document.text(key).casefold() in _UNTRUSTED:
            return f"{key}: {document.text(key)}"
    if document.fields.get("trusted") is False or document.fields.get("untrusted") is True:
        return "says it is untrusted"
    return ""


def _draft_sections(
    ledger: Ledger, path: str, kind: AssetKind, *, sections: Mapping[str, str]
) -> dict[str, str]:
    """Return the sections of an asset: given, else from the note, else evidence from its links.

    Raise ``UsageError`` for a given section that the kind does not have.
    """
    known = {name.casefold(): name for name in kind.sections}
    for name in sections:
        if name.casefold() not in known:
            raise UsageError(f"a {kind.name} has {', '.join(kind.sections)}; no {name!r}")
    given = {known[name.casefold()]: text.strip() for name, text in sections.items()}
    document = ledger.documents[path]
    drafted = {name: given.get(name) or kind.find(document, name) for name in kind.sections}
    links = [f"- [[{card.document.stem}]]" for card in ledger.worked_in(path)]
    if kind.evidence and not drafted[kind.evidence] and kind is not KINDS["constitution"]:
        drafted[kind.evidence] = "\n".join([f"- [[{document.stem}]]", *links])
    if kind is KINDS["constitution"]:
        drafted |= _constitution_sections(ledger, path, drafted, links)
    return drafted


def plan_promotion(
    ledger: Ledger, path: str, kind: AssetKind, *, sections: Mapping[str, str]
) -> Plan:
    """Return the plan that promotes a note to an asset of a kind.

    Raise ``CheckFailedError`` listing closed gates and missing sections.
    """
    document = ledger.documents[path]
    if kind_of(document) is KINDS["constitution"]:
        raise UsageError(f"{path} is already a candidate; a person decides on it (--decided-by)")
    if kind is KINDS["constitution"]:
        given = {name.casefold(): text for name, text in sections.items()}
        cost = given.get(_COST.casefold(), "") or kind.find(document, _COST)
        gates = constitution_gates(ledger, path, cost_of_deviation=cost)
    else:
        gates = reflection_gates(ledger, path)
    drafted = _draft_sections(ledger, path, kind, sections=sections)
    closed = [str(gate) for gate in gates if not gate.is_open]
    closed += [f'no {name}; add --section "{name}=…"' for name in kind.missing(drafted)]
    if closed:
        listed = "".join(f"\n{line}" for line in closed)
        raise CheckFailedError(f"{path} cannot become a {kind.name}:{listed}")
    title, today = document.title, ledger.today.isoformat()
    fields: dict[str, object] = {
        "title": title if kind_of(document) is None else f"{title} ({kind.name})",
        "type": kind.type,
        "date": today,
        "source": document.stem,
    }
    if document.texts("tags"):
        fields["tags"] = list(document.texts("tags"))
    if kind is KINDS["constitution"]:
        fields["decision"] = "pending"
    place = ledger.rooms.path_of(f"{WING}/{kind.folder}/{make_slug(title)}_{today}.md")
    text = {name: drafted[name] for name in kind.sections}
    asset = compose_note(place, str(fields["title"]), fields, text, source=document.stem)
    promoted = [*document.texts("promoted_to"), stem_of(asset.path)]
    change = (asset, edit_fields(document, {"promoted_to": promoted}))
    return Plan(change, f"promote {path} as {kind.name}", tuple(map(str, gates)))


def plan_amendment(ledger: Ledger, path: str, *, decided_by: str, deciders: Sequence[str]) -> Plan:
    """Return the plan that accepts a candidate as a rule and records who decided.

    Raise ``CheckFailedError`` if a test fails, a section is absent, or ``decided_by`` is not one
    of ``deciders``; ``UsageError`` if the candidate was decided before.
    """
    document = ledger.documents[path]
    if decided_by not in deciders:
        raise CheckFailedError(
            f"{one_line(decided_by, 'the name after --decided-by')} may not decide on the "
            f"constitution, {', '.join(deciders) or 'nobody yet'} may; name who may in "
            "palace.yaml, such as `deciders: [Ilse Brandt]`"
        )
    if document.text("decision").casefold() in ("accepted", "rejected"):
        raise UsageError(f"{path} was {document.text('decision')} already")
    kind = KINDS["constitution"]
    cost = kind.find(document, _COST)
    gates = constitution_gates(ledger, path, cost_of_deviation=cost)
    # A gate also counts as open if a source of the candidate, which may be older, passes it.
    proven = {
        gate.name: gate
        for source in ledger.sources(path)
        for gate in constitution_gates(ledger, source.path, cost_of_deviation=cost)
        if gate.is_open
    }
    gates = [gate if gate.is_open else proven.get(gate.name, gate) for gate in gates]
    drafted = {name: kind.find(document, name) for name in ("Rule", "Proposed wording")}
    closed = [str(gate) for gate in gates if not gate.is_open]
    closed += [f"no {name}; write it there" for name, text in drafted.items() if not text]
    if closed:
        listed = "".join(f"\n{line}" for line in closed)
        raise CheckFailedError(f"{path} cannot become a rule:{listed}")
    today = ledger.today.isoformat()
    fields = {"decision": "accepted", "decided_by": decided_by, "decided_at": today}
    record = set_fields(path, document.data, fields)
    record = record_decision(path, record, f"Accepted, {today}, {decided_by}.")
    wording = drafted["Proposed wording"].strip('"“”').strip()
    rule = _amend(ledger, document, one_line(wording, "the proposed wording"), today, decided_by)
    evidence = (*map(str, gates), f"decided by a person: {decided_by}")
    change = (Replace(path, document.data, record), rule)
    return Plan(change, f"amend the constitution by {path}", evidence)


def _amend(
    ledger: Ledger, candidate: Document, wording: str, today: str, decided_by: str
) -> Operation:
    path = ledger.rooms.path_of(CONSTITUTION)
    rules = ledger.documents.get(path)
    text = rules.data.decode("utf-8").rstrip() if rules else "# Constitution\n"
    number = max((int(n) for n in _ITEM.findall(text)), default=0) + 1
    gap = "\n" if number > 1 else "\n\n"
    rule = (
        f"{number}. **{wording.rstrip('.')}.** Accepted by {decided_by} on {today}, from\n"
        f"   [[{candidate.stem}|its candidate]]."
    )
    data = f"{text}{gap}{rule}\n".encode()
    return Create(path, data) if rules is None else Replace(path, rules.data, data)


def _constitution_sections(
    ledger: Ledger, path: str, drafted: Mapping[str, str], links: Sequence[str]
) -> dict[str, str]:
    cards = ", ".join(link[2:] for link in links)
    rooms = ", ".join(sorted({c.document.text("project") for c in ledger.worked_in(path)} - {""}))
    tests = (
        f"- Verified over several tasks: {cards}.\n"
        f"- Deviating is costly: see below.\n"
        f"- A long-term default: it has held for {LEAST_DAYS} days or more, since "
        f"[[{ledger.documents[path].stem}]].\n"
        f"- Not a local trick: it held in {rooms}."
    )
    return {
        "The four tests": drafted["The four tests"] or tests,
        "Proposed wording": drafted["Proposed wording"] or f'"{" ".join(drafted["Rule"].split())}"',
        "Decision": drafted["Decision"] or "Pending. A person decides.",
    }
