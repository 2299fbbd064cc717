"""Lines of a note, no superseded claim of which is shown without the line that says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_palace.models import ELLIPSIS, Piece
from memory_palace.notes.superseding import LostClaim, find_claims, find_words, lines_of


class MarkedLines:
    """The lines of one note, and the claims in them that are marked."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._text = "\n".join(lines)
        self._claims = [
            (*lines_of(self._text, claim[:2]), self._text.count("\n", 0, claim.mark_start), claim)
            for claim in find_claims(self._text)
        ]

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
