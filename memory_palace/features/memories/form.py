"""Memory notes: parse and render image, content, verification token and reviews of a memory.

Parsing does not judge a note, and edits keep all other bytes. The append-only review log is a
source of truth like the notes. The decay rate per score is an assumption.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from memory_palace.changes.journal import read_moves
from memory_palace.config import PalacePaths
from memory_palace.errors import UsageError
from memory_palace.language.visible import find_markers
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
from memory_palace.shown import Shown
from memory_palace.storage import follow_moves, read_records

MOST_FACTORS = 12
NEW_CONFIDENCE = 0.6
"""Confidence of a memory without reviews: 3 of 5 (source document 000)."""


class Factor(StrEnum):
    """The twelve of SMASHIN SCOPE, in the order of its letters."""

    SUBSTITUTE = "substitute"
    MOVEMENT = "movement"
    ABSURD = "absurd"
    SENSORY = "sensory"
    HUMOR = "humor"
    INTERACT = "interact"
    NUMBERS = "numbers"
    SYMBOLS = "symbols"
    COLOR = "color"
    OVERSIZE = "oversize"
    POSITION = "position"
    EMOTION = "emotion"


BY_WORDS = "words"
"""``Mark.by`` of the word detectors, whose marks are recomputed whenever a memory is scored."""
BY_PERSON = "person"


@dataclass(frozen=True, slots=True)
class Mark:
    """One factor of one image: whether it is present, the reason, and the judge."""

    factor: Factor
    is_present: bool
    reason: str = ""
    by: str = BY_PERSON
    """``words``, ``person``, or the name of a model."""


def count_score(marks: Iterable[Mark]) -> int:
    """Return the number of factors that are present, 0 to 12."""
    return len({mark.factor for mark in marks if mark.is_present})


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory. The first seven fields are those of source document 000, in its order.

    Raise ``UsageError`` for a SMASHIN SCOPE outside 0 to 12, or a confidence outside 0 to 1.
    """

    id: str
    """Path of its note."""
    subject: str
    image: str
    """The section ``Image`` as written, ``[Verify: …]`` markers included."""
    content: str
    verify_token: str = ""
    """The first of ``verify_tokens``; empty without a token."""
    smashin_score: int = 0
    embedding: Sequence[float] = ()
    verify_tokens: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    """Short cues and the note's aliases."""
    locus: str = ""
    links: str = ""
    """The section ``Links``, as written."""
    marks: tuple[Mark, ...] = ()
    """The factor map that the score counts; empty if the note only states a number."""
    created: date | None = None
    last_retrieved: date | None = None
    confidence: float = NEW_CONFIDENCE
    """Confidence at the last review, 0 to 1."""

    def __post_init__(self) -> None:
        if type(self.smashin_score) is not int or not 0 <= self.smashin_score <= MOST_FACTORS:
            raise UsageError(
                f"{self.id}: SMASHIN SCOPE must be a whole number from 0 to 12, not "
                f"{self.smashin_score!r}; `palace memory score` counts it"
            )
        if not 0 <= self.confidence <= 1:
            raise UsageError(f"{self.id}: confidence must be from 0 to 1, not {self.confidence!r}")
        tokens = self.verify_tokens or ((self.verify_token,) if self.verify_token else ())
        object.__setattr__(self, "verify_tokens", tokens)
        object.__setattr__(self, "verify_token", tokens[0] if tokens else "")

    @property
    def domain(self) -> str:
        """The folder of the memory's note, by which the hierarchical index is divided.

        It is without ``palace/``, and ``palace`` for a note in no folder.
        """
        return self.id.rpartition("/")[0].removeprefix("palace/") or "palace"


LOG = "reviews.jsonl"
FIBONACCI = (1, 2, 3, 5, 8, 13, 21, 34)
"""Days to the next review after 0, 1, 2 … successful reviews in a row (source document 000)."""
RECALLED_CONFIDENCE, FORGOTTEN_CONFIDENCE = 0.8, 0.4
"""Default confidence of a review by its outcome: 4 of 5 and 2 of 5."""
DECAY_PER_DAY = (0.2, 0.18, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015)
"""Decay rate of confidence by SMASHIN SCOPE 0 to 12 (source document 000): half-lives of 3.5 to 46
days. The document has two more tables, which contradict this one; none is measured."""


@dataclass(frozen=True, slots=True)
class Review:
    """One review, a line of the review log."""

    memory: str
    """Path of the memory's note when it was reviewed."""
    time: datetime
    is_recalled: bool
    confidence: float
    """Right after the review, 0 to 1."""
    smashin: int


@dataclass(frozen=True, slots=True)
class Standing(Shown):
    """Due date and predicted confidence of a memory on a given day."""

    due: date
    confidence: float
    """Predicted for that day."""
    reviews: int
    streak: int
    """Reviews in a row that succeeded, up to the last."""

    def lines(self) -> Iterable[str]:
        return [f"next review on {self.due}, after {self.streak} in a row"]


def to_record(review: Review) -> dict[str, object]:
    """Return a review as a record of the review log, time in UTC."""
    return {
        "time": review.time.astimezone(UTC).isoformat(timespec="seconds"),
        "memory": review.memory,
        "recalled": review.is_recalled,
        "confidence": review.confidence,
        "smashin": review.smashin,
    }


def read_reviews(
    logs: Path, moves: Iterable[tuple[str, str]] = ()
) -> Mapping[str, Sequence[Review]]:
    """Return the reviews by memory path, oldest first; invalid records are skipped.

    ``moves`` are pairs of old and new path, in order; reviews are listed under the new path.
    """
    found: dict[str, list[Review]] = {}
    for review in filter(None, map(_read, read_records(logs / LOG))):
        found.setdefault(review.memory, []).append(review)
    follow_moves(found, moves)
    return {path: sorted(rows, key=lambda row: row.time) for path, rows in found.items()}


def load_reviews(paths: PalacePaths) -> Mapping[str, Sequence[Review]]:
    """Return the reviews of a palace's memories by present path, oldest first."""
    return read_reviews(paths.logs, read_moves(paths))


def stand(memory: Memory, reviews: Sequence[Review], *, today: date) -> Standing:
    """Return the due date and predicted confidence of a memory.

    ``memory`` must have been read with these ``reviews``. A memory without reviews is due one day
    after its creation, or today if the date of its creation is unknown.
    """
    streak = 0
    for review in reversed(reviews):
        if not review.is_recalled:
            break
        streak += 1
    last, confidence = memory.last_retrieved or memory.created, memory.confidence
    if last is None:
        return Standing(today, confidence, 0, 0)
    due = last + timedelta(days=FIBONACCI[min(streak, len(FIBONACCI) - 1)])
    faded = fade(confidence, (today - last).days, memory.smashin_score)
    return Standing(due, faded, len(reviews), streak)


def _read(record: Mapping[str, Any]) -> Review | None:
    try:
        time = datetime.fromisoformat(record["time"])
        confidence, smashin = float(record["confidence"]), int(record["smashin"])
        memory, recalled = record["memory"], record["recalled"]
    except (ValueError, KeyError, TypeError):
        return None
    is_sound = 0 <= confidence <= 1 and 0 <= smashin <= MOST_FACTORS
    if not is_sound or not isinstance(memory, str) or not isinstance(recalled, bool):
        return None
    return Review(memory, time.replace(tzinfo=time.tzinfo or UTC), recalled, confidence, smashin)


def fade(confidence: float, days: float, score: int) -> float:
    """Return the confidence after ``days``: ``C0 · e^(-λt)``; negative ``days`` count as 0."""
    return confidence * math.exp(-DECAY_PER_DAY[score] * max(0.0, days))


MEMORY_TYPE = "memory"
IMAGE, CONTENT, VERIFICATION = "Image", "Content", "Verification"
LINKS, SMASHIN, METADATA = "Links", "SMASHIN SCOPE", "Metadata"
LOCUS, ANCHOR, ANCHORS = "Locus", "Anchor", "Anchors"
"""Labels of list items above the first section, and the section with one anchor per item."""
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
"""The judge of a factor, at the end of its line in the factor list."""
_STATES = r"\b{}(?:\*\*)?[ \t]*+[:=]?(?:\*\*)?[ \t]*"
"""Label before a figure: ``confidence 4/5``, ``**Confidence:** 80%``, ``**Confidence**: .8``."""
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
    """A parsed memory note. Values out of range are kept; ``lint`` reports them."""

    path: str
    title: str
    names: tuple[str, ...]
    """Aliases of the note."""
    body: str
    """Body text with verification markers; private spans and secrets blanked."""
    body_first_line: int
    sections: Mapping[str, str]
    """Text by section name; names of the form's sections are normalized in case."""
    tokens: tuple[str, ...]
    anchors: tuple[str, ...]
    locus: str
    marks: tuple[Mark, ...]
    stated_score: int | None
    stated_confidence: float | None
    created: date | None
    last_retrieved: date | None

    def to_memory(self, reviews: Sequence[Review] = ()) -> Memory:
        """Return the memory, with confidence and date of the last review in ``reviews``.

        Without reviews the section ``Metadata`` counts. Figures out of range count as unknown;
        ``lint`` reports them.
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


def find_tokens(text: str) -> tuple[str, ...]:
    """Return the distinct verification tokens of a text in order; blank markers are skipped."""
    return tuple(dict.fromkeys(marker.token for marker in find_markers(text) if marker.token))


def is_memory(document: Document) -> bool:
    """Return whether a note is a memory: by its type, or without one by Image and Content."""
    if document.text("type"):
        return document.text("type").casefold() == MEMORY_TYPE
    return bool(document.section(IMAGE) and document.section(CONTENT))


def blank_beside(body: str) -> str:
    """Return the body of a memory with all lines blank that are not about its subject.

    Blanked are the image, verification, links, factors, metadata, anchors and locus.
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
    """Return whether a section belongs to the form of a memory and is not ``Content``."""
    return next(iter(_spell({name: ""}))) in _BESIDE_PROSE


def is_own_line(line: str) -> bool:
    """Return whether a line is the list item of the anchors or of the locus."""
    return _LABELLED.fullmatch(line) is not None


def read_form(document: Document) -> Form:
    """Parse a memory note from its bytes, because ``Document.body`` lacks verification tokens."""
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
    """Return a note as a memory, with the state after its ``reviews``."""
    return read_form(document).to_memory(reviews)


def read_marks(text: str) -> tuple[Mark, ...]:
    """Parse a factor list; unknown factors are skipped, and the last mark of a factor counts."""
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
    """Return the Markdown of a new note for a memory."""
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
    """Return the factor map as a Markdown task list."""
    lines = []
    for mark in marks:
        reason = f": {' '.join(mark.reason.split())}" if mark.reason else ""
        by = "" if mark.by == BY_PERSON else f" (by {mark.by})"
        tick = "x" if mark.is_present else " "
        lines.append(f"- [{tick}] {mark.factor.value.capitalize()}{reason}{by}")
    return "\n".join(lines)


def state_score(path: str, data: bytes, score: int) -> bytes:
    """Return a note's bytes with the score in ``Metadata``: replaced if stated, else appended."""
    body = split_lines(path, data)[2]
    section = body.find_section(METADATA)
    lines = body.text.split("\n")[section.first : section.end] if section else []
    text = "\n".join(lines).strip()
    if STATED_SCORE.search(text):
        text = STATED_SCORE.sub(rf"\g<1>{score}\g<3>", text, count=1)
    else:
        text = f"{text}\nSMASHIN {score}/{MOST_FACTORS}".lstrip()
    return replace_section(path, data, METADATA, text)
