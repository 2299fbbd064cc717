"""Which part of a note lost a conflict: the sentences that contradict the winner, and no others."""

from __future__ import annotations

from memory_palace.errors import UsageError
from memory_palace.features.checking.checker import check_answer
from memory_palace.features.checking.contradictions import (
    BESIDES,
    LEAST_SHARED,
    Contradiction,
    find_contradictions,
)
from memory_palace.features.checking.verdicts import REFUSED, Passage
from memory_palace.features.checking.wording import Wording, read_prose
from memory_palace.features.tasks.conflict_notes import Conflict, Quote, check_quote
from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document
from memory_palace.notes.excerpt import split_line_range
from memory_palace.notes.reading import decode_note
from memory_palace.notes.superseding import (
    blank_claims,
    content_of,
    count_words,
    find_claims,
    find_words,
    lines_of,
)

Place = tuple[int, int]
"""From and to where something stands in the decoded text of a note."""


def find_losing(
    conflict: Conflict,
    loser: Document,
    winner: Document,
    quotes: tuple[Quote | None, Quote | None],
    *,
    lines: str | None = None,
) -> list[Place]:
    """Return what of a note no longer holds, in order.

    What the person names counts, ``lines`` of the note. Otherwise the
    lines that were quoted, found again by their text where they moved; of several sentences those
    that contradict the winner's. Nothing is returned for a duplicate, all of which goes. Raise
    ``UsageError`` where nothing says which they are: a whole note is never taken for them.
    """
    text = decode_note(loser.data, loser.path)[0]
    lost, won = quotes
    range_ = _named_lines(loser, text, lines) if lines else _quoted_lines(loser, text, lost)
    own = decode_note(winner.data, winner.path)[0]
    other = read_statements(winner, _quoted_lines(winner, own, won))
    if range_ is None and conflict.kind == "duplicate":
        _check_said(loser, other)
        return []
    if range_ is None:
        found = _contradicting(loser, text, other)
        if not found:
            raise UsageError(
                f"no sentence of {loser.path} clearly contradicts {winner.path}; say which lines "
                "no longer hold with --line 12-15, or that none does with --whole"
            )
        return found
    return _narrow(loser, text, range_, other)


def quote_contradictions(first: Document, second: Document) -> Contradiction | None:
    """Return the first two sentences of two notes that contradict each other."""
    found = find_contradictions([read_statements(first), read_statements(second)], besides=BESIDES)
    return found[0] if found else None


def holds_nothing_else(document: Document, data: bytes) -> bool:
    """Whether all that a note says, its headings apart, is marked as superseded."""
    text = decode_note(data, document.path)[0]
    skipped = _head(document, data)
    body = blank_claims(text, find_claims(text))[skipped:]
    return not any(map(str.isalnum, Markup(body).without_headings()))


def _head(document: Document, data: bytes) -> int:
    text = decode_note(data, document.path)[0]
    return Markup(text).starts[document.body_first_line - 1]


def _check_said(loser: Document, winner: Passage) -> None:
    """Raise ``UsageError`` for a duplicate that says what the other does not."""
    own = read_statements(loser)
    for sentence in split_sentences(read_prose(own.text)):
        found = check_answer(sentence, [winner]).sentences
        if any(each.verdict in REFUSED for each in found):
            raise UsageError(
                f"{winner.note} does not say “{sentence}”, which {loser.path} says; write it there "
                "first, or give --whole"
            )


def _named_lines(loser: Document, text: str, lines: str) -> tuple[int, int]:
    """Read ``12`` or ``12-15``; return lines counted from 0."""
    _, first, last = split_line_range(f"note:{lines}")
    total = text.count("\n") + 1
    if first is None or last is None or not loser.body_first_line <= first <= last <= total:
        raise UsageError(
            f"{lines!r} names no lines of the text of {loser.path}, which are "
            f"{loser.body_first_line}-{total}"
        )
    return first - 1, last - 1


def _quoted_lines(document: Document, text: str, quote: Quote | None) -> tuple[int, int] | None:
    """Return the lines that were quoted, counted from 0; ``None`` for a whole note, or no quote."""
    if quote is None:
        return None
    first, last = quote.first_line - 1, quote.last_line - 1
    if check_quote(document, quote) != "as quoted":
        head = _head(document, document.data)
        if count_words(text, quote.text, head) != 1:
            raise UsageError(
                f"{document.path} no longer says what was quoted from it; say which lines lost "
                "with --line 12, or open a new conflict"
            )
        found = find_words(text, quote.text, head)
        assert found is not None
        first, last = lines_of(text, found)
    said = [n for n, line in enumerate(text.split("\n")) if any(map(str.isalnum, line))]
    said = [n for n in said if n >= document.body_first_line - 1]
    is_whole = len(said) > 1 and first <= said[0] and said[-1] <= last
    return None if is_whole else (first, last)


def read_statements(document: Document, lines: tuple[int, int] | None = None) -> Passage:
    """Return what a note says, or lines of it, without headings and what is superseded."""
    text = decode_note(document.data, document.path)[0]
    rows = blank_claims(text, find_claims(text)).split("\n")
    first, last = lines or (document.body_first_line - 1, len(rows) - 1)
    kept = "\n".join(rows[first : last + 1])
    kept = Markup(kept).without_headings() if lines is None else kept
    return Passage(document.path, first + 1, last + 1, kept)


def _contradicting(loser: Document, text: str, other: Passage) -> list[Place]:
    found = find_contradictions([read_statements(loser), other], besides=BESIDES)
    return [_place_of(text, each.first) for each in found]


def _narrow(loser: Document, text: str, lines: tuple[int, int], other: Passage) -> list[Place]:
    """Return of some lines what contradicts the winner, all where nothing tells it apart."""
    own = read_statements(loser, lines)
    whole = content_of(text, *lines)
    sentences = split_sentences(own.text)
    if len(sentences) < 2:
        return [whole]
    found = [
        _place_of(text, each.first) for each in find_contradictions([own, other], besides=BESIDES)
    ]
    if found:
        return found
    said = Wording(other.text)
    shares = sorted(((Wording(each).share_matter(said), each) for each in sentences), reverse=True)
    if shares[0][0] >= LEAST_SHARED and shares[0][0] > shares[1][0]:
        place = Passage(own.note, own.first_line, own.last_line, shares[0][1])
        return [_place_of(text, place)]
    return [whole]


def _place_of(text: str, sentence: Passage) -> Place:
    """Return where a sentence stands; all of its lines where it stands there in other words."""
    starts = Markup(text).starts
    first, last = sentence.first_line - 1, sentence.last_line - 1
    found = find_words(text, sentence.text, starts[first], starts[last + 1])
    return found or content_of(text, first, last)
