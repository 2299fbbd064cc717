"""Read notes as memories: subject, anchors, image, content, and what is known about review."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_palace.language.prose import strip_markup
from memory_palace.notes.document import LEAD, Document
from memory_palace.redqueen.values import Cue

FORM_SECTIONS = ("image", "content")
"""A note that has one of these sections is a memory in the form of source document 000."""
_LIST_ITEM = re.compile(r"^[ \t]*[-*][ \t]+\**(anchor|locus)s?\**:\**[ \t]*(.*)$", re.I | re.M)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
SECTION = "Anchors"
"""Section of anchors, one a list item, of a note that is not in the form."""
_HIDDEN = frozenset({"image", "verification", "links", "metadata", SECTION.casefold()})
"""Sections of the form that are no content."""
_CONFIDENCE = re.compile(r"\bconfidence:?\s+(\d(?:\.\d+)?)\s*(/\s*5)?", re.I)
_SMASHIN = re.compile(r"\bsmashin(?: scope)?:?\s+(\d{1,2})\s*/\s*12", re.I)
_REVIEWED = re.compile(r"\b(?:last retrieved|reviewed):?\s+(\d{4}-\d{2}-\d{2})", re.I)
_DEFAULT_CONFIDENCE = 0.6
"""A new memory starts at 3 of 5 (source document 000)."""


@dataclass(frozen=True, slots=True)
class NoteMemory:
    """A note as the Red Queen sees it."""

    cue: Cue
    content: str
    links: tuple[str, ...]
    smashin: int
    confidence: float
    idle_days: float


def read_memories(
    documents: Mapping[str, Document], links: Mapping[str, Sequence[str]], *, today: date
) -> dict[str, NoteMemory]:
    """Return a memory for every note that may be examined, by path.

    ``links`` says which notes each note leads to. Left out are cold and pinned notes, those that
    cannot be read, and those without prose. Private text is not in a ``Document`` at all.
    """
    found: dict[str, NoteMemory] = {}
    for path, document in documents.items():
        is_fixed = document.is_cold or document.problem or document.text("pinned") == "true"
        content = "" if is_fixed else read_content(document)
        if content:
            found[path] = _read(document, content, links.get(path, ()), today)
    known = found.keys()
    return {
        path: NoteMemory(
            memory.cue, memory.content, tuple(link for link in memory.links if link in known),
            memory.smashin, memory.confidence, memory.idle_days,
        )
        for path, memory in found.items()
    }  # fmt: skip


def read_cue(document: Document) -> Cue:
    """Return what the Learner may see of a note; a ``Document`` holds no token."""
    image = document.section("image").strip()
    names = (*document.texts("aliases"), *anchors_of(document))
    return Cue(document.path, document.title, tuple(dict.fromkeys(names)), image)


def anchors_of(document: Document) -> tuple[str, ...]:
    """Return the terms of the list item ``Anchor`` above the first section, or of their own."""
    lead = document.sections.get(LEAD, "")
    items = [match[2] for match in _LIST_ITEM.finditer(lead) if match[1].casefold() == "anchor"]
    items += [line.strip().lstrip("-*+ ") for line in document.section(SECTION).split("\n")]
    return tuple(term.strip() for item in items for term in item.split(",") if term.strip())


def is_memory_form(document: Document) -> bool:
    """Say whether the note is a memory in the form, and so has a place for an image."""
    return any(document.section(name) for name in FORM_SECTIONS)


def read_content(document: Document) -> str:
    """Return the prose of a note: no markup, code, token, image or metadata."""
    parts = [text for name, text in document.sections.items() if name.casefold() not in _HIDDEN]
    text = _LIST_ITEM.sub("", _COMMENT.sub(" ", "\n\n".join(parts)))
    return strip_markup(text).strip()


def _read(document: Document, content: str, links: Sequence[str], today: date) -> NoteMemory:
    metadata = document.section("metadata")
    score = _SMASHIN.search(metadata)
    return NoteMemory(
        cue=read_cue(document),
        content=content,
        links=tuple(dict.fromkeys(link for link in links if link != document.path)),
        smashin=min(12, int(score[1])) if score else 0,
        confidence=_confidence(metadata),
        idle_days=_idle_days(document, metadata, today),
    )


def _confidence(metadata: str) -> float:
    match = _CONFIDENCE.search(metadata)
    if match is None:
        return _DEFAULT_CONFIDENCE
    value = float(match[1]) / 5 if match[2] else float(match[1])
    return min(1.0, value)


def _idle_days(document: Document, metadata: str, today: date) -> float:
    reviewed = _REVIEWED.search(metadata)
    written = (document.text(key) for key in ("updated", "modified", "date", "created"))
    for text in (reviewed[1] if reviewed else "", *written):
        try:
            return float(max(0, (today - date.fromisoformat(text[:10])).days))
        except ValueError:
            continue
    return 0.0
