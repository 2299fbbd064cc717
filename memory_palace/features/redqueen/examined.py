"""Notes as the Red Queen sees them: the cue, and the prose that questions are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memory_palace.features.memories.form import is_own_line, is_own_section, read_form
from memory_palace.features.memories.memory_values import Memory
from memory_palace.features.memories.reviews import Review
from memory_palace.language.markers import drop_markers
from memory_palace.markdown.markup import Markup, strip_markup
from memory_palace.notes.document import Document, split_sections


@dataclass(frozen=True, slots=True)
class Cue:
    """All of a memory that the Learner may see: never its content."""

    memory_id: str
    subject: str
    anchors: tuple[str, ...] = ()
    """Anchor terms and other names."""
    image: str = ""
    """Without its verification token."""

    def __str__(self) -> str:
        """Return all it says, one part a line."""
        return "\n".join(part for part in (self.subject, *self.anchors, self.image) if part)


@dataclass(frozen=True, slots=True)
class ExaminedMemory:
    """One note, or one memory, as the Red Queen sees it. No token is in it."""

    cue: Cue
    """The only part that the Learner may see."""
    content: str
    """Prose that questions are made from; no metadata."""
    smashin: int
    """SMASHIN SCOPE, 0 to 12."""
    confidence: float
    """From 0 to 1, when it was last reviewed."""
    idle_days: float
    """Days since it was last reviewed or written."""

    @classmethod
    def of(
        cls, memory: Memory, *, content: str | None = None, idle_days: float = 0.0
    ) -> ExaminedMemory:
        """Make one from a memory; ``content`` is Markdown in place of the memory's own."""
        names = tuple(name for anchor in memory.anchors if (name := drop_markers(anchor).strip()))
        image = drop_markers(memory.image).strip()
        cue = Cue(memory.id, drop_markers(memory.subject).strip(), names, image)
        prose = strip_markup(drop_markers(memory.content if content is None else content)).strip()
        return cls(cue, prose, memory.smashin_score, memory.confidence, idle_days)


Memories = Mapping[str, ExaminedMemory]
"""Every memory of the palace, by id."""


def may_change(document: Document) -> bool:
    """Say whether a note may be examined and added to: it is neither cold nor pinned."""
    return not (document.is_cold or document.problem or document.text("pinned") == "true")


def examine(document: Document, reviews: Sequence[Review] = (), *, today: date) -> ExaminedMemory:
    """Return one note as the Red Queen sees it."""
    memory = read_form(document).to_memory(reviews)
    return ExaminedMemory.of(
        memory,
        content="\n\n".join(split_sections(blank_own_sections(document.body)).values()),
        idle_days=_idle_days(document, memory.last_retrieved, today),
    )


def _idle_days(document: Document, last_retrieved: date | None, today: date) -> float:
    written = (document.text(key)[:10] for key in ("updated", "modified", "date", "created"))
    for text in (last_retrieved.isoformat() if last_retrieved else "", *written):
        try:
            return float(max(0, (today - date.fromisoformat(text)).days))
        except ValueError:
            continue
    return 0.0


def blank_own_sections(body: str) -> str:
    """Return a body with empty lines for the product's own sections, at any level of heading.

    Those are the image of a memory, its anchors, marks, links, figures and verification.
    """
    lines, level = body.split("\n"), 0
    headings = {h.first: h for h in Markup(body).headings if not h.is_nested}
    for number in range(len(lines)):
        heading = headings.get(number)
        if heading is not None and not (level and heading.level > level):
            level = heading.level if is_own_section(heading.text) else 0
        if level or is_own_line(lines[number]):
            lines[number] = ""
    return "\n".join(lines)
