"""The Markdown form of a memory: what a note says, read without judging it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from memory_palace.mnemonics.tokens import find_tokens
from memory_palace.mnemonics.values import (
    BY_PERSON,
    MOST_FACTORS,
    NEW_CONFIDENCE,
    Factor,
    LinkKind,
    Mark,
    Memory,
    MemoryLink,
)
from memory_palace.notes.decoding import decode_note
from memory_palace.notes.document import LEAD, Document, split_sections
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.links import find_links
from memory_palace.notes.withholding import withhold

MEMORY_TYPE = "memory"
IMAGE, CONTENT, VERIFICATION = "Image", "Content", "Verification"
LINKS, SMASHIN, METADATA = "Links", "SMASHIN SCOPE", "Metadata"
LOCUS, ANCHOR = "Locus", "Anchor"

_ITEM = re.compile(r"^[ \t]*[-*+][ \t]+\**([\w ]+?)\**:\**[ \t]*(.*)$", re.M)
_MARK = re.compile(
    r"^[ \t]*[-*+][ \t]+\[(?P<tick>[ xX])\][ \t]+\**(?P<name>\w+)\**"
    r"(?:[ \t]*:[ \t]*(?P<reason>.*?))?(?:[ \t]*\(by (?P<by>[^()\n]+)\))?[ \t]*$",
    re.M,
)
_STATED_SCORE = re.compile(r"\bsmashin(?:[ \t]+scope)?\**:?[ \t]+(\d+)[ \t]*/[ \t]*12\b", re.I)
_CREATED = re.compile(r"\bcreated\**:?[ \t]+(\d{4}-\d{2}-\d{2})\b", re.I)
_RETRIEVED = re.compile(r"\blast retrieved\**:?[ \t]+(\d{4}-\d{2}-\d{2})\b", re.I)
_CONFIDENCE = re.compile(r"\bconfidence\**:?[ \t]+(\d+(?:\.\d+)?)[ \t]*(/[ \t]*5|%)?", re.I)


@dataclass(frozen=True, slots=True)
class Form:
    """A memory note taken apart. Nothing is mended: what is wrong is for ``lint`` to say."""

    path: str
    title: str
    names: tuple[str, ...]
    """Aliases of the note."""
    body: str
    """As stored, verification markers included; private spans and secrets blanked."""
    body_first_line: int
    sections: Mapping[str, str]
    """By name, in the spelling of the form where that is only a matter of case."""
    tokens: tuple[str, ...]
    anchors: tuple[str, ...]
    locus: str
    links: tuple[MemoryLink, ...]
    marks: tuple[Mark, ...]
    stated_score: int | None
    stated_confidence: float | None
    created: date | None
    last_retrieved: date | None

    @property
    def counted_score(self) -> int:
        """The factors that are marked as present."""
        return len({mark.factor for mark in self.marks if mark.is_present})


def is_memory(document: Document) -> bool:
    """Say whether a note is a memory: by its type, or by having both an image and a content."""
    if document.text("type"):
        return document.text("type").casefold() == MEMORY_TYPE
    return bool(document.section(IMAGE) and document.section(CONTENT))


def read_form(document: Document) -> Form:
    """Take a memory note apart, tokens included: a ``Document`` itself is without them."""
    text, _ = withhold(decode_note(document.data, document.path)[0], document.path)
    body = text[split_front_matter(text).end :]
    sections = _spell(split_sections(body))
    items = {name.casefold(): value for name, value in _ITEM.findall(sections.get(LEAD, ""))}
    metadata = sections.get(METADATA, "")
    return Form(
        path=document.path,
        title=document.title,
        names=document.texts("aliases"),
        body=body,
        body_first_line=document.body_first_line,
        sections=sections,
        tokens=find_tokens(body),
        anchors=_split_terms(items.get(ANCHOR.casefold(), items.get("anchors", ""))),
        locus=items.get(LOCUS.casefold(), "").strip(),
        links=tuple(_read_links(sections.get(LINKS, ""))),
        marks=read_marks(sections.get(SMASHIN, "")),
        stated_score=int(found[1]) if (found := _STATED_SCORE.search(metadata)) else None,
        stated_confidence=_read_confidence(metadata),
        created=_read_date(_CREATED, metadata),
        last_retrieved=_read_date(_RETRIEVED, metadata),
    )


def read_memory(document: Document) -> Memory:
    """Return a note as a memory. Figures out of bounds count as unknown: ``lint`` names them."""
    form = read_form(document)
    stated = form.stated_score or 0
    score = form.counted_score if form.marks else stated if stated <= MOST_FACTORS else 0
    confidence = form.stated_confidence
    if confidence is None or not 0 <= confidence <= 1:
        confidence = NEW_CONFIDENCE
    return Memory(
        id=form.path,
        subject=form.title,
        image=form.sections.get(IMAGE, ""),
        content=form.sections.get(CONTENT, ""),
        smashin_score=score,
        verify_tokens=form.tokens,
        anchors=tuple(dict.fromkeys((*form.names, *form.anchors))),
        locus=form.locus,
        links=form.links,
        marks=form.marks,
        created=form.created,
        last_retrieved=form.last_retrieved,
        confidence=confidence,
    )


def read_marks(text: str) -> tuple[Mark, ...]:
    """Read the list of factors; items that name none are passed over, of two the last counts."""
    known = {factor.value: factor for factor in Factor}
    marks: dict[Factor, Mark] = {}
    for match in _MARK.finditer(text):
        factor = known.get(match["name"].casefold().replace("colour", "color"))
        if factor is not None:
            marks[factor] = Mark(
                factor,
                match["tick"] in "xX",
                (match["reason"] or "").strip(),
                (match["by"] or BY_PERSON).strip(),
            )
    return tuple(marks[factor] for factor in Factor if factor in marks)


def _spell(sections: Mapping[str, str]) -> dict[str, str]:
    names = {n.casefold(): n for n in (IMAGE, CONTENT, VERIFICATION, LINKS, SMASHIN, METADATA)}
    spelled: dict[str, str] = {}
    for name, text in sections.items():
        spelled.setdefault(names.get(name.casefold(), name), text)
    return spelled


def _split_terms(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(term.strip() for term in text.split(",") if term.strip()))


def _read_links(text: str) -> list[MemoryLink]:
    kinds = {kind.value: kind for kind in LinkKind}
    found: list[MemoryLink] = []
    for line in text.split("\n"):
        item = _ITEM.match(line)
        kind = kinds.get(item[1].strip().casefold() if item else "", LinkKind.RELATED)
        found += [MemoryLink(kind, link.target) for link in find_links(line) if link.target]
    return found


def _read_confidence(metadata: str) -> float | None:
    match = _CONFIDENCE.search(metadata)
    if match is None:
        return None
    unit = (match[2] or "").replace(" ", "")
    return float(match[1]) / {"": 1, "%": 100}.get(unit, 5)


def _read_date(pattern: re.Pattern[str], metadata: str) -> date | None:
    match = pattern.search(metadata)
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None
