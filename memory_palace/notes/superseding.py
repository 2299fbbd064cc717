"""Supersession marks: the line below a claim that names its replacement, written and parsed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import NamedTuple

from memory_palace.errors import PalaceError, UsageError
from memory_palace.markdown.markup import Markup
from memory_palace.models import Validity
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.note import CLAIM_MARK, decode_note, decode_stored

_MARK = re.compile(
    r"^[ \t>]*\*\*Superseded (?P<day>\d{4}-\d{2}-\d{2}):\*\* "
    r"(?:\"(?P<claim>[^\"\n]+)\" )?(?P<decision>[^\n]*)$",
    re.M,
)
_LINK = re.compile(r"\[\[([^\[\]|#\n]+)")
_SEE = "; see "
_LEAD = re.compile(
    r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|#{1,6}[ \t]+|\|[ \t]*)?"
)
_RULE = re.compile(r"^[ \t>]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t:|-]*+)?$")
"""Delimiter row of a table, between its head and its body; the head row has a bar."""
_OPENING, _CLOSING = "\"'([*_~`«“„‘", "\"')]*_~`»”’.!?…,;:。！？"
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*\s*$")
_COMMENTS = (("<!--", "<! --"), ("%%", "% %"))
"""Comment signs, which would hide the rest of a note, and their harmless forms."""
_LONGEST, _KEPT = 160, 60
"""Most characters of a claim to quote whole; characters to quote of each end of a longer one."""
_GAP = " … "
_QUOTED = re.compile(r"`[^`\n]+#L\d+-L\d+` sha256:[0-9a-f]{16}")
"""The line above a fenced quotation of a note in a conflict: path, lines and digest."""
_FAR = 20_000
"""Most characters above a mark that are searched for its claim."""


class LostClaim(NamedTuple):
    """A superseded claim, ``text[start:end]``, and the span of the mark that says so."""

    start: int
    end: int
    mark_start: int
    mark_end: int
    day: str
    heirs: tuple[str, ...]
    """Link targets, as written, of the notes that supersede the claim."""

    @property
    def validity(self) -> Validity:
        """Validity up to the start of the mark's day in UTC, and the superseding notes."""
        day = datetime.combine(date.fromisoformat(self.day), datetime.min.time(), UTC)
        return Validity(None, day.timestamp(), self.heirs)


class Decision(NamedTuple):
    """The parts of a supersession mark except the claim."""

    day: str
    words: str
    decided_by: str
    heir: str
    """Link target of the note that supersedes the claim."""


def find_claims(text: str) -> list[LostClaim]:
    """Return the superseded claims of a text, in the order of their marks.

    A mark in a fence is ignored, and so is one whose claim is missing or whose day is invalid.
    """
    if CLAIM_MARK not in text:
        return []
    fenced = Markup(text).fenced
    letters = _Letters(_MARK.sub(lambda mark: " " * len(mark[0]), text))
    found, line, end = list[LostClaim](), 0, 0
    for mark in _MARK.finditer(text):
        line, end = line + text.count("\n", end, mark.start()), mark.start()
        place = None if fenced[line] else _locate(text, mark, letters)
        if place is not None:
            links = map(str.strip, _LINK.findall(mark["decision"].rpartition(_SEE)[2]))
            with suppress(ValueError):  # no such day
                date.fromisoformat(mark["day"])
                found.append(LostClaim(*place, *mark.span(), mark["day"], tuple(links)))
    return found


def blank_claims(text: str, claims: Sequence[LostClaim]) -> str:
    """Return a text with superseded claims and their marks replaced by spaces; offsets stay."""
    spans = [span for each in claims for span in (each[:2], (each.mark_start, each.mark_end))]
    parts, place = list[str](), 0
    for start, end in sorted(spans):
        start = max(start, place)
        if start < end:
            parts += [text[place:start], re.sub(r"[^\n]", " ", text[start:end])]
            place = end
    return "".join([*parts, text[place:]])


def blank_quotes(text: str) -> str:
    """Return a decided conflict with its quotations of notes replaced by spaces."""
    lines = text.split("\n")
    for block in Markup(text).blocks:
        above = block.first - 1 if block.first < 2 or lines[block.first - 1] else block.first - 2
        if block.kind == "fence" and above >= 0 and _QUOTED.fullmatch(lines[above]):
            for at in (above, *range(block.first, block.last + 1)):
                lines[at] = " " * len(lines[at])
    return "\n".join(lines)


class _Letters:
    """The casefolded letters and digits of a text, with the offset of each."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._places = [at for at, letter in enumerate(text) if letter.isalnum()]
        self._plain = "".join(text[at].casefold()[:1] for at in self._places)

    def find(self, words: str, start: int, end: int) -> tuple[int, int] | None:
        wanted = "".join(letter.casefold()[:1] for letter in words if letter.isalnum())
        first, last = bisect_left(self._places, start), bisect_left(self._places, end)
        at = self._plain.rfind(wanted, first, last) if wanted else -1
        if at < 0:
            return None
        first, last = self._places[at], self._places[at + len(wanted) - 1] + 1
        while first > start and self._text[first - 1] in _OPENING:
            first -= 1
        while last < end and self._text[last] in _CLOSING:
            last += 1
        return first, last


def find_words(
    text: str, words: str, start: int = 0, end: int | None = None
) -> tuple[int, int] | None:
    """Return the span of the last occurrence of words in ``text[start:end]``, or ``None``.

    Only letters and digits are compared, ignoring case; adjacent punctuation is included.
    """
    return _Letters(text).find(words, start, len(text) if end is None else end)


def count_words(text: str, words: str, start: int = 0) -> int:
    """Return the number of occurrences of words in a text, compared as ``find_words`` does."""
    plain, wanted = ("".join(filter(str.isalnum, s.casefold())) for s in (text[start:], words))
    return plain.count(wanted) if wanted else 0


def mark_claim(path: str, data: bytes, place: tuple[int, int], decision: Decision) -> bytes:
    """Return a note with a mark on a line of its own below a claim; every other byte stays.

    ``place`` is the claim's span in the decoded text. Raise ``PalaceError`` if the note is not
    UTF-8 or the mark could not be read back, ``UsageError`` if the claim is in the head of a table.
    """
    lines, text = decode_stored(path, data).split("\n"), decode_note(data, path)[0]
    if text.count("\n") + 1 != len(lines):
        raise PalaceError(f"{path} has carriage returns alone; save it with line feeds first")
    below, prefix, has_gap = _find_line(text, place)
    is_whole = content_of(text, below, below) == place
    is_above = not has_gap and is_whole and lines_of(text, place) == (below, below)
    words = _write(decision, "" if is_above else _quote(text[slice(*place)]))
    end = "\r" if lines[0].endswith("\r") else ""
    new = [line + end for line in ([prefix.rstrip()] if has_gap else []) + [prefix + words]]
    if below == len(lines) - 1:
        lines[below] += end
        new[-1] = new[-1].removesuffix("\r")
    after = "\n".join([*lines[: below + 1], *new, *lines[below + 1 :]]).encode()
    marked = decode_note(after, path)[0]
    if not any(marked[slice(*claim[:2])] == text[slice(*place)] for claim in find_claims(marked)):
        raise PalaceError(f"{path}: the claim cannot be marked where it stands; change it by hand")
    return after


def lines_of(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """Return the first and last line of a span of a text, 0-based."""
    return text.count("\n", 0, place[0]), text.count("\n", 0, max(place[0], place[1] - 1))


def content_of(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the span of the content of 0-based lines, without leading list and heading marks."""
    ends = [*(found.start() for found in re.finditer("\n", text)), len(text)]
    return _strip_line(text, ends[first - 1] + 1 if first else 0, ends[last])


def _strip_line(text: str, start: int, end: int) -> tuple[int, int]:
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    return start, start + len(text[start:end].rstrip(" \t\n|"))


def _locate(text: str, mark: re.Match[str], letters: _Letters) -> tuple[int, int] | None:
    """Return the span of a mark's claim: its quotation or the line above; ``None`` if missing."""
    words, above = mark["claim"], mark.start() - 1
    far = max(0, above - _FAR)
    if words is None:
        start = text.rfind("\n", 0, max(above, 0)) + 1
        place = _strip_line(text, start, above)
        return place if above > 0 and place[0] < place[1] and not _MARK.match(text, start) else None
    first, gap, last = words.rpartition(_GAP)
    whole = letters.find(words, far, max(above, 0))
    if whole is not None or not gap:
        return whole
    ends = letters.find(last, far, max(above, 0))
    begins = letters.find(first, far, ends[0]) if ends else None
    return (begins[0], ends[1]) if begins and ends else None


def _write(decision: Decision, quoted: str) -> str:
    words = decision.words
    for sign, harmless in _COMMENTS:
        words = words.replace(sign, harmless)
    stop = "" if _SENTENCE_END.search(words) else "."
    claim = f'"{quoted}" ' if quoted else ""
    return (
        f"**Superseded {decision.day}:** {claim}{words}{stop} "
        f"Decided by {decision.decided_by}{_SEE}[[{decision.heir}]]."
    )


def _quote(claim: str) -> str:
    """Return a claim on one line, without double quotation marks; of a long one both ends."""
    words = re.sub(r"\n[ \t>]*", " ", claim).replace('"', "'").split()
    text = " ".join(words)
    if len(text) <= _LONGEST:
        return text
    first = text[:_KEPT].rpartition(" ")[0] or text[:_KEPT]
    last = text[-_KEPT:].partition(" ")[2] or text[-_KEPT:]
    return f"{first}{_GAP}{last}"


def _find_line(text: str, place: tuple[int, int]) -> tuple[int, str, bool]:
    """Return the line above a new mark, the mark's prefix, and whether a gap goes between."""
    head = split_front_matter(text).end
    above = text.count("\n", 0, head)
    lines = text.split("\n")
    line = lines_of(text, place)[1]
    blocks = Markup(text[head:]).blocks
    block = next((b for b in blocks if b.first <= line - above <= b.last), None)
    if block is None:
        return line, "", False
    first, last = block.first + above, block.last + above
    lead = re.sub(r"[^>\t]", " ", lines[first][: block.column])
    if block.kind != "prose":
        lead = lines[first][: len(lines[first]) - len(lines[first].lstrip(" \t>"))]
        return last, lead, block.kind in ("html", "comment", "indented")
    rows = lines[first : last + 1]
    if (
        any(_RULE.match(row) and "-" in row for row in lines[line : line + 2])
        and "|" in lines[line]
    ):
        raise UsageError(f"line {line + 1} is the head of a table; name a row of it")
    if any("|" in one and _RULE.match(two) and "-" in two for one, two in pairwise(rows)):
        return last, lead, True
    stop = text.find("\n", place[1])
    is_rest = bool(text[place[1] : stop if stop >= 0 else len(text)].strip())
    while is_rest and line < last and not _SENTENCE_END.search(lines[line]):
        line += 1
    return line, lead, False
