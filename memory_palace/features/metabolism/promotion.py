"""Compile a note into an asset of the reflection wing, or an asset into the constitution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from unicodedata import normalize

from memory_palace.changes.changing import Plan
from memory_palace.changes.composing import (
    compose_note,
    edit_fields,
    make_slug,
    one_line,
    record_decision,
)
from memory_palace.changes.operations import Create, Operation, Replace
from memory_palace.config import Rooms
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.assets import (
    CONSTITUTION,
    KINDS,
    WING,
    AssetKind,
    kind_of,
)
from memory_palace.features.metabolism.gates import (
    LEAST_DAYS,
    PromotionGate,
    constitution_gates,
    reflection_gates,
)
from memory_palace.features.metabolism.ledger import Ledger
from memory_palace.notes.document import Document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.rooms import stem_of

_COST = "Cost of deviation"
_ITEM = re.compile(r"^(\d{1,9})[.)] ", re.MULTILINE)


def gates_for(
    ledger: Ledger, path: str, kind: AssetKind | None, *, sections: Mapping[str, str]
) -> list[PromotionGate]:
    """Return the gates between a note and a kind; those of the reflection wing without one."""
    if kind is not KINDS["constitution"]:
        return reflection_gates(ledger, path)
    given = {name.casefold(): text for name, text in sections.items()}
    cost = given.get(_COST.casefold(), "") or kind.find(ledger.documents[path], _COST)
    return constitution_gates(ledger, path, cost_of_deviation=cost)


def draft_sections(
    ledger: Ledger, path: str, kind: AssetKind, *, sections: Mapping[str, str]
) -> dict[str, str]:
    """Return the sections of an asset: as given, else as the note has them, else from its links.

    Raise ``UsageError`` for a section that the kind does not have.
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
    """Return what makes an asset of a note.

    Raise ``CheckFailedError`` naming every closed gate and every missing section.
    """
    document = ledger.documents[path]
    if kind_of(document) is KINDS["constitution"]:
        raise UsageError(f"{path} is already a candidate; a person decides on it (--decided-by)")
    gates = gates_for(ledger, path, kind, sections=sections)
    drafted = draft_sections(ledger, path, kind, sections=sections)
    closed = [str(gate) for gate in gates if not gate.is_open]
    closed += [f'no {name}; add --section "{name}=…"' for name in kind.missing(drafted)]
    if closed:
        listed = "".join(f"\n{line}" for line in closed)
        raise CheckFailedError(f"{path} cannot become a {kind.name}:{listed}")
    asset = _render(document, kind, drafted, ledger.rooms, today=ledger.today.isoformat())
    stem = stem_of(asset.path)
    promoted = [*document.texts("promoted_to"), stem]
    change = (asset, edit_fields(document, {"promoted_to": promoted}))
    return Plan(change, f"promote {path} as {kind.name}", tuple(map(str, gates)))


def plan_amendment(ledger: Ledger, path: str, *, decided_by: str, deciders: Sequence[str]) -> Plan:
    """Return what makes a candidate a rule, by the recorded decision of one of the ``deciders``.

    Raise ``CheckFailedError`` where a test no longer holds, a section is absent, or somebody else
    decides.
    """
    document = ledger.documents[path]
    decided_by = _find_decider(decided_by, deciders)
    if document.text("decision").casefold() in ("accepted", "rejected"):
        raise UsageError(f"{path} was {document.text('decision')} already")
    kind = KINDS["constitution"]
    cost = kind.find(document, _COST)
    gates = constitution_gates(ledger, path, cost_of_deviation=cost)
    # A candidate may be younger than what it was made from.
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


def _find_decider(name: str, deciders: Sequence[str]) -> str:
    """Return a name as the settings have it; letter case, white space and forms of letters aside.

    Raise ``CheckFailedError`` where they name nobody, or not this one.
    """
    wanted = _fold(one_line(name, "the name of the person who decides (--decided-by)"))
    if not deciders:
        raise CheckFailedError(
            "nobody may decide on the constitution yet; name who may in palace.yaml, such as "
            "`deciders: [Ilse Brandt]`, and run the command again"
        )
    found = next((decider for decider in deciders if _fold(decider) == wanted), None)
    if found is None:
        raise CheckFailedError(
            f"{' '.join(name.split())} is not among those who decide on the constitution "
            f'({", ".join(deciders)}); run the command with --decided-by "{deciders[0]}", or '
            "have the name added to `deciders` in palace.yaml"
        )
    return found


def _fold(name: str) -> str:
    return " ".join(normalize("NFKC", name).casefold().split())


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


def _render(
    document: Document,
    kind: AssetKind,
    drafted: Mapping[str, str],
    rooms: Rooms,
    *,
    today: str,
) -> Create:
    title = document.title
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
    path = rooms.path_of(f"{WING}/{kind.folder}/{make_slug(title)}_{today}.md")
    sections = {name: drafted[name] for name in kind.sections}
    return compose_note(path, str(fields["title"]), fields, sections, source=document.stem)
