"""Check an answer against named notes or search results, and render the result.

Texts for people, programs and agents claim no more than was found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, reduce
from hashlib import sha256
from itertools import chain, groupby, repeat
from operator import attrgetter
from typing import Annotated, NamedTuple, TypedDict

from memory_palace.changes.changing import find_note, read_notes
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.checking.checker import (
    ACCEPTED,
    MEASURED_EMBEDDER,
    REFUSED,
    Passage,
    SentenceCheck,
    Verdict,
    check_answer,
    worst_verdict,
)
from memory_palace.features.checking.differences import Difference
from memory_palace.features.checking.wording import find_sentences
from memory_palace.graph.naming import NoteNames
from memory_palace.index.snapshot import Snapshot
from memory_palace.kinds import (
    Flaw,
    NoteKind,
    Proof,
    TokenCheck,
    TokenVerdict,
    fold_tokens,
    read_kinds,
)
from memory_palace.language.words import is_english
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.note import NoteUnreadable, read_body, read_note, split_line_range
from memory_palace.notes.superseding import blank_claims, find_claims, lines_of
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.shown import ANSWERS, Shown, inner, say_behind
from memory_palace.tools import Said

CITED = 3
"""Most notes cited per sentence: the deciding one, and others it was compared with."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of checking an answer: its sentences, and the tokens of the named memories."""

    sentences: tuple[SentenceCheck, ...]
    tokens: tuple[TokenCheck, ...]
    """One per memory named without a line range, in the order given."""
    flaws: tuple[Flaw, ...]
    by_meaning: bool
    """Whether sentences were compared by vectors, not by words alone."""
    is_searched: bool
    """Whether the palace's own search chose the passages."""
    behind: int
    """Number of notes that differ from the searched index, as far as known."""
    is_english: bool
    """Whether the answer is English, which most tests for differences require."""

    @property
    def verdict(self) -> Verdict:
        return worst_verdict(self.sentences)

    @property
    def token_verdict(self) -> TokenVerdict:
        return fold_tokens(self.tokens)

    @property
    def passes_strictly(self) -> bool:
        """Whether no token is missing or flawed, no sentence contradicted or not found."""
        is_missing = self.token_verdict == TokenVerdict.MISSING
        return not (self.verdict in REFUSED or is_missing or self.flaws)


def verify(palace: Palace, answer: str, against: Sequence[str] = ()) -> Verified:
    """Check every sentence of an answer against notes, lines of notes (``note:10-20``) or folders.

    Without ``against`` the palace is searched, and notes that the answer names count too. A memory
    that is named whole must have a token in the answer. Sentences are compared by meaning where the
    index has vectors of the embedder that the thresholds are for.
    """
    named = read_against(palace, against)
    is_searched = bool(named.folders) or not named.passages
    has_index = palace.paths.commit.exists()

    def drop_tokens(text: str) -> str:
        return reduce(lambda left, proof: proof.drop(left), named.proofs, text)

    text, called, passages, behind = answer, list[str](), named.passages, 0
    near: Iterable[tuple[Passage, ...]] = repeat(())
    if has_index or is_searched:
        text, called = drop_citations(answer, palace.snapshot())
    if is_searched:
        reader = SourceReader(palace)
        sentences = find_sentences(text, drop_tokens)
        asked = [each.text if each.says_something else "" for each in sentences]
        near, behind = reader.search(asked, named.folders)
        # Notes that the answer cites or names are sources even if the search does not find them.
        own = () if named.folders else reader.cut((path, 1, None) for path in called)
        passages = (*passages, *reader.join([*chain.from_iterable(near), *own]))
    by_meaning = has_index and palace.snapshot().commit.embedder == MEASURED_EMBEDDER
    embed_tokens = getattr(palace.embedder(), "embed_tokens", None) if by_meaning else None
    checked = check_answer(text, passages, drop_tokens=drop_tokens, embed_tokens=embed_tokens)
    borne_out = [each.passage for each in checked if each.verdict in ACCEPTED]
    cited = [each.note for each in (*named.passages, *borne_out) if each is not None]
    palace.note_use("cited", *dict.fromkeys([*called, *cited]))
    return Verified(
        tuple(map(_add_others, checked, near)),
        tuple(proof.check(answer) for proof in named.proofs),
        tuple(flaw for proof in named.proofs for flaw in proof.flaws),
        by_meaning=embed_tokens is not None,
        is_searched=is_searched,
        behind=behind,
        is_english=is_english(answer),
    )


def _add_others(check: SentenceCheck, near: Sequence[Passage]) -> SentenceCheck:
    """Return a check with the passages of other notes that the search found for its sentence."""
    passage = check.passage
    if check.verdict == Verdict.NOT_FOUND and (near or not check.score):
        passage = None  # the hits of the search are nearer
    others = [each for each in near if passage is None or each.note != passage.note]
    return replace(check, passage=passage, compared=tuple(others[: CITED - bool(passage)]))


# --- Sources ---

NEAREST = 3
"""Notes searched for per sentence, the best passage of each. With five no more right answers are
accepted, and .05 more wrong ones (40 and 40 on the garden, by words)."""
_NAMED = re.compile(r"\[\[([^\[\]|#\n]+)|[\"“„«]([^\"“”„«»\n]{3,120})[\"”“»]")
"""A wikilink, or quoted text that may be a title."""
_MOST_NAMED = 5
_NARROWING = str.maketrans(dict.fromkeys('#":“”„«»「」『』＂', " "))
"""Query syntax, blanked in a sentence: it must not filter out the passage that contradicts it."""
_LINES = r"(?::[0-9]{1,9}(?:-[0-9]{1,9})?)?"


@dataclass(frozen=True, slots=True)
class Against:
    """The parsed ``against`` arguments: the sources an answer should rest on."""

    passages: tuple[Passage, ...] = ()
    folders: tuple[str, ...] = ()
    """Relative to the root; the search is limited to notes in and below them."""
    proofs: tuple[Proof, ...] = ()
    """Proofs of the notes named without lines; the answer should hold their tokens."""


def read_against(palace: Palace, names: Sequence[str]) -> Against:
    """Read the named notes and folders from disk, so that the index may be behind or absent.

    Raise ``UsageError`` for a name that matches no note, or several.
    """
    if not names:
        return Against()
    library = read_notes(palace)
    kinds = read_kinds(palace, library)
    passages: list[Passage] = []
    folders: list[str] = []
    proofs: list[Proof] = []
    for name in dict.fromkeys(names):
        folder = name.strip("/")
        if folder and any(path.startswith(f"{folder}/") for path in library.documents):
            folders.append(folder)
            continue
        if rooms := [each for each, room in palace.paths.rooms.folders.items() if room == folder]:
            folders += rooms
            continue
        called, first, last = split_line_range(name)
        paths = (path for kind in kinds if (path := kind.find(called)) is not None)
        document = find_note(library, next(paths, called))
        passages += _read_source(document, first, last, kinds)
        if first is None:
            proofs += [kind.proof_of(document) for kind in kinds if kind.includes(document)]
    return Against(tuple(passages), tuple(folders), tuple(proofs))


class _Lines(NamedTuple):
    """Lines of a note on disk, its metadata, and whether its content is as indexed."""

    lines: Sequence[str]
    about: str
    is_indexed: bool


class SourceReader:
    """Reads indexed notes from disk; private and secret text is left out."""

    def __init__(self, palace: Palace) -> None:
        self._palace, self._kinds = palace, read_kinds(palace)
        self._lines = cache(self._read_lines)

    def search(
        self, sentences: Sequence[str], folders: tuple[str, ...]
    ) -> tuple[tuple[tuple[Passage, ...], ...], int]:
        """Return the nearest passages of each sentence, ranked as ``palace query`` ranks.

        Cold notes are excluded. The passages of a sentence are of different notes, best first; the
        integer counts the notes that differ from the index, as far as known.
        """
        near: list[tuple[Passage, ...]] = []
        behind = 0
        for sentence in sentences:
            text = " ".join(sentence.translate(_NARROWING).split())
            passages: Iterable[Passage] = ()
            if text:
                found = self._palace.ask(Query(text, folder=folders, limit=NEAREST, neighbors=0))
                behind = found.behind
                chunks = [hit.chunk for hit in found]
                passages = self.cut((c.path, c.first_line, c.last_line) for c in chunks)
            near.append(tuple(passages))
        return tuple(near), behind

    def cut(self, places: Iterable[tuple[str, int, int | None]]) -> Iterator[Passage]:
        """Yield passages of line ranges; the whole note if it has changed or last is ``None``."""
        for path, first, last in places:
            note = self._lines(path)
            if last is None or not note.is_indexed:
                first, last = 1, len(note.lines)
            yield from _cut(path, note.lines, first, last, note.about)

    def join(self, passages: Iterable[Passage]) -> Iterator[Passage]:
        """Yield passages without overlap: those of a note at most one line apart are merged."""
        key = attrgetter("note", "first_line")
        for note, group in groupby(sorted(passages, key=key), attrgetter("note")):
            spans: list[tuple[int, int]] = []
            for each in group:
                if spans and each.first_line <= spans[-1][1] + 2:
                    first, last = spans.pop()
                    spans.append((first, max(last, each.last_line)))
                else:
                    spans.append((each.first_line, each.last_line))
            yield from self.cut((note, first, last) for first, last in spans)

    def _read_lines(self, path: str) -> _Lines:
        limit, paths = self._palace.config.max_note_bytes, self._palace.paths
        try:
            data, _ = read_note(paths, path, limit_bytes=limit)
        except (NoteUnreadable, OSError):
            return _Lines([], "", False)  # deleted, or a link out of the palace
        document = parse_document(path, data, rooms=paths.rooms)
        if document is None:
            return _Lines([], "", False)
        snapshot = self._palace.snapshot()
        known = bytes(snapshot.note_digests[bisect_left(snapshot.paths, path)])
        is_indexed = sha256(data).digest().startswith(known)
        return _Lines(_read_text(document, self._kinds), _say_about(document), is_indexed)


def _say_about(document: Document) -> str:
    said = [document.title, document.path.removesuffix(".md").replace("/", ", ")]
    said += [f"{key} {', '.join(document.texts(key))}" for key in document.fields]
    return "; ".join(dict.fromkeys(said))


def _read_text(document: Document, kinds: Sequence[NoteKind]) -> list[str]:
    """Return the lines of a note; private, secret and uncitable ones are empty."""
    body = read_body(document.path, document.data)
    kind = next((each for each in kinds if each.includes(document)), None)
    text = body.text if kind is None else kind.blank(body.text)
    return [""] * (body.first_line - 1) + text.split("\n")


def _cut(path: str, lines: Sequence[str], first: int, last: int, about: str) -> Iterator[Passage]:
    """Yield the lines without superseded claims as a passage, then each such claim."""
    text = "\n".join(lines)
    claims = find_claims(text)
    rest = blank_claims(text, claims).split("\n") if claims else lines
    held = "\n".join(rest[first - 1 : last])
    if held.strip():
        yield Passage(path, first, last, held, about)
    for claim in claims:
        begin, end = (line + 1 for line in lines_of(text, claim[:2]))
        if begin <= last and first <= end:
            words = f"superseded {claim.day}, see {', '.join(claim.heirs)}"
            yield Passage(path, begin, end, text[claim.start : claim.end], about, words)


def _read_source(
    document: Document, first: int | None, last: int | None, kinds: Sequence[NoteKind]
) -> list[Passage]:
    """Return the passages of a note: all of it, or the named lines.

    Raise ``UsageError`` if the note lacks those lines, or is cold.
    """
    if document.is_cold:
        raise UsageError(f"{document.path} is archived, and nothing is compared with it")
    lines = _read_text(document, kinds)
    if first is not None:
        lines = read_body(document.path, document.data).lines
    total = len(lines) - (lines[-1] == "")
    begin, end = first or 1, min(last or total, total)
    if begin > end and first is not None:
        raise UsageError(f"{document.path} has {total} lines; it has no lines {first}-{last}")
    return list(_cut(document.path, lines, begin, max(begin, end), _say_about(document)))


def drop_citations(answer: str, snapshot: Snapshot) -> tuple[str, list[str]]:
    """Return an answer without its citations, and the paths of the notes it cites or names.

    A citation is a note's path with or without lines, optionally in brackets:
    ``room/gate.md:10-20``. A name is a wikilink target or quoted text that resolves to a note.
    """
    named: dict[str, None] = {}
    paths = [path for path in snapshot.paths if path in answer]
    for path in sorted(paths, key=len, reverse=True):
        shorter = re.sub(rf"[ \t]?[(\[`]{{0,3}}{re.escape(path)}{_LINES}[)\]`]{{0,3}}", "", answer)
        if shorter != answer:
            answer = shorter
            named[path] = None
    if called := [(match[1] or match[2]).strip() for match in _NAMED.finditer(answer)]:
        names = NoteNames.from_snapshot(snapshot)
        for name in called:
            with suppress(UsageError):  # no note is called so
                named[names.find(name)] = None
    return answer, list(named)[:_MOST_NAMED]


# --- Shown ---

MARKS = {
    Verdict.CONTRADICTED: "x",
    Verdict.NOT_FOUND: "?",
    Verdict.SUPPORTED: "~",
    Verdict.QUOTED: "=",
    Verdict.NOT_APPLICABLE: "-",
}
"""Mark before each sentence."""
_LONGEST = 160
"""Most characters of a passage that are shown."""
_SHORT = 80
"""Most characters of a difference, both sides together, that are shown beside the passage."""
_MOST_LINES = 100
"""Most lines returned to an agent."""


class PlaceRecord(TypedDict):
    """The lines of a passage; null where there is none."""

    note: str | None
    first_line: int | None
    last_line: int | None


class SentenceRecord(PlaceRecord):
    """A sentence of an answer, and the passage that bears it out or contradicts it."""

    text: str
    verdict: Verdict
    reason: str
    score: float
    passage: str | None
    differences: tuple[Difference, ...]
    compared: tuple[PlaceRecord, ...]


@dataclass(frozen=True, slots=True)
class AnswerChecked(Shown):
    """An answer that was checked."""

    schema = ANSWERS

    verdict: Verdict
    """The worst of the sentences that can be checked."""
    by_meaning: bool
    """Whether vectors were compared, not words only."""
    is_searched: bool
    """Whether the palace's own search chose the passages."""
    sentences: tuple[SentenceRecord, ...]
    token: TokenVerdict
    tokens: tuple[TokenCheck, ...]
    """One for each memory that was named."""
    flaws: tuple[Flaw, ...]
    done: Verified = inner()
    is_strict: bool = inner()

    @classmethod
    def of(cls, done: Verified, *, is_strict: bool) -> AnswerChecked:
        return cls(
            verdict=done.verdict,
            by_meaning=done.by_meaning,
            is_searched=done.is_searched,
            sentences=tuple(map(_read_sentence, done.sentences)),
            token=done.token_verdict,
            tokens=done.tokens,
            flaws=done.flaws,
            done=done,
            is_strict=is_strict,
        )

    def lines(self) -> Iterable[str]:
        return write_lines(self.done)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        yield from map(str, self.flaws)
        if self.done.behind:
            yield say_behind(self.done.behind)
        is_checkable = self.verdict != Verdict.NOT_APPLICABLE
        if is_checkable and not self.by_meaning:
            yield "compared by words only; an index built with minilm compares meanings"
        if is_checkable and not self.done.is_english:
            yield "the answer is not English: fewer differences are looked for, and less is found"

    def failure(self) -> CheckFailedError | None:
        if not self.is_strict or self.done.passes_strictly:
            return None
        if self.verdict in REFUSED:
            return CheckFailedError(f"the answer is {self.verdict.replace('_', ' ')}")
        is_missing = self.token == TokenVerdict.MISSING
        known = "a token that was checked can be known without reading the memory"
        return CheckFailedError("a token is missing" if is_missing else known)


def _read_sentence(check: SentenceCheck) -> SentenceRecord:
    return {
        "text": check.text,
        "verdict": check.verdict,
        "reason": check.reason,
        "score": check.score,
        **_read_place(check.passage),
        "passage": check.passage.text if check.passage else None,
        "differences": check.differences,
        "compared": tuple(map(_read_place, check.compared)),
    }


def _read_place(passage: Passage | None) -> PlaceRecord:
    if passage is None:
        return {"note": None, "first_line": None, "last_line": None}
    first, last = passage.first_line, passage.last_line
    return {"note": passage.note, "first_line": first, "last_line": last}


def verify_answer(
    palace: Palace,
    answer: str,
    notes: Annotated[Sequence[str], "path or path:10-20; else all"] = (),
) -> Said:
    """Check each sentence of an answer against notes before you send it."""
    done = verify(palace, answer, notes)
    lines = list(write_lines(done))
    if not done.by_meaning:
        lines[0] += " (compared by words only)"
    if more := len(lines[_MOST_LINES:]):
        lines[_MOST_LINES:] = [f"… {more} more lines; verify a shorter answer"]
    return Said(lines=lines)


def write_lines(done: Verified) -> Iterator[str]:
    """Yield the verdict on the answer, its tokens, and each sentence with its verdict."""
    yield _say_verdict(done)
    for token in done.tokens:
        if token.outcome != TokenVerdict.NOT_APPLICABLE:
            yield f"token {token.outcome}: {token.path}"
    for check in done.sentences:
        yield f"{MARKS[check.verdict]}  {' '.join(check.text.split())}"
        yield f"   {_say(check)}"
        if check.verdict in (Verdict.CONTRADICTED, Verdict.SUPPORTED) and check.passage is not None:
            line = " ".join(check.passage.text.split())
            yield f"   “{line if len(line) <= _LONGEST else f'{line[:_LONGEST]}…'}”"
        if check.verdict in (Verdict.SUPPORTED, Verdict.NOT_FOUND) and check.compared:
            yield f"   compared with {', '.join(each.place for each in check.compared)} too"


def _say_verdict(done: Verified) -> str:
    verdicts = [each.verdict for each in done.sentences]
    checked = [verdict for verdict in verdicts if verdict != Verdict.NOT_APPLICABLE]
    wrong, missing = verdicts.count(Verdict.CONTRADICTED), verdicts.count(Verdict.NOT_FOUND)
    of = f"of {len(checked)} sentence{'s' * (len(checked) != 1)}"
    match done.verdict:
        case Verdict.CONTRADICTED:
            rest = f", {missing} not found" if missing else ""
            return f"contradicted: {wrong} {of} against the notes{rest}"
        case Verdict.NOT_FOUND:
            return f"not found: {missing} {of} not in the notes that were compared"
        case Verdict.QUOTED:
            return "quoted: the notes have all of it in nearly the same words"
        case Verdict.NOT_APPLICABLE:
            return "nothing to check: the answer states nothing that notes could bear out"
    return "not contradicted: the notes have it in other words, and no difference was found"


def _say(check: SentenceCheck) -> str:
    place = check.passage.place if check.passage else ""
    match check.verdict:
        case Verdict.QUOTED:
            return f"quoted from {place}"
        case Verdict.SUPPORTED:
            return f"not contradicted by {place}"
        case Verdict.CONTRADICTED:
            return f"contradicted by {place}: {_say_difference(check)}"
        case Verdict.NOT_FOUND:
            said = f"not found: {check.reason}" if check.reason.startswith("“") else "not found"
            return f"{said}; the nearest is {place}" if place else said
    return "nothing to check"


def _say_difference(check: SentenceCheck) -> str:
    if not check.differences:
        return check.reason
    first = check.differences[0]
    if len(first.mine) + len(first.theirs) > _SHORT:  # the passage is shown below
        return first.kind
    return f"{first.kind}, the answer has “{first.mine}”, the note “{first.theirs}”"
