"""What is shown of each hit: the sentences, turns or rows of its note that answer the question.

Units of a hit's note are scored by the question's words and by how near their passage is, and the
bytes there are go to the best units of all hits, whole; each hit shows one at least.
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
from memory_palace.language.sentences import Unit, cut_text, find_units
from memory_palace.language.visible import shown_text, visible, visible_line
from memory_palace.language.words import STOPWORDS, bm25_idf, drop_stop_stems, tokenize
from memory_palace.models import ELLIPSIS, ChunkRecord, Hit, Piece, Scores
from memory_palace.notes.note import CLAIM_MARK, Fence, read_indexed
from memory_palace.retrieval.evidence import Evidence

if TYPE_CHECKING:
    from memory_palace.notes.superseding import LostClaim


class MarkedLines:
    """The lines of one note, and the claims in them that are marked."""

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
        """Return lines without those that mark a claim, which are empty; 1-based, inclusive."""
        marks = {mark for _, _, mark, _ in self._claims}
        numbered = enumerate(self._lines[first_line - 1 : last_line], start=first_line - 1)
        return "\n".join("" if at in marks else line for at, line in numbered)

    def read_whole(self, first_line: int, last_line: int) -> str:
        """Return lines as they are, and behind them the marks of claims in them, 1-based."""
        text = "\n".join(self._lines[first_line - 1 : last_line])
        marks = (mark for mark, _ in self._between(first_line, last_line))
        return "\n".join([text, *(self._lines[at] for at in marks if at >= last_line)])

    def complete(self, piece: Piece) -> Piece:
        """Return a piece of the note; one that says what is superseded with what marks that."""
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
        """Yield the claims that stand in some lines, each with the line of its mark, 0-based."""
        for first, last, mark, claim in self._claims:
            if first < last_line and first_line <= last + 1:
                yield mark, claim


SHARE_BYTES = 300
"""Text per hit where nobody says how much: 1,500 bytes for five, which go where they tell most."""
LEAST_BYTES = 600
"""Where there are fewer hits than two."""
SNIPPET_CHARACTERS = 200
MOST_READ = 100
"""Hits and neighbors whose notes are read; those after them show the preview of the index."""
_KEPT_FREE = 80
"""Bytes for each hit that is still to come."""
_GAP_BYTES = 5
_MOST_CHARACTERS = 8_000
"""Of a note that are looked at for one hit: passages are shorter, but not lines without an end."""
_K1, _B = 1.2, 0.75
"""Of BM25 over units: long ones have more words by chance."""
_AROUND = {-1: 0.5, 1: 0.3, -2: 0.2, 2: 0.15}
"""What a unit borrows from those around it, an answer from its question above all, and nothing from
a heading below it; passages borrow alike, see ``signals/table.BESIDE``."""
_SPEAKER, _OWN, _FOUND, _RANK, _NEAR = 0.6, 0.3, 0.2, 0.25, 0.3
"""Added for a speaker whom the question names, for a word in the unit and not only around it, and
for standing in the passage that was found; taken off for each hit that is better; added for each
deviation by which its passage is nearer to the question than the mean. A word of the question
counts 1 (chosen on three conversations of LoCoMo dev, the third and the last on all five)."""
_WITHHELD = frozenset({"secret", "private", "too large"})
_BARE = re.compile(
    r"!?\[\[[^\[\]\n]*\]\]|!?\[[^\[\]\n]*\]\([^()\s]*\)|https?://\S+|^[ \t>]*(?:```|~~~).*$"
    r"|(?:`[^`\n]+` )?\bsha256:[0-9a-f]+|(?<![\w&/])#[^\W\d_][\w/-]*",
    re.M,
)
"""Links, fences, digests and what they are of, and tags."""
_LABEL = re.compile(r"^[ \t>]*(?:[-*+] )?[*_]*[^\W\d_][\w '’-]{0,40}[*_]*:[*_]*(?=\s|$)")
_TICK = re.compile(r"\A[ \t>]*+[-*+][ \t]++\[[ xX]\][ \t]")
_HEADING = re.compile(r"\A[ \t>]*+#{1,6}[ \t]")
_ENDS = tuple(".!?…。！？")
_FEW_WORDS = 4
_CALLOUT = re.compile(r"^[> \t]*\[![^\[\]\n]*\][+-]?[ \t]*")
"""How a callout of Obsidian begins: ``> [!note] Its title``."""


def choose_texts(
    evidence: Evidence,
    hits: Sequence[Hit],
    paths: PalacePaths | None,
    *,
    max_bytes: int | None = None,
) -> list[Hit]:
    """Give each hit the pieces of its note that answer a question, and the best as its snippet.

    ``max_bytes`` of UTF-8 bound the text of all hits; where they are given, the first hit without
    room ends the list: a worse hit is never preferred for being shorter. A hit of a listing, and
    one whose note cannot be read or has changed since it was indexed, keeps the preview of the
    index; a neighbor has no text.
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
    """Spend what is left on the best pieces of all hits that fit, each once in a note."""
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
    """Reads the notes of hits as the index has them, and scores their parts for one question.

    Without ``paths``, and where no lines are given, notes have no text. ``near`` says of each row
    by how many deviations it is nearer to the question than the mean; ``counts`` how many passages
    hold its words, which are looked up where it is not given.
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
        """The stems of the question that carry meaning, rare ones above 1, common ones below."""
        if (counts := self._counts) is None:
            terms = drop_stop_stems(self._tokenize(self._text)) if self._text else ()
            lookup = PostingLookup(self._snapshot, "words")
            counts = {term: lookup.document_frequency(term) for term in terms}
        rows = self._snapshot.passages
        weights = {term: bm25_idf(count, rows) for term, count in counts.items() if count}
        mean = sum(weights.values()) / max(len(weights), 1)
        return {term: weight / mean for term, weight in weights.items()}

    def cut(self, text: str, most: int, *, measure: Callable[[str], int] = len) -> str:
        """Return the part of a text that has most of the question; see ``cut_text``."""
        languages = self._snapshot.languages
        return cut_text(text, self.weights, most, measure=measure, languages=languages)

    def _tokenize(self, text: str) -> list[str]:
        return tokenize(text, languages=self._snapshot.languages)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(_words_of(self._text)) - STOPWORDS

    def find_pieces(self, hit: Hit, rank: int) -> list[Piece]:
        """Return the pieces of a hit's note, around its passage where that is long, in order.

        What is no sentence is told for its own words alone, and where it says more than those.
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
        """Say whether a piece is a tick, or has a word besides the question's."""
        words = (word for word in self._tokenize(piece.text) if not word.isdigit())
        return _TICK.match(piece.text) is not None or not self.weights.keys() >= set(words)

    def read(self, path: str) -> MarkedLines:
        """Return a note as it is indexed, without lines where it is not what was indexed."""
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
        """Return how much of the question is in each unit, and how much in it and around it."""
        words = [self._tokenize(text[unit.start : unit.end]) for unit in units]
        mean = max(sum(map(len, words)) / max(len(words), 1), 1.0)
        own = [
            0.0
            if _is_bare(text[unit.start : unit.end])
            else self._weigh(Counter(held), len(held) / mean)
            for unit, held in zip(units, words, strict=True)
        ]
        return own, [
            value
            + _OWN * (value > 0)
            + _SPEAKER * bool(self._names.intersection(unit.speaker.split()))
            + sum(
                share * own[place + step]
                for step, share in _AROUND.items()
                if 0 <= place + step < len(own)
                and not (step > 0 and units[place + step].kind == "heading")
            )
            for place, (value, unit) in enumerate(zip(own, units, strict=True))
        ]

    def _weigh(self, words: Counter[str], length: float) -> float:
        """Return how much of the question is in a unit; one of ``length`` below 1 is no better."""
        norm = _K1 * (1 - _B + _B * max(length, 1.0))
        return sum(
            weight * words[term] * (_K1 + 1) / (words[term] + norm)
            for term, weight in self.weights.items()
            if term in words
        )


def _find_window(text: str, first_line: int, chunk: ChunkRecord) -> tuple[int, int]:
    """Return which part of a note is looked at: all, or what is around the passage."""
    if len(text) <= _MOST_CHARACTERS:
        return 0, len(text)
    lines = text.split("\n")
    opening = sum(len(line) + 1 for line in lines[: chunk.first_line - first_line])
    opening = max(opening, text.find(chunk.preview[:40], opening))  # several are on one long line
    start = max(opening - _MOST_CHARACTERS // 4, 0)
    end = min(start + _MOST_CHARACTERS, len(text))
    units = list(find_units(text[start:end]))
    first = units[1].start if start and len(units) > 2 else 0
    last = units[-2].end if end < len(text) and len(units) > 2 else end - start
    return start + first, start + last


def _cut_up(text: str, units: Sequence[Unit], first_line: int) -> Iterator[Piece]:
    """Yield the piece that each unit is, without a value."""
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
    """Say whether a piece can answer by itself.

    Headings, labels, ticks, dates, tags, digests, links alone, and items of a word or two cannot.
    """
    leads_on = text.rstrip().rstrip("*_").endswith(":")
    if _is_bare(text) or _TICK.match(text) or _HEADING.match(text) or leads_on:
        return False
    label = _LABEL.match(text)
    is_said = label is not None and text.lstrip(" \t>*_")[:1].isalpha()
    plain = _BARE.sub("", text).rstrip("\"'”’»)]*_ \t")
    return is_said or plain.endswith(_ENDS) or len(_words_of(plain)) >= _FEW_WORDS


def _is_bare(text: str) -> bool:
    """Say whether a unit says nothing of its own: a rule, a fence, tags, a digest, links alone."""
    rest = _BARE.sub("", text)
    if rest != text:
        rest = _LABEL.sub("", rest, count=1)
        return STOPWORDS.issuperset(_words_of(rest))
    return not any(map(str.isalnum, text))


def _words_of(text: str) -> list[str]:
    return tokenize(text, stems=False)


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
    """Put a piece on one line, links as the words they show; quotes, bold and HTML lose marks."""
    first, *rest = text.split("\n")
    first = _CALLOUT.sub("", first)
    return drop_marks(" ".join([first, *(more.lstrip(" \t>") for more in rest)]))


def drop_marks(text: str) -> str:
    """Return a text as people see it, on one line."""
    return " ".join(shown_text(text).split())


def show_whole(
    hits: Sequence[Hit],
    snapshot: Snapshot,
    paths: PalacePaths | None,
    *,
    max_bytes: int | None = None,
) -> list[Hit]:
    """Return hits with the whole passage as their text, or what they had where it cannot be had.

    With ``max_bytes`` the passages that fit beside the texts of the other hits, in order.
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
