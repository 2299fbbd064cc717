"""Write memories, count their factors, and say what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime

from memory_palace.changes.changing import Plan, change_notes
from memory_palace.changes.composing import note_path
from memory_palace.changes.operations import Create, Replace
from memory_palace.cli.changes import ChangeShown
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.memories.form import (
    IMAGE,
    SMASHIN,
    Form,
    read_form,
    read_memory,
    render_marks,
    render_memory,
    state_score,
)
from memory_palace.features.memories.lint import lint_memory
from memory_palace.features.memories.memories import MemoryNotes, read_memory_notes
from memory_palace.features.memories.memory_values import Factor, Mark, Memory, MemoryLink
from memory_palace.features.memories.smashin import (
    band_of,
    count_score,
    detect_factors,
    find_anti_patterns,
    merge_marks,
)
from memory_palace.kinds import Flaw
from memory_palace.notes.document import Library, parse_document
from memory_palace.notes.sections import replace_section
from memory_palace.retrieval.filters import check_room
from memory_palace.shown import Shown

COMMAND = "memory"
MEMORIES_ROOM = "reflection_wing/memories"


@dataclass(frozen=True, slots=True)
class WrittenMemory(ChangeShown):
    """A new memory, and what could be better about it."""

    domain: str | None
    """Folder of memories it was filed in; null for none."""
    flaws: tuple[Flaw, ...]

    def lines(self) -> Iterable[str]:
        return self.paths

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        made = self.diff.rpartition("\n--- /dev/null\n")[0]
        if made and not as_json:
            yield f"the palace had no such room; it has one now:\n{made.rstrip()}"
        if self.remark:
            yield self.remark
        yield from map(str, self.flaws)


@dataclass(frozen=True, slots=True)
class ScoredMemory(Shown):
    """The factors of one memory, and the change that writes them down."""

    path: str
    score: int
    band: str
    claimed_recall_at_1: str
    factors: tuple[Mark, ...]
    anti_patterns: tuple[str, ...]
    change: ChangeShown

    def lines(self) -> Iterable[str]:
        yield f"{self.score}/12 {self.band}  {self.path}"
        marks = {mark.factor: mark for mark in self.factors}
        for factor in Factor:
            said, sign = "not judged; words cannot show it", "?"
            if mark := marks.get(factor):
                sign = "+" if mark.is_present else "-"
                said = f"{mark.reason} ({mark.by})" if mark.reason else f"({mark.by})"
            yield f"  {sign}  {factor.value:<10}  {said}"
        yield from (f"! {pattern}" for pattern in self.anti_patterns)
        yield from self.change.lines()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not as_json:
            yield f"claimed recall@1 of this band: {self.claimed_recall_at_1}; not measured here"
            yield from self.change.remarks(as_json=as_json)


def draft_memory(
    subject: str,
    *,
    image: str = "",
    content: str = "",
    tokens: Sequence[str] = (),
    anchors: Sequence[str] = (),
    locus: str = "",
    links: Sequence[MemoryLink] = (),
    text: str = "",
) -> Memory:
    """Return a memory from its parts; what ``text`` says in Markdown is used where they are silent.

    ``tokens`` are three to five odd words each, ``links`` lead to other memories.
    """
    draft = read_draft(subject, text)
    return replace(
        draft,
        image=image or draft.image,
        content=content or draft.content,
        verify_token="",
        verify_tokens=tuple(dict.fromkeys((*draft.verify_tokens, *tokens))),
        anchors=tuple(dict.fromkeys((*draft.anchors, *anchors))),
        locus=locus or draft.locus,
        links=(*draft.links, *links),
    )


def read_draft(subject: str, text: str) -> Memory:
    """Return a memory from Markdown: sections of the form, or prose alone, which is its content.

    Raise ``UsageError`` for a text that is marked as private.
    """
    document = parse_document(f"{subject}.md", text.encode())
    if document is None:
        raise UsageError(
            "the text is marked as private, and a private note cannot be recalled; remove the mark"
        )
    memory = replace(read_memory(document), subject=subject)
    if not memory.image and not memory.content:
        memory = replace(memory, content=document.sections.get("", "").strip())
    return memory


def new_memory(
    engine: Engine,
    memory: Memory,
    *,
    domain: str = "",
    room: str = MEMORIES_ROOM,
    tags: Sequence[str] = (),
    today: date | None = None,
) -> WrittenMemory:
    """Write a memory as a new note. Its factors are counted from the words of its image.

    It goes into the folder of its ``domain`` in ``room``, or into the room itself.
    """
    folder = "/".join(filter(None, (room, domain)))
    check_room(folder.partition("/")[0])
    marks = merge_marks(memory.marks, detect_factors(memory.image))
    day = today or datetime.now(UTC).date()

    def create() -> Create:
        path = note_path(engine.paths.rooms, memory.subject, room=folder)
        scored = replace(memory, id=path, marks=marks, smashin_score=count_score(marks))
        return Create(path, render_memory(scored, tags=tags, today=day).encode())

    def plan(_: Library) -> Plan:
        return Plan([create()], f"remember {memory.subject}")

    outcome = change_notes(engine, plan, command=COMMAND, apply=True)
    notes, note = read_memory_notes(engine), create()
    document = parse_document(note.path, note.data)
    flaws = [] if document is None else _lint(read_form(document), notes)
    return WrittenMemory.of(outcome, domain=domain or None, flaws=tuple(flaws))


def score_memory(
    engine: Engine,
    name: str,
    given: Sequence[Mark] = (),
    *,
    apply: bool = False,
) -> ScoredMemory:
    """Count the factors of a memory again, with marks that are given, and write the map."""
    found: list[tuple[Form, tuple[Mark, ...]]] = []

    def plan(library: Library) -> Plan:
        document = read_memory_notes(engine, library).find(name)
        form = read_form(document)
        detected = detect_factors(form.sections.get(IMAGE, ""))
        marks = merge_marks(form.marks, detected, given)
        found.append((form, marks))
        after = replace_section(form.path, document.data, SMASHIN, render_marks(marks))
        after = state_score(form.path, after, count_score(marks))
        operations = [Replace(form.path, document.data, after)] if after != document.data else []
        return Plan(operations, f"score {form.title}: {count_score(marks)}/12")

    outcome = change_notes(engine, plan, command=COMMAND, apply=apply)
    form, marks = found[-1]
    score = count_score(marks)
    return ScoredMemory(
        form.path,
        score,
        *band_of(score),
        factors=marks,
        anti_patterns=tuple(find_anti_patterns(marks, form.tokens)),
        change=ChangeShown.of(outcome),
    )


def lint_memories(engine: Engine, names: Sequence[str] = ()) -> list[Flaw]:
    """Return what is wrong with the memories called so, or with all."""
    notes = read_memory_notes(engine)
    documents = [notes.find(name) for name in names] if names else notes.documents
    return [flaw for d in documents for flaw in _lint(read_form(d), notes)]


def _lint(form: Form, notes: MemoryNotes) -> list[Flaw]:
    return lint_memory(form, notes.corpus, notes.forms)
