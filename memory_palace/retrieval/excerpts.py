"""Choose the excerpts of each hit: sentences, turns or rows of its note that answer the question.

Units of a note are scored by BM25 with the question and by the standardised cosine of their
passage. A byte budget goes to the best whole units of all hits; each hit shows at least one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING

from memory_palace.config import PalacePaths
from memory_palace.index.segment import STAT
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import PostingLookup
from memory_palace.language.sentences import ASKING, Unit, cut_text, find_units
from memory_palace.language.visible import shown_text, visible, visible_line
from memory_palace.language.words import (
    STOPWORDS,
    Languages,
    answer_stems,
    bm25_idf,
    drop_stop_stems,
    tokenize,
)
from memory_palace.models import ELLIPSIS, ChunkRecord, Hit, Piece, Scores
from memory_palace.notes.note import CLAIM_MARK, Fence, read_indexed
from memory_palace.retrieval.evidence import Evidence

if TYPE_CHECKING:
    from memory_palace.notes.superseding import LostClaim


class MarkedLines:
    """The lines of one note, its superseded claims, and the lines that mark them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._text = "\n".join(lines)
        self._claims: list[tuple[int, int, int, LostClaim]] = []
        if CLAIM_MARK in self._text:
            from memory_palace.notes.superseding import find_claims, lines_of  # delayed: it is rare

            for claim in find_claims(self._text):
                mark = self._text.count("\n", 0, claim.mark_start)
                self._claims.append((*lines_of(self._text, claim[:2]), mark, claim))

    def read(self, first_line: int, last_line: int) -> str:
        """Return a range of lines (1-based, inclusive) with the mark lines of claims blanked."""
        marks = {mark for _, _, mark, _ in self._claims}
        numbered = enumerate(self._lines[first_line - 1 : last_line], start=first_line - 1)
        return "\n".join("" if at in marks else line for at, line in numbered)

    def read_whole(self, first_line: int, last_line: int) -> str:
        """Return a range of lines (1-based), then the mark lines below it of claims inside it."""
        text = "\n".join(self._lines[first_line - 1 : last_line])
        marks = (mark for mark, _ in self._between(first_line, last_line))
        return "\n".join([text, *(self._lines[at] for at in marks if at >= last_line)])

    def complete(self, piece: Piece) -> Piece:
        """Return a piece of the note; with the mark line if it holds a superseded claim."""
        for mark, claim in self._between(piece.first_line, piece.last_line):
            from memory_palace.notes.superseding import find_words

            words = self._text[claim.start : claim.end]
            if find_words(piece.text, words) is None and find_words(words, piece.text) is None:
                continue
            between = self._lines[piece.last_line : mark]
            ends = self._lines[piece.last_line - 1].rstrip().endswith(piece.text.rstrip()[-20:])
            gap = "\n" if ends and not any(map(str.strip, between)) else f"\n{ELLIPSIS}\n"
            text = f"{piece.text}{gap}{self._lines[mark]}"
            piece = replace(piece, text=text, last_line=mark + 1)
        return piece

    def _between(self, first_line: int, last_line: int) -> Iterator[tuple[int, LostClaim]]:
        """Yield the claims that overlap a range of lines, each with its mark line, 0-based."""
        for first, last, mark, claim in self._claims:
            if first < last_line and first_line <= last + 1:
                yield mark, claim


SHARE_BYTES = 300
"""Default bytes of text per hit: 1,500 for five, spent on the best pieces of all of them."""
LEAST_BYTES = 600
"""Least default bytes of text for all hits."""
SNIPPET_CHARACTERS = 200
MOST_READ = 100
"""Hits, neighbors counted, whose notes are read; later ones show the preview of the index."""
_KEPT_FREE = 80
"""Bytes reserved for each later hit."""
_GAP_BYTES = 5
_MOST_CHARACTERS = 8_000
"""Characters of a note that are scored for one hit; only very long lines make a longer passage."""
_K1, _B = 1.2, 0.75
"""BM25 over units: term saturation and length normalisation."""
_AROUND = {-1: 0.5, 1: 0.3, -2: 0.2, 2: 0.15}
"""Share of the scores of nearby units that is added to a unit, by offset: most from the one before
it, often the question it answers, none from a heading below it. Passages: ``signals.BESIDE``."""
_IN_TALK = {-1: 0.3, 1: 0.3, -2: 0.2, 2: 0.15, -3: 0.1, 3: 0.1}
"""The same for turns: talk keeps to a matter for longer, and the turn before counts less if it asks
nothing of this speaker."""
_REPLY = 0.6
"""Share of the score of a turn that asks, added to the next speaker's: "What inspired you?" has the
words of the question, and its reply seldom has any (as ``_IN_TALK``, ``_KIND`` and ``_SPEAKER``
chosen on LoCoMo dev, each conversation judged by weights of the other four)."""
_KIND = 0.3
"""Added to a turn with a time or number where the question asks for one."""
_SPEAKER, _OWN, _FOUND, _RANK, _NEAR = 1.0, 0.3, 0.2, 0.25, 0.3
"""Terms of a unit's value. Added: for a speaker named in the question, for a word of its own and
not only nearby, for being in the hit's passage. Subtracted: per hit ranked above. Times the
standardised cosine of its passage. A word of the question counts 1 on average (chosen on three
conversations of LoCoMo dev, the third and the last on all five)."""
_WITHHELD = frozenset({"secret", "private", "too large"})
_BARE = re.compile(
    r"!?\[\[[^\[\]\n]*\]\]|!?\[[^\[\]\n]*\]\([^()\s]*\)|https?://\S+|^[ \t>]*(?:```|~~~).*$"
    r"|(?:`[^`\n]+` )?\bsha256:[0-9a-f]+|(?<![\w&/])#[^\W\d_][\w/-]*",
    re.M,
)
"""Links, URLs, fences, digests with their file names, and tags."""
_LABEL = re.compile(r"^[ \t>]*(?:[-*+] )?[*_]*[^\W\d_][\w '’-]{0,40}[*_]*:[*_]*(?=\s|$)")
_TICK = re.compile(r"\A[ \t>]*+[-*+][ \t]++\[[ xX]\][ \t]")
_HEADING = re.compile(r"\A[ \t>]*+#{1,6}[ \t]")
_ENDS = tuple(".!?…。！？")
_FEW_WORDS = 4
_CALLOUT = re.compile(r"^[> \t]*\[![^\[\]\n]*\][+-]?[ \t]*")
"""Opening of an Obsidian callout: ``> [!note] Its title``."""


def choose_texts(
    evidence: Evidence,
    hits: Sequence[Hit],
    paths: PalacePaths | None,
    *,
    max_bytes: int | None = None,
) -> list[Hit]:
    """Return hits with the pieces of their notes that answer the question; the best is the snippet.

    ``max_bytes`` of UTF-8 limit the text of all hits, and the list ends at the first hit without
    room: a worse hit never replaces it by being shorter. Hits of a listing, and of notes that are
    unreadable or changed since indexing, keep the preview of the index. So do neighbors without
    ``max_bytes``; with it they have no text.
    """
    is_strict = max_bytes is not None
    to_come = sum(hit.role == "core" for hit in hits)
    left = max_bytes or max(LEAST_BYTES, SHARE_BYTES * to_come)
    counts = {term.term: term.having for term in evidence.terms}
    near, text = evidence.meaning.above, evidence.query.text
    reader = NoteReader(evidence.snapshot, paths, text, near, counts)
    kept: list[Hit] = []
    found: list[Sequence[Piece]] = []
    for rank, hit in enumerate(hits):
        pieces: Sequence[Piece] = ()
        if hit.role == "core":
            to_come -= 1
            read = partial(reader.find_pieces, hit, rank)
            pieces = Fence(hit.path).read("sentences", read, ()) if rank < MOST_READ else ()
            room = left if is_strict else max(left - _KEPT_FREE * to_come, _KEPT_FREE)
            if best := max(pieces, key=lambda piece: piece.value, default=None):
                hit = replace(hit, pieces=(best,))
            text = hit.text
            if is_strict and kept and count_bytes(text) > room:
                break
            text = reader.cut(text, room, measure=count_bytes)
            shown = replace(best, text=text) if best else None
            hit = replace(hit, pieces=(shown,)) if shown else replace(hit, snippet=text)
            left -= count_bytes(text)
        elif is_strict:
            hit = replace(hit, snippet="")
        kept.append(hit)
        found.append(pieces)
    return list(_give_rest(kept, found, reader, left))


def _give_rest(
    hits: Sequence[Hit], found: Sequence[Sequence[Piece]], reader: NoteReader, left: int
) -> Iterator[Hit]:
    """Yield the hits, with the remaining bytes spent on the best pieces that fit, none twice."""
    chosen = [{piece.place: piece for piece in hit.pieces} for hit in hits]
    told = {(hit.path, piece.first_line, piece.text) for hit in hits for piece in hit.pieces}
    every = [
        ((hit.path, piece.first_line, piece.text), piece, shown)
        for hit, pieces, shown in zip(hits, found, chosen, strict=True)
        for piece in pieces
    ]
    for name, piece, shown in sorted(every, key=lambda entry: -entry[1].value):
        size = count_bytes(piece.text) + max(_GAP_BYTES, count_bytes(piece.joint))
        if size <= left and piece.place not in shown and name not in told:
            shown[piece.place] = piece
            told.add(name)
            left -= size
    for hit, shown in zip(hits, chosen, strict=True):
        if not shown:
            yield hit
            continue
        best = max(shown.values(), key=lambda piece: piece.value)
        line = reader.cut(" ".join(best.text.split()), SNIPPET_CHARACTERS)
        pieces = tuple(shown[place] for place in sorted(shown))
        yield replace(hit, pieces=pieces, snippet=visible(line))


class NoteReader:
    """Reads the indexed notes of hits, and scores their units for one question.

    Without ``paths`` and ``snapshot.read_lines`` notes have no text. ``near`` is the standardised
    cosine of each row; ``counts`` is the document frequency of each content word of the question,
    looked up if it is ``None``.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        paths: PalacePaths | None,
        text: str = "",
        near: Scores | None = None,
        counts: Mapping[str, int] | None = None,
    ) -> None:
        self._snapshot, self._paths, self._text, self._near = snapshot, paths, text, near
        self._counts = counts
        self._notes: dict[str, MarkedLines] = {}

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Idf of the question's content stems that passages hold, divided by their mean."""
        if (counts := self._counts) is None:
            terms = drop_stop_stems(self._tokenize(self._text)) if self._text else ()
            lookup = PostingLookup(self._snapshot, "words")
            counts = {term: lookup.document_frequency(term) for term in terms}
        rows = self._snapshot.passages
        weights = {term: bm25_idf(count, rows) for term, count in counts.items() if count}
        mean = sum(weights.values()) / max(len(weights), 1)
        return {term: weight / mean for term, weight in weights.items()}

    def cut(self, text: str, most: int, *, measure: Callable[[str], int] = len) -> str:
        """Return the part of a text with most of the question's words; see ``cut_text``."""
        languages = self._snapshot.languages
        return cut_text(text, self.weights, most, measure=measure, languages=languages)

    def _tokenize(self, text: str) -> list[str]:
        return _words_of(text, self._snapshot.languages, stems=True)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(_words_of(self._text)) - STOPWORDS

    @cached_property
    def _kinds(self) -> frozenset[str]:
        return answer_stems(self._text)

    def find_pieces(self, hit: Hit, rank: int) -> list[Piece]:
        """Return the pieces of a hit's note that match the question, in order, else of its passage.

        Of a long note only the part around the passage is scored. Fragments must pass ``_adds``.
        """
        if not hit.chunk.preview or not self._text:
            return []  # a passage without text is the name of a note that has no body
        rows = (self._snapshot.row_note == bisect_left(self._snapshot.paths, hit.path)).nonzero()[0]
        lines = self._snapshot.row_lines[rows]
        first_line = int(lines[:, 0].min())
        marked = self.read(hit.path)
        text = marked.read(first_line, int(lines[:, 1].max()))
        start, end = _find_window(text, first_line, hit.chunk)
        first_line += text.count("\n", 0, start)
        text = text[start:end]
        units = list(find_units(text))
        own, evidence = self._find_evidence(text, units)
        first, last = hit.chunk.first_line, hit.chunk.last_line
        told: list[Piece] = []
        found: list[Piece] = []
        pieces = list(_cut_up(text, units, first_line))
        for piece, unit, words, value in zip(pieces, units, own, evidence, strict=True):
            is_inside = first <= piece.last_line and piece.first_line <= last
            is_told = value > 0 if is_sentence(piece.text) else words > 0 and self._adds(piece)
            if self._near is not None:
                is_here = (lines[:, 0] <= piece.first_line) & (piece.first_line <= lines[:, 1])
                value += _NEAR * float(self._near[rows[is_here]].max(initial=0))
            piece = replace(piece, value=value + _FOUND * is_inside - _RANK * rank)
            piece = marked.complete(piece)
            if unit.kind != "heading" and not _is_bare(piece.text):
                told += [piece] if is_told else []
                found += [piece] if is_inside else []
        sentences = [piece for piece in found if is_sentence(piece.text)]
        plain = (piece for piece in pieces if not _is_bare(piece.text))
        return told or sentences or found or [*plain]

    def _adds(self, piece: Piece) -> bool:
        """Whether a piece is a task list item or has a word, not a number, outside the question."""
        words = (word for word in self._tokenize(piece.text) if not word.isdigit())
        return _TICK.match(piece.text) is not None or not self.weights.keys() >= set(words)

    def read(self, path: str) -> MarkedLines:
        """Return the lines of a note as indexed; none if the file differs from the index."""
        if path not in self._notes:
            self._notes[path] = MarkedLines(self._read_lines(path))
        return self._notes[path]

    def _read_lines(self, path: str) -> list[str]:
        if self._snapshot.read_lines:
            return self._snapshot.read_lines(path)
        if self._paths is None:
            return []
        place = bisect_left(self._snapshot.paths, path)
        size = int(self._snapshot.stats[place][STAT.size])
        problems = {problem.kind for problem in self._snapshot.note(place).problems}
        return read_indexed(
            self._paths,
            path,
            size=size,
            digest=bytes(self._snapshot.note_digests[place]),
            is_withheld=bool(problems & _WITHHELD),
        )

    def _find_evidence(self, text: str, units: Sequence[Unit]) -> tuple[list[float], list[float]]:
        """Return each unit's BM25 score for the question: alone, and with neighbors and bonuses."""
        words = [self._tokenize(text[unit.start : unit.end]) for unit in units]
        mean = max(sum(map(len, words)) / max(len(words), 1), 1.0)
        own = [
            0.0
            if _is_bare(text[unit.start : unit.end])
            else self._weigh(Counter(held), len(held) / mean)
            for unit, held in zip(units, words, strict=True)
        ]
        values: list[float] = []
        for place, (value, unit, held) in enumerate(zip(own, units, words, strict=True)):
            is_named = not self._names.isdisjoint(unit.speaker.split())
            value += _OWN * (value > 0) + _SPEAKER * is_named + _borrow(text, units, own, place)
            is_kind = unit.speaker and value > 0 and not self._kinds.isdisjoint(held)
            values.append(value + _KIND * bool(is_kind))
        return own, values

    def _weigh(self, words: Counter[str], length: float) -> float:
        """Return the BM25 score of a unit; a relative ``length`` below 1 counts as 1."""
        norm = _K1 * (1 - _B + _B * max(length, 1.0))
        return sum(
            weight * words[term] * (_K1 + 1) / (words[term] + norm)
            for term, weight in self.weights.items()
            if term in words
        )


def _borrow(text: str, units: Sequence[Unit], own: Sequence[float], place: int) -> float:
    """Return the shares of the scores of the units around one; more of a turn that it answers."""
    unit = units[place]
    borrowed = sum(
        share * own[place + step]
        for step, share in (_IN_TALK if unit.speaker else _AROUND).items()
        if 0 <= place + step < len(own) and not (step > 0 and units[place + step].kind == "heading")
    )
    before = units[place - 1] if place else unit
    if unit.speaker and before.speaker not in ("", unit.speaker):
        borrowed += _REPLY * own[place - 1] * bool(ASKING.search(text, before.start, before.end))
    return borrowed


def _find_window(text: str, first_line: int, chunk: ChunkRecord) -> tuple[int, int]:
    """Return start and end of the text to score: the whole, or the part around the passage."""
    if len(text) <= _MOST_CHARACTERS:
        return 0, len(text)
    lines = text.split("\n")
    opening = sum(len(line) + 1 for line in lines[: chunk.first_line - first_line])
    opening = max(opening, text.find(chunk.preview[:40], opening))  # passages may share a line
    start = max(opening - _MOST_CHARACTERS // 4, 0)
    end = min(start + _MOST_CHARACTERS, len(text))
    units = list(find_units(text[start:end]))
    first = units[1].start if start and len(units) > 2 else 0
    last = units[-2].end if end < len(text) and len(units) > 2 else end - start
    return start + first, start + last


def _cut_up(text: str, units: Sequence[Unit], first_line: int) -> Iterator[Piece]:
    end, line = 0, first_line
    for place, unit in enumerate(units):
        joint = text[end : unit.start]
        line += joint.count("\n")
        shown = text[unit.start : unit.end]
        last_line = line + shown.count("\n")
        is_verbatim = unit.kind in ("code", "row")
        yield Piece(shown, line, last_line, place, joint, value=0.0, is_verbatim=is_verbatim)
        end, line = unit.end, last_line


def is_sentence(text: str) -> bool:
    """Whether a piece can answer by itself.

    False for headings, task items, a final colon, bare links or tags, and short unpunctuated text.
    """
    leads_on = text.rstrip().rstrip("*_").endswith(":")
    if _is_bare(text) or _TICK.match(text) or _HEADING.match(text) or leads_on:
        return False
    label = _LABEL.match(text)
    is_said = label is not None and text.lstrip(" \t>*_")[:1].isalpha()
    plain = _BARE.sub("", text).rstrip("\"'”’»)]*_ \t")
    return is_said or plain.endswith(_ENDS) or len(_words_of(plain)) >= _FEW_WORDS


def _is_bare(text: str) -> bool:
    """Whether a unit has no words of its own: a rule, fence, tags, a digest, or links alone."""
    rest = _BARE.sub("", text)
    if rest != text:
        rest = _LABEL.sub("", rest, count=1)
        return STOPWORDS.issuperset(_words_of(rest))
    return not any(map(str.isalnum, text))


def _words_of(text: str, languages: Languages = (), *, stems: bool = False) -> list[str]:
    return tokenize(text, stems=stems, languages=languages)


def count_bytes(text: str) -> int:
    """Return the bytes of a text in UTF-8."""
    return len(text.encode())


def write_told(hit: Hit, pieces: Sequence[Piece]) -> Iterator[str]:
    """Yield the lines of one recalled note: place, day, and its sentences or else its title."""
    hit = replace(hit, pieces=tuple(pieces))
    parts = (f"{hit.path}:{hit.lines[0]}", hit.note.date.day, "" if pieces else hit.title)
    yield visible_line("  ".join(filter(None, parts)))
    for row in hit.text.split("\n") if pieces else ():
        if row.strip():
            yield visible(f"  {row.rstrip()}")


def plain_line(text: str) -> str:
    """Return a piece on one line, with the text of links, without quote, bold and HTML marks."""
    first, *rest = text.split("\n")
    first = _CALLOUT.sub("", first)
    return drop_marks(" ".join([first, *(more.lstrip(" \t>") for more in rest)]))


def drop_marks(text: str) -> str:
    """Return the visible text of Markdown, on one line."""
    return " ".join(shown_text(text).split())


def show_whole(
    hits: Sequence[Hit],
    snapshot: Snapshot,
    paths: PalacePaths | None,
    *,
    max_bytes: int | None = None,
) -> list[Hit]:
    """Return hits with their whole passage as text; the text stays if the note is unreadable.

    With ``max_bytes`` a passage must fit beside the texts of all hits; better hits come first.
    """
    reader, shown = NoteReader(snapshot, paths), list[Hit]()
    left = inf if max_bytes is None else max_bytes - sum(count_bytes(hit.text) for hit in hits)
    for hit in hits:
        text, lines, passage = hit.text, (hit.chunk.first_line, hit.chunk.last_line), ""
        if hit.chunk.preview:
            passage = reader.read(hit.path).read_whole(*lines)
        more = count_bytes(passage) - count_bytes(text)
        if passage and more <= left:
            text, left = passage, left - more
        piece = Piece(text, *lines, 0, "", 0.0, is_verbatim=True)
        shown.append(replace(hit, pieces=(piece,)) if text else hit)
    return shown
