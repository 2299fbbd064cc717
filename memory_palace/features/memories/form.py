"""The Markdown form of memories: read as it stands, not judged; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_palace.features.memories.memory_values import (
    BY_PERSON,
    MOST_FACTORS,
    NEW_CONFIDENCE,
    Factor,
    Mark,
    Memory,
)
from memory_palace.features.memories.reviews import Review
from memory_palace.features.memories.smashin import count_score
from memory_palace.features.memories.verification import find_tokens
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import (
    LEAD,
    Document,
    replace_section,
    split_lines,
    split_sections,
)
from memory_palace.notes.frontmatter import split_front_matter, write_front_matter
from memory_palace.notes.note import decode_note, withhold

MEMORY_TYPE = "memory"
IMAGE, CONTENT, VERIFICATION = "Image", "Content", "Verification"
LINKS, SMASHIN, METADATA = "Links", "SMASHIN SCOPE", "Metadata"
LOCUS, ANCHOR, ANCHORS = "Locus", "Anchor", "Anchors"
"""Two list items above the first section, and a section of anchors, one a list item."""
_SECTIONS = (IMAGE, CONTENT, VERIFICATION, LINKS, SMASHIN, METADATA, ANCHORS)
_BESIDE_PROSE = frozenset(_SECTIONS) - {CONTENT}

_ITEM = re.compile(r"^[ \t]*[-*+][ \t]++\**([\w ]+?)\**:\**[ \t]*(.*)$", re.M)
_LABELLED = re.compile(r"^[ \t]*[-*+][ \t]+\**(?:anchors?|locus)\**:.*$", re.I | re.M)
_BULLET = re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
_MARK = re.compile(
    r"^[ \t]*[-*+][ \t]+\[(?P<tick>[ xX])\][ \t]+\**(?P<name>\w+)\**[ \t]*+"
    r"(?P<rest>:.*|\(by [^()\n]+\)[ \t]*)?$",
    re.M,
)
_BY = re.compile(r"\(by ([^()\n]+)\)\Z")
"""At the end of a line of the list of factors: who says so."""
_STATES = r"\b{}(?:\*\*)?[ \t]*+[:=]?(?:\*\*)?[ \t]*"
"""What leads to a figure: ``confidence 4/5``, ``**Confidence:** 80%``, ``**Confidence**: .8``."""
STATED_SCORE = re.compile(
    rf"({_STATES.format('smashin(?:[ ]+scope)?')})(\d{{1,9}})([ \t]*/[ \t]*12\b)", re.I
)
_CREATED = re.compile(rf"{_STATES.format('created')}(\d{{4}}-\d{{2}}-\d{{2}})\b", re.I)
_REVIEWED = re.compile(
    rf"{_STATES.format('(?:last )?(?:retrieved|reviewed)')}(\d{{4}}-\d{{2}}-\d{{2}})\b", re.I
)
_CONFIDENCE = re.compile(
    rf"{_STATES.format('confidence')}(\d+(?:\.\d+)?|\.\d+)[ \t]*(/[ \t]*5|%)?", re.I
)


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
    marks: tuple[Mark, ...]
    stated_score: int | None
    stated_confidence: float | None
    created: date | None
    last_retrieved: date | None

    def to_memory(self, reviews: Sequence[Review] = ()) -> Memory:
        """Return the memory, with the confidence and the date of its last review in the log.

        What Metadata states of them counts where there is no review. Figures out of bounds count
        as unknown: ``lint`` names them.
        """
        score = count_score(self.marks) if self.marks else self.stated_score or 0
        confidence, last_retrieved = self.stated_confidence, self.last_retrieved
        if reviews:
            confidence, last_retrieved = reviews[-1].confidence, reviews[-1].time.date()
        if confidence is None or not 0 <= confidence <= 1:
            confidence = NEW_CONFIDENCE
        return Memory(
            id=self.path,
            subject=self.title,
            image=self.sections.get(IMAGE, ""),
            content=self.sections.get(CONTENT, ""),
            smashin_score=score if score <= MOST_FACTORS else 0,
            verify_tokens=self.tokens,
            anchors=tuple(dict.fromkeys((*self.names, *self.anchors))),
            locus=self.locus,
            links=self.sections.get(LINKS, ""),
            marks=self.marks,
            created=self.created,
            last_retrieved=last_retrieved,
            confidence=confidence,
        )


def is_memory(document: Document) -> bool:
    """Say whether a note is a memory: by its type, or by having both an image and a content."""
    if document.text("type"):
        return document.text("type").casefold() == MEMORY_TYPE
    return bool(document.section(IMAGE) and document.section(CONTENT))


def blank_beside(body: str) -> str:
    """Return the body of a memory, the lines empty that say nothing of its subject.

    Those are the image, and what stands beside the content: links, marks, figures, anchors.
    """
    lines, is_beside = body.split("\n"), False
    headings = {h.first: h for h in Markup(body).headings if h.level <= 2 and not h.is_nested}
    for number in range(len(lines)):
        if (heading := headings.get(number)) is not None:
            is_beside = heading.level == 2 and is_own_section(heading.text)
        if is_beside or is_own_line(lines[number]):
            lines[number] = ""
    return "\n".join(lines)


def is_own_section(name: str) -> bool:
    """Say whether a section of this name says nothing of the subject of a memory."""
    return next(iter(_spell({name: ""}))) in _BESIDE_PROSE


def is_own_line(line: str) -> bool:
    """Say whether a line is the list item of the anchors or of the locus."""
    return _LABELLED.fullmatch(line) is not None


def read_form(document: Document) -> Form:
    """Take a memory note apart, tokens included: a ``Document`` itself is without them."""
    text, _ = withhold(decode_note(document.data, document.path)[0], document.path)
    body = text[split_front_matter(text).end :]
    sections = _spell(split_sections(body))
    items = [(name.casefold(), value) for name, value in _ITEM.findall(sections.get(LEAD, ""))]
    metadata = sections.get(METADATA, "")
    return Form(
        path=document.path,
        title=document.title,
        names=document.texts("aliases"),
        body=body,
        body_first_line=document.body_first_line,
        sections=sections,
        tokens=find_tokens(body),
        anchors=_read_anchors(items, sections.get(ANCHORS, "")),
        locus=dict(items).get(LOCUS.casefold(), "").strip(),
        marks=read_marks(sections.get(SMASHIN, "")),
        stated_score=int(found[2]) if (found := STATED_SCORE.search(metadata)) else None,
        stated_confidence=_read_confidence(metadata),
        created=_read_date(_CREATED, metadata),
        last_retrieved=_read_date(_REVIEWED, metadata),
    )


def read_memory(document: Document, reviews: Sequence[Review] = ()) -> Memory:
    """Return a note as a memory, as its ``reviews`` left it."""
    return read_form(document).to_memory(reviews)


def read_marks(text: str) -> tuple[Mark, ...]:
    """Read the list of factors; items that name none are passed over, of two the last counts."""
    known = {factor.value: factor for factor in Factor}
    marks: dict[Factor, Mark] = {}
    for match in _MARK.finditer(text):
        factor = known.get(match["name"].casefold().replace("colour", "color"))
        if factor is not None:
            rest = (match["rest"] or "").rstrip()
            by = _BY.search(rest)
            reason = rest[: by.start()] if by else rest
            marks[factor] = Mark(
                factor,
                match["tick"] in "xX",
                reason.removeprefix(":").strip(),
                by[1].strip() if by else BY_PERSON,
            )
    return tuple(marks[factor] for factor in Factor if factor in marks)


def _spell(sections: Mapping[str, str]) -> dict[str, str]:
    names = {name.casefold(): name for name in _SECTIONS} | {"smashin": SMASHIN}
    spelled: dict[str, str] = {}
    for name, text in sections.items():
        spelled.setdefault(names.get(name.casefold(), name), text)
    return spelled


def _read_anchors(items: Sequence[tuple[str, str]], section: str) -> tuple[str, ...]:
    """Return the terms of the list items, then of the section, each once."""
    texts = [value for name, value in items if name in (ANCHOR.casefold(), ANCHORS.casefold())]
    texts += [_BULLET.sub("", line) for line in section.split("\n")]
    terms = (term.strip() for text in texts for term in text.split(","))
    return tuple(dict.fromkeys(term for term in terms if term))


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


def render_memory(memory: Memory, *, today: date) -> str:
    """Return a new note for a memory."""
    matter: dict[str, object] = {"title": memory.subject, "type": MEMORY_TYPE, "date": today}
    lead = [
        f"- {label}: {text}"
        for label, text in ((LOCUS, memory.locus), (ANCHOR, ", ".join(memory.anchors)))
        if text
    ]
    missing = [token for token in memory.verify_tokens if f": {token}]" not in memory.image]
    image = " ".join([memory.image.strip(), *(f"[Verify: {token}]" for token in missing)])
    parts = [f"# {memory.subject}", "\n".join(lead), f"## {IMAGE}", image.strip()]
    parts += [f"## {CONTENT}", memory.content.strip()]
    parts += [f"## {LINKS}", memory.links.strip()] if memory.links else []
    parts += [f"## {SMASHIN}", render_marks(memory.marks)] if memory.marks else []
    stated = (
        f"SMASHIN {memory.smashin_score}/{MOST_FACTORS}, created {today}, "
        f"confidence {memory.confidence * 5:g}/5"
    )
    parts += [f"## {METADATA}", stated]
    return write_front_matter(matter) + "\n\n".join(part for part in parts if part) + "\n"


def render_marks(marks: Iterable[Mark]) -> str:
    """Return the factor map as a task list, one factor a line."""
    lines = []
    for mark in marks:
        reason = f": {' '.join(mark.reason.split())}" if mark.reason else ""
        by = "" if mark.by == BY_PERSON else f" (by {mark.by})"
        tick = "x" if mark.is_present else " "
        lines.append(f"- [{tick}] {mark.factor.value.capitalize()}{reason}{by}")
    return "\n".join(lines)


def state_score(path: str, data: bytes, score: int) -> bytes:
    """Write the score into ``Metadata``, where one is stated, or at the end of it."""
    body = split_lines(path, data)[2]
    section = body.find_section(METADATA)
    lines = body.text.split("\n")[section.first : section.end] if section else []
    text = "\n".join(lines).strip()
    if STATED_SCORE.search(text):
        text = STATED_SCORE.sub(rf"\g<1>{score}\g<3>", text, count=1)
    else:
        text = f"{text}\nSMASHIN {score}/{MOST_FACTORS}".lstrip()
    return replace_section(path, data, METADATA, text)
