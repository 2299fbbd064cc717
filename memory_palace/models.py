"""The values that travel between layers. All are frozen; none of them does I/O."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""One embedding, unit length, shape ``(dimension,)``."""
Matrix: TypeAlias = NDArray[np.float32]
"""One embedding per text, unit length each, shape ``(texts, dimension)``."""
Scores: TypeAlias = NDArray[np.float32]
"""One score per row of a snapshot, shape ``(rows,)``; 0 means "no evidence"."""

Priority: TypeAlias = Literal["high", "medium", "low"]
DateSource: TypeAlias = Literal["front matter", "file name", "git", "mtime"]

TextProblem: TypeAlias = Literal["front matter", "encoding", "secret", "private", "link", "comment"]
ProblemKind: TypeAlias = (
    TextProblem | Literal["unreadable", "too large", "name", "manifest", "index", "defect"]
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a person should know about one file."""

    path: str
    """POSIX path relative to the root."""
    line: int | None
    """1-based line in the file as stored, where there is one."""
    kind: ProblemKind
    message: str
    is_failure: bool = False
    """Whether the note (or manifest line, or a fact) was left out, which makes the run exit 7."""

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


class FileStat(NamedTuple):
    """What change detection compares before it reads a file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Link:
    """One Obsidian link, ``[[target#heading|alias]]`` or ``![[target]]``."""

    target: str
    """The part before ``#`` and ``|``, stripped; empty for a link into the same note."""
    line: int
    heading: str | None = None
    alias: str | None = None
    is_embed: bool = False


@dataclass(frozen=True, slots=True)
class NoteDate:
    """When a note is from, and who says so."""

    timestamp: float
    """Seconds since the epoch, UTC."""
    source: DateSource

    @property
    def day(self) -> str:
        """The day as ``2026-03-01``; empty where only the file gives one: that of a copy, often."""
        if self.source == "mtime":
            return ""
        return datetime.fromtimestamp(self.timestamp, UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class Validity:
    """From when to when what a note says holds, as far as it says so itself."""

    valid_from: float | None = None
    valid_until: float | None = None
    """Seconds since the epoch, inclusive on both sides."""
    superseded_by: tuple[str, ...] = ()
    """What took its place: paths or names, as written."""

    def holds_at(self, moment: float) -> bool:
        """Whether a moment is not before it began, nor after it ended."""
        is_begun = self.valid_from is None or self.valid_from <= moment
        return is_begun and (self.valid_until is None or moment <= self.valid_until)


ALWAYS = Validity()
"""That of a note that says nothing of it."""


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """What the index keeps of a live note."""

    path: str
    title: str
    type: str
    """Effective: front matter, then manifest, then the room's default."""
    priority: Priority | None
    """Effective; ``None`` where nobody said."""
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    entities: tuple[str, ...]
    links: tuple[Link, ...]
    date: NoteDate
    is_evergreen: bool
    is_cold: bool
    problems: tuple[Problem, ...]
    validity: Validity = ALWAYS


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """What the index keeps of a chunk for showing. The text is read from the note."""

    path: str
    heading_path: tuple[str, ...]
    first_line: int
    last_line: int
    digest: str
    """The first 32 hexadecimal digits of the text digest."""
    preview: str
    """The first 200 characters of the text on one line, control characters made visible."""
    validity: Validity = ALWAYS
    """Of a claim that the note itself says is superseded."""


@dataclass(frozen=True, slots=True)
class TimeReading:
    """How an expression of time was read."""

    text: str
    first: date
    last: date
    """Inclusive on both sides."""
    certainty: float
    """In (0, 1]; below .5 it may well be a topic: "in winter the cells die"."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Exact conditions on notes, applied before ranking."""

    type: str | None = None
    priority: Priority | None = None
    room: str | None = None
    since: float | None = None
    until: float | None = None
    """Seconds since the epoch, inclusive on both sides."""
    folder: tuple[str, ...] = ()
    """Folders, relative to the root: notes in or below any of them pass."""
    tags: tuple[str, ...] = ()
    """Notes with every one of them, or a tag nested in it, pass."""
    when: tuple[TimeReading, ...] = ()
    """Passages that are from one of these times by the word of their notes, or name it, pass."""
    written_by: float | None = None
    """Notes that say, in front matter or by their name, that they are of later days alone do not
    pass."""

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class FiredAnchor:
    """An anchor that a question touched."""

    anchor: str
    """As it is shown."""
    kind: str
    """What it is: curated, project, entity, title, link, name; ``pronoun`` for a project that the
    question only points at."""

    def __str__(self) -> str:
        return f"{self.anchor} ({self.kind})"


@dataclass(frozen=True, slots=True)
class AnchorEvidence:
    """What the anchors of a question lead to: one signal of the ranking."""

    rows: NDArray[np.int64]
    """Rows of the snapshot, ascending."""
    scores: Scores
    """One per row, in [0, 1]: how surely an anchor leads there."""
    fired: tuple[FiredAnchor, ...]
    capped: tuple[str, ...]
    """The source of each note that may fill only part of an answer, else empty; () where all
    may."""
    source_cap: float
    """The largest share of an answer that one of those may fill."""

    @property
    def answered_by(self) -> Literal["anchors", "pronoun", "nothing"]:
        """What fired; where nothing did, the ranking goes without anchors."""
        if not self.fired:
            return "nothing"
        return "pronoun" if self.fired[-1].kind == "pronoun" else "anchors"


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question after parsing: the same value drives every signal."""

    text: str
    as_of: float
    """The moment the question is asked at, seconds since the epoch."""
    filters: Filters = field(default_factory=Filters)
    vector: Vector | None = None
    """``None`` where the text is empty (a listing) or the index has no vectors."""
    anchors: AnchorEvidence | None = None
    """Where the profile asks anchors."""
    rows: NDArray[np.int64] | None = None
    """Where only some rows may answer: those that hold what the question quotes, ascending."""
    unmatched: tuple[str, ...] = ()
    """What the question quotes and no note holds."""
    locale: str = ""
    """By which its dates of digits are read."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """One line of a score: the signal's own value and what it adds to the score."""

    signal: str
    value: float
    weight: float
    contribution: float


ELLIPSIS = "…"
"""Stands where something was left out."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, a turn or a row of a note, as it stands there."""

    text: str
    """Whole, unless it alone is more than there is room for: ``…`` stands where it was cut."""
    first_line: int
    last_line: int
    place: int
    """Of two pieces with successive numbers nothing stands between."""
    joint: str
    """The white space between the piece before and this one, in the note."""
    value: float
    """How well it answers: words of the question in it and around it, each about 1."""
    is_verbatim: bool
    """Whether it is code or the row of a table, whose white space counts."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One ranked note with its best passage, and why it ranks there."""

    path: str
    title: str
    score: float
    """Rounded to 6 decimals; equals the rounded sum of the contributions."""
    contributions: tuple[Contribution, ...]
    chunk: ChunkRecord
    snippet: str
    """One line: the best piece, or the preview of the index."""
    note: NoteRecord
    role: Literal["core", "neighbor"] = "core"
    linked_from: str | None = None
    """For a neighbor: the path of the hit it is linked with."""
    folded: int = 0
    """How many near-identical hits were folded into this one."""
    preferred: str = ""
    """Why it stands above one that says about the same: newer than that, or took its place."""
    disputed_in: tuple[str, ...] = ()
    """Paths of the open conflicts that the note is party to."""
    confidence: float | None = None
    """How sure it is that the note answers, in [0, 1]; ``None`` where nothing was asked."""
    pieces: tuple[Piece, ...] = ()
    """What of the note answers, in order. Empty in a listing, for a neighbor, and where the note
    is no longer what was indexed."""

    @property
    def text(self) -> str:
        """What answers, as it stands in the note; ``…`` on a line where something is left out.

        Without pieces the preview of the index, and nothing for a neighbor.
        """
        if not self.pieces:
            return self.snippet if self.role == "core" else ""
        first, *rest = self.pieces
        parts, place = [first.text], first.place
        for piece in rest:
            parts += [piece.joint if piece.place == place + 1 else f"\n{ELLIPSIS}\n", piece.text]
            place = piece.place
        return "".join(parts)

    @property
    def superseded(self) -> Validity:
        """How long the claim held that answers, where the note says that it is superseded."""
        return self.chunk.validity

    @property
    def is_superseded(self) -> bool:
        """Whether what answers is a claim that something took the place of."""
        return self.superseded != ALWAYS

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of ``text`` in the note; of the passage where that is a preview."""
        if self.pieces:
            return self.pieces[0].first_line, self.pieces[-1].last_line
        return self.chunk.first_line, self.chunk.last_line


def cut_confidence(confidence: float | None) -> float | None:
    """Return a confidence in hundredths, cut rather than rounded: .749 is no .75."""
    return None if confidence is None else int(confidence * 100 + 1e-9) / 100


PERHAPS = 0.06
"""From this confidence on a note is worth reading; where none has it, nothing answers."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The ranked answer to one query."""

    text: str
    profile: str
    mode: Literal["vector", "lexical", "listing"]
    embedder: str | None
    hits: tuple[Hit, ...]
    freshness: Literal["current", "stale", "unchecked"] = "unchecked"
    behind: int = 0
    """How many notes differ from the index."""
    awaiting: int = 0
    """Passages that words alone can find so far: a build has not made their vectors yet."""
    anchors: AnchorEvidence | None = None
    """Where anchors were asked: which fired, and which way answered."""
    times: tuple[TimeReading, ...] = ()
    """How the expressions of time that count for the answer were read."""
    unmatched_quotes: tuple[str, ...] = ()
    """What the question has in quotation marks and no note holds."""
    is_answered: bool = True
    """Whether the confidence reaches what was demanded; of a listing, whether it has notes."""
    languages: tuple[str, ...] = ()
    """Those whose stemmers the index was made with, to mark the words that were found."""
    unread_by: str = ""
    """The embedder of the index, where it cannot read the language of the question."""

    @property
    def confidence(self) -> float | None:
        """That of the first hit, 0 without any; ``None`` where nothing was asked."""
        if self.mode == "listing":
            return None
        return (self.hits[0].confidence or 0.0) if self.hits else 0.0

    @property
    def may_answer(self) -> bool:
        """Whether the question is not answered, and perhaps is: from ``PERHAPS`` on."""
        return not self.is_answered and (self.confidence or 0.0) >= PERHAPS

    def worth_reading(self) -> QueryResult:
        """Return the answer as it is read: without hits that are less sure than ``PERHAPS``.

        The first hit stays, alone where nothing answers, and so do notes linked with hits that do.
        """
        kept, keeps = list[Hit](), True
        for place, hit in enumerate(self.hits):
            if hit.role == "core":
                keeps = not place or hit.confidence is None or hit.confidence >= PERHAPS
            if keeps:
                kept.append(hit)
        return replace(self, hits=tuple(kept))

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]


@dataclass(frozen=True, slots=True)
class Recollection:
    """What comes to mind when somebody says something, or nothing."""

    spoken: bool
    """Whether there is anything to say; without, ``text`` and ``hits`` are empty."""
    confidence: float
    """How sure it is that what was said refers to a note, in [0, 1]."""
    text: str
    """What is said: places and days of notes with sentences of theirs, within the budget."""
    hits: tuple[Hit, ...]
    """Those that are told, the sentences of each as its pieces."""
    mode: Literal["vector", "lexical"]
    freshness: Literal["current", "stale", "unchecked"] = "unchecked"
    behind: int = 0
    """How many notes differ from the index."""
