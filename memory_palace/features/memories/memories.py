"""Find, index, write, score, lint and review the memories of a palace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property, reduce
from typing import TYPE_CHECKING

from memory_palace.changes.changing import (
    Outcome,
    Plan,
    change_notes,
    find_note,
    read_notes,
    write_file,
)
from memory_palace.changes.composing import note_path
from memory_palace.changes.journal import Create, Replace, grow
from memory_palace.embedding.registry import Embedder
from memory_palace.errors import UsageError
from memory_palace.features.memories.form import (
    FORGOTTEN_CONFIDENCE,
    IMAGE,
    LOG,
    RECALLED_CONFIDENCE,
    SMASHIN,
    Factor,
    Form,
    Mark,
    Memory,
    Review,
    Standing,
    blank_beside,
    count_score,
    is_memory,
    load_reviews,
    read_form,
    read_memory,
    render_marks,
    render_memory,
    stand,
    state_score,
    to_record,
)
from memory_palace.features.memories.hierarchy import HierarchicalIndex
from memory_palace.features.memories.smashin import band_of, detect_factors, merge_marks
from memory_palace.features.memories.verification import (
    VisibleWords,
    check_tokens,
    drop_token,
    lint_memory,
    lint_tokens,
)
from memory_palace.graph.resolve import fold_name
from memory_palace.kinds import Flaw, TokenCheck
from memory_palace.notes.document import Document, Library, replace_section
from memory_palace.palace import Feature, Palace, Verb
from memory_palace.retrieval.question import check_room
from memory_palace.shown import Shown
from memory_palace.table import load

if TYPE_CHECKING:
    from memory_palace.features.checking.verify import Verified

COMMAND = "memory"
MEMORIES_ROOM = "reflection_wing/memories"


@dataclass(frozen=True)
class MemoryNotes:
    """All notes of a palace as read from disk, and the memories among them."""

    library: Library
    documents: tuple[Document, ...]
    """Notes of the memories in path order, without cold notes."""
    reviews: Mapping[str, Sequence[Review]]
    """Reviews by path of the memory, oldest first."""

    def find(self, name: str) -> Document:
        """Return the note of a memory by path, stem, title, alias or anchor.

        Raise ``UsageError`` for an unknown or ambiguous name, and for a note that is no memory.
        """
        document = find_note(self.library, self.find_anchored(name) or name)
        if not is_memory(document):
            raise UsageError(
                f"{document.path} is not a memory: it has neither the sections Image and Content "
                "nor `type: memory`; `palace memory new` writes one"
            )
        return document

    def find_anchored(self, name: str) -> str | None:
        return self._by_anchor.get(fold_name(name))

    def read(self, document: Document) -> Memory:
        return read_memory(document, self.reviews.get(document.path, ()))

    def lint(self, document: Document) -> list[Flaw]:
        return lint_memory(read_form(document), self.corpus, self.forms)

    @cached_property
    def _by_anchor(self) -> Mapping[str, str]:
        """Memory path by folded anchor, for anchors of one memory that no note has as a name."""
        taken = {
            fold_name(name) for d in self.library.documents.values() for name in (d.path, *d.names)
        }
        found: dict[str, set[str]] = {}
        for memory in self.memories:
            for anchor in map(fold_name, memory.anchors):
                found.setdefault(anchor, set()).add(memory.id)
        return {
            anchor: next(iter(paths))
            for anchor, paths in found.items()
            if len(paths) == 1 and anchor not in taken
        }

    @cached_property
    def memories(self) -> tuple[Memory, ...]:
        return tuple(map(self.read, self.documents))

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        return tuple(read_form(document) for document in self.documents)

    @cached_property
    def corpus(self) -> VisibleWords:
        """The visible words of all notes; a token among them proves nothing."""
        return VisibleWords(
            {
                path: "\n".join((document.title, *document.texts("aliases"), document.body))
                for path, document in self.library.documents.items()
            }
        )


def read_memory_notes(palace: Palace, library: Library | None = None) -> MemoryNotes:
    """Return the notes and memories of a palace, read from disk unless ``library`` is given.

    The index is not used.
    """
    read = library or read_notes(palace)
    found = tuple(d for d in read.documents.values() if not d.is_cold and is_memory(d))
    return MemoryNotes(read, found, load_reviews(palace.paths))


def show_memory(palace: Palace, name: str) -> Memory:
    """Return one memory with its tokens, and log that it was opened."""
    notes = read_memory_notes(palace)
    memory = notes.read(notes.find(name))
    palace.note_use("opened", memory.id)
    return memory


def list_memories(palace: Palace, *, domain: str | None = None) -> list[Memory]:
    """Return the memories, or one domain's, by path; raise ``UsageError`` for no such domain."""
    memories = list(read_memory_notes(palace).memories)
    wanted = None if domain is None else find_domain(memories, domain)
    return [memory for memory in memories if wanted in (None, memory.domain)]


def open_hierarchy(palace: Palace, *, by_words: bool = False) -> HierarchicalIndex:
    """Return the hierarchical index of the memories on disk, with cosines if the index has vectors.

    Memories are embedded on every call, which suits hundreds of them. ``by_words`` skips cosines.
    """
    memories = read_memory_notes(palace).memories
    embedder = None if by_words else find_embedder(palace)
    return HierarchicalIndex.of(memories, embedder=embedder)


def find_embedder(palace: Palace) -> Embedder | None:
    """Return the embedder of the index, or ``None`` if there is no index or no vectors."""
    if not palace.paths.commit.exists() or not palace.snapshot().commit.dimension:
        return None
    return palace.embedder()


def find_domain(memories: Sequence[Memory], name: str) -> str:
    """Return the domain with this full name or last folder; raise ``UsageError`` unless unique."""
    domains = sorted({memory.domain for memory in memories})
    found = [d for d in domains if name.casefold() in (d.casefold(), d.casefold().split("/")[-1])]
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} domains match" if found else "no domain is called"
    raise UsageError(f"{problem} {name!r}; the domains are {', '.join(found or domains)}")


def plan_reviews(palace: Palace, *, today: date | None = None) -> list[tuple[Memory, Standing]]:
    """Return all memories with their standings, by due date, then by lowest confidence."""
    day = today or datetime.now(UTC).date()
    notes = read_memory_notes(palace)
    found = [
        (memory, stand(memory, notes.reviews.get(memory.id, ()), today=day))
        for memory in notes.memories
    ]
    return sorted(found, key=lambda pair: (pair[1].due, pair[1].confidence, pair[0].id))


def record_review(
    palace: Palace,
    name: str,
    *,
    is_recalled: bool,
    confidence: float | None = None,
    now: datetime | None = None,
) -> Standing:
    """Append a review to the log and return the memory's new standing; the note is not changed.

    ``confidence`` is from 0 to 1; its default depends on ``is_recalled``.
    """
    moment = now or datetime.now(UTC)
    document = read_memory_notes(palace).find(name)
    memory = read_memory(document)
    usual = RECALLED_CONFIDENCE if is_recalled else FORGOTTEN_CONFIDENCE
    sure = usual if confidence is None else confidence
    review = Review(memory.id, moment, is_recalled, sure, memory.smashin_score)
    write_file(
        palace,
        lambda: grow(palace.paths, LOG, [to_record(review)]),
        command=COMMAND,
        reason=f"review {memory.id}",
    )
    reviews = load_reviews(palace.paths)[memory.id]
    return stand(read_memory(document, reviews), reviews, today=moment.date())


@dataclass(frozen=True, slots=True)
class WrittenMemory(Outcome):
    """The written note of a new memory, and its flaws."""

    domain: str | None = None
    """Folder of memories it was filed in; null for none."""
    flaws: tuple[Flaw, ...] = ()

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
    """Factors and score of one memory, and the change that writes them into its note."""

    path: str
    score: int
    band: str
    factors: tuple[Mark, ...]
    change: Outcome

    def lines(self) -> Iterable[str]:
        yield f"{self.score}/12 {self.band}  {self.path}"
        marks = {mark.factor: mark for mark in self.factors}
        for factor in Factor:
            said, sign = "not judged; words cannot show it", "?"
            if mark := marks.get(factor):
                sign = "+" if mark.is_present else "-"
                said = f"{mark.reason} ({mark.by})" if mark.reason else f"({mark.by})"
            yield f"  {sign}  {factor.value:<10}  {said}"
        yield from self.change.lines()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not as_json:
            yield from self.change.remarks(as_json=as_json)


def new_memory(
    palace: Palace,
    subject: str,
    *,
    image: str = "",
    content: str = "",
    tokens: Sequence[str] = (),
    anchors: Sequence[str] = (),
    locus: str = "",
    domain: str = "",
    room: str = MEMORIES_ROOM,
    today: date | None = None,
) -> WrittenMemory:
    """Write a new note for a memory into the folder ``domain`` of ``room``.

    Each of ``tokens`` is three to five unlikely words. The score counts the image's factors.
    """
    folder = "/".join(filter(None, (room, domain)))
    check_room(folder.partition("/")[0])
    marks = detect_factors(image)
    day = today or datetime.now(UTC).date()

    def plan(_: Library) -> Plan:
        path = note_path(palace.paths.rooms, subject, room=folder)
        memory = Memory(
            *(path, subject, image, content),
            smashin_score=count_score(marks),
            verify_tokens=tuple(dict.fromkeys(tokens)),
            anchors=tuple(dict.fromkeys(anchors)),
            locus=locus,
            marks=marks,
        )
        note = Create(path, render_memory(memory, today=day).encode())
        return Plan([note], f"remember {subject}")

    outcome = change_notes(palace, plan, command=COMMAND, apply=True)
    notes = read_memory_notes(palace)
    document = notes.library.documents.get(outcome.paths[-1])
    flaws = () if document is None else notes.lint(document)
    return WrittenMemory.of(outcome, domain=domain or None, flaws=tuple(flaws))


def score_memory(
    palace: Palace, name: str, given: Sequence[Mark] = (), *, apply: bool = False
) -> ScoredMemory:
    """Score a memory again with ``given`` marks; ``apply`` writes factor map and score."""
    found: list[tuple[Form, tuple[Mark, ...]]] = []

    def plan(library: Library) -> Plan:
        document = read_memory_notes(palace, library).find(name)
        form = read_form(document)
        detected = detect_factors(form.sections.get(IMAGE, ""))
        marks = merge_marks(form.marks, detected, given)
        found.append((form, marks))
        after = replace_section(form.path, document.data, SMASHIN, render_marks(marks))
        after = state_score(form.path, after, count_score(marks))
        operations = [Replace(form.path, document.data, after)] if after != document.data else []
        return Plan(operations, f"score {form.title}: {count_score(marks)}/12")

    outcome = change_notes(palace, plan, command=COMMAND, apply=apply)
    form, marks = found[-1]
    score = count_score(marks)
    return ScoredMemory(form.path, score, band_of(score), marks, outcome)


def lint_memories(palace: Palace, names: Sequence[str] = ()) -> list[Flaw]:
    """Return the flaws of the named memories, or of all."""
    notes = read_memory_notes(palace)
    documents = [notes.find(name) for name in names] if names else notes.documents
    return [flaw for d in documents for flaw in notes.lint(d)]


@dataclass(frozen=True, slots=True)
class MemoryProof:
    """Verification tokens of one memory and their flaws, for checking an answer."""

    path: str
    tokens: tuple[str, ...]
    flaws: Sequence[Flaw]

    def drop(self, text: str) -> str:
        return reduce(drop_token, self.tokens, text)

    def check(self, answer: str) -> TokenCheck:
        return TokenCheck(self.path, check_tokens(answer, self.tokens))


class MemoryKind:
    """Implementation of ``kinds.NoteKind`` for memories."""

    def __init__(self, palace: Palace, library: Library | None = None) -> None:
        self._palace, self._library = palace, library

    @cached_property
    def _notes(self) -> MemoryNotes:
        return read_memory_notes(self._palace, self._library)

    def includes(self, document: Document) -> bool:
        return is_memory(document)

    def find(self, name: str) -> str | None:
        return self._notes.find_anchored(name)

    def blank(self, body: str) -> str:
        """Return the body of a memory with all lines blank that are not about its subject."""
        return blank_beside(body)

    def proof_of(self, document: Document) -> MemoryProof:
        form, notes = read_form(document), self._notes
        flaws = lint_tokens(form, notes.corpus, notes.forms)
        return MemoryProof(document.path, form.tokens, flaws)


class Memories(Feature):
    """``Palace.memories``: the memories of a palace, in any room."""

    list = Verb(list_memories)
    show = Verb(show_memory)
    hierarchy = Verb(open_hierarchy)
    lint = Verb(lint_memories)
    score = Verb(score_memory)
    new = Verb(new_memory)
    review = Verb(record_review)
    due = Verb(plan_reviews)

    def verify(self, answer: str, against: Sequence[str] = ()) -> Verified:
        """Return the verdicts on every sentence of an answer, as ``palace verify`` does."""
        done: Verified = load("checking.verify:verify")(self.palace, answer, against)
        return done
