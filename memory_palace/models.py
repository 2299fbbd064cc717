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
    """A problem with one file."""

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
    """File attributes that change detection compares before reading a file."""

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
    """The date of a note and its source."""

    timestamp: float
    """Seconds since the epoch, UTC."""
    source: DateSource

    @property
    def day(self) -> str:
        """The day as ``2026-03-01``; empty if only the mtime is known, since copying changes it."""
        if self.source == "mtime":
            return ""
        return datetime.fromtimestamp(self.timestamp, UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class Validity:
    """The period in which a note or claim is valid, as stated in the note."""

    valid_from: float | None = None
    valid_until: float | None = None
    """Seconds since the epoch, inclusive on both sides."""
    superseded_by: tuple[str, ...] = ()
    """The superseding notes: paths or names, as written."""

    def holds_at(self, moment: float) -> bool:
        """Whether a moment, in seconds since the epoch, lies in the period."""
        is_begun = self.valid_from is None or self.valid_from <= moment
        return is_begun and (self.valid_until is None or moment <= self.valid_until)


ALWAYS = Validity()
"""The validity of a note that states none."""


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """The index record of a live note."""

    path: str
    title: str
    type: str
    """Effective: front matter, then manifest, then the room's default."""
    priority: Priority | None
    """Effective; ``None`` if none is stated."""
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
    """The index record of a chunk, for display. The text is read from the note."""

    path: str
    heading_path: tuple[str, ...]
    first_line: int
    last_line: int
    digest: str
    """The first 32 hexadecimal digits of the text digest."""
    preview: str
    """The first 200 characters of the text on one line, control characters made visible."""
    validity: Validity = ALWAYS
    """Validity of a claim that the note marks as superseded."""


@dataclass(frozen=True, slots=True)
class TimeReading:
    """A parsed time expression."""

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
    """Passages pass that are dated in one of these times by their note, or name one."""
    written_by: float | None = None
    """Notes pass unless front matter or file name date them later."""

    def __bool__(self) -> bool:
        return self != Filters()


@dataclass(frozen=True, slots=True)
class FiredAnchor:
    """An anchor that matched a question."""

    anchor: str
    """Display form."""
    kind: str
    """One of curated, project, entity, title, link, name; ``pronoun`` for a project referred to
    without its name."""

    def __str__(self) -> str:
        return f"{self.anchor} ({self.kind})"


@dataclass(frozen=True, slots=True)
class AnchorEvidence:
    """The passages that a question's anchors lead to: the evidence of one signal."""

    rows: NDArray[np.int64]
    """Rows of the snapshot, ascending."""
    scores: Scores
    """The anchor score of each row, in [0, 1]."""
    fired: tuple[FiredAnchor, ...]
    capped: tuple[str, ...]
    """The source of each note if its share of an answer is capped, else empty; () without any
    capped one."""
    source_cap: float
    """Maximum share of an answer for one capped source."""

    @property
    def answered_by(self) -> Literal["anchors", "pronoun", "nothing"]:
        """Which anchors fired; with ``nothing`` the ranking has no anchor signal."""
        if not self.fired:
            return "nothing"
        return "pronoun" if self.fired[-1].kind == "pronoun" else "anchors"


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed question, the input of every signal."""

    text: str
    as_of: float
    """The moment the question is asked at, seconds since the epoch."""
    filters: Filters = field(default_factory=Filters)
    vector: Vector | None = None
    """``None`` if the text is empty (a listing) or the index has no vectors."""
    vote: float = 1.0
    """Weight of the vector, in [0, 1]: less if the embedder reads little of the text."""
    anchors: AnchorEvidence | None = None
    """Set if the profile uses anchors."""
    rows: NDArray[np.int64] | None = None
    """Rows that contain the quoted phrases, ascending; ``None``: all rows may answer."""
    unmatched: tuple[str, ...] = ()
    """Quoted phrases that no note contains."""
    locale: str = ""
    """Locale by which numeric dates are read."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """One line of a score: a signal's value and its contribution to the score."""

    signal: str
    value: float
    weight: float
    contribution: float


ELLIPSIS = "…"
"""Marks omitted text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, dialogue turn or table row of a note, verbatim."""

    text: str
    """Complete, unless it alone exceeds the budget: ``…`` marks the cut."""
    first_line: int
    last_line: int
    place: int
    """Ordinal in the note; pieces with successive numbers are adjacent."""
    joint: str
    """White space in the note between the previous piece and this one."""
    value: float
    """Relevance: the question's words in it and around it, each about 1."""
    is_verbatim: bool
    """Whether it is code or a table row, in which white space is significant."""


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
    """Why it ranks above a near-duplicate: it is newer, or supersedes it."""
    disputed_in: tuple[str, ...] = ()
    """Paths of the open conflicts that the note is party to."""
    confidence: float | None = None
    """Confidence that the note answers, in [0, 1]; ``None`` in a listing."""
    pieces: tuple[Piece, ...] = ()
    """The pieces that answer, in order of the note. Empty in a listing, for a neighbor, and for a
    note changed since it was indexed."""

    @property
    def text(self) -> str:
        """The pieces joined as in the note, with ``…`` on a line of its own for omissions.

        Without pieces the preview of the index, or empty for a neighbor.
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
        """Validity of the answering claim; ``ALWAYS`` unless the note marks it as superseded."""
        return self.chunk.validity

    @property
    def is_superseded(self) -> bool:
        """Whether the answering claim is superseded."""
        return self.superseded != ALWAYS

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of ``text`` in the note; without pieces, of the passage."""
        if self.pieces:
            return self.pieces[0].first_line, self.pieces[-1].last_line
        return self.chunk.first_line, self.chunk.last_line


def cut_confidence(confidence: float | None) -> float | None:
    """Return a confidence truncated to two decimals: .749 becomes .74."""
    return None if confidence is None else int(confidence * 100 + 1e-9) / 100


PERHAPS = 0.06
"""Minimum confidence of a note worth reading; below it no note answers."""


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
    """Passages without vectors yet, found by words only."""
    anchors: AnchorEvidence | None = None
    """The anchors that fired and their evidence; ``None`` if the profile uses none."""
    times: tuple[TimeReading, ...] = ()
    """The parsed time expressions that the answer depends on."""
    unmatched_quotes: tuple[str, ...] = ()
    """What the question has in quotation marks and no note holds."""
    is_answered: bool = True
    """Whether the confidence reaches the minimum; for a listing, whether it has notes."""
    languages: tuple[str, ...] = ()
    """Languages whose stemmers the index uses, for marking matched words."""
    unread_by: str = ""
    """The index's embedder if it does not support the question's language, else empty."""

    @property
    def confidence(self) -> float | None:
        """Confidence of the first hit, 0 without hits; ``None`` for a listing."""
        if self.mode == "listing":
            return None
        return (self.hits[0].confidence or 0.0) if self.hits else 0.0

    @property
    def may_answer(self) -> bool:
        """Whether the confidence is below the minimum and at least ``PERHAPS``."""
        return not self.is_answered and (self.confidence or 0.0) >= PERHAPS

    def worth_reading(self) -> QueryResult:
        """Return the result without hits of a confidence below ``PERHAPS``.

        The first hit is always kept; neighbors are kept with the hit that they follow.
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
    """The notes recalled for an utterance, if any."""

    spoken: bool
    """Whether any note is recalled; if not, ``text`` and ``hits`` are empty."""
    confidence: float
    """Confidence that the utterance refers to a note, in [0, 1]."""
    text: str
    """Places and days of the recalled notes with sentences from them, within the budget."""
    hits: tuple[Hit, ...]
    """The recalled notes, their sentences as pieces."""
    mode: Literal["vector", "lexical"]
    freshness: Literal["current", "stale", "unchecked"] = "unchecked"
    behind: int = 0
    """How many notes differ from the index."""
