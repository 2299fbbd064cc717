"""Split a text into sentences, display units and the turns of speakers, in linear time.

``split_sentences`` returns sentences as clean lines, ``find_units`` the offsets of parts to show.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from itertools import accumulate, groupby, takewhile
from typing import Literal, NamedTuple, TypeAlias

from memory_palace.language.words import WORDS, Languages, tokenize

_MARK = re.compile(r"(?<![ \t])[ \t]*(?:[-*+>|]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"(?<![ \t])[ \t]*#{1,6}[ \t]+")
_ITEM = re.compile(r"(?<![ \t>])[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_ROW = re.compile(r"(?<![ \t>])[ \t>]*\|")
_FENCE = re.compile(r"(?<![ \t>])[ \t>]*(```|~~~)")
_CLOSED = re.compile(r"(?<![ \t>])[ \t>]*(?:\||```|~~~|#{1,6}[ \t])")
"""Lines that the next line does not continue: table rows, fences, headings."""
_END = re.compile(
    r"(?<![.!?…])(?P<mark>[.!?…]++)(?P<closing>[\"'”’»)\]]*+)\s++"
    r"|(?<=[。！？])(?![。！？」』”）])"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘«]+\Z")
_NEVER_LAST, _BEFORE_NUMBER, _SELDOM_LAST = (
    WORDS[f"abbreviations {place}"] for place in ("inside", "before a figure", "seldom last")
)
"""Abbreviations that never end a sentence; that end none before a digit; that end one unless a
lower-case letter follows, such as ``p.m.`` and ``U.S.``."""
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]", re.IGNORECASE)
_WINDOW = 40
"""Most characters read before a possible sentence end, so that time stays linear."""
_STAMP = (
    r"[\[(]?(?=[\d./, T-]{0,14}\d:\d\d)\d(?:[\d./:, \u202f-]|T(?=\d)){3,22}"
    r"(?i:[ap]\.?m\b\.?)?[\])]?[ \t]*"
)
_LABEL = re.compile(
    rf"(?m)^[ \t]*(?:[-*+>] )?[*_]{{0,2}}(?P<before>{_STAMP}(?:[-–—][ \t]*)?[*_]{{0,2}})?"
    r"(?P<who>[^\W\d_][\w.'’ -]{0,40}?)[*_]{0,2}"
    rf"(?P<after>,?[ \t]+{_STAMP})?(?::[*_]{{0,2}}(?=\s|$)|(?P<wide>：)[*_]{{0,2}}|"
    r"(?(after)$\n?|(?!)))(?P<said>[^\n]*)"
)
_MOST_WORDS = 3
ASKING = re.compile(r"\?(?!\S)|[？؟]")
"""A question mark that ends a word."""
WRITER = "i"
"""The speaker of the text above the first label."""
SHORT, LONG = 240, 600
"""Most characters of a paragraph, and of a speaker's turn, that are shown as one unit."""

_UNSPACED = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
_STEP = rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+"
"""A word, or a character of a script without spaces. Compiled when a text is first cut, because it
takes longer than all other patterns here."""
_ELLIPSIS = "…"
_STOPS = ",;:.!?…)—–|。，、！？"

UnitKind: TypeAlias = Literal["text", "turn", "row", "heading", "code"]


class Unit(NamedTuple):
    """A piece of a text that is shown whole or not at all: ``text[start:end]``."""

    start: int
    end: int
    kind: UnitKind
    speaker: str = ""
    """The casefolded speaker of a turn; empty for other units."""


def split_sentences(text: str) -> list[str]:
    """Return the sentences in order, each on one line; paragraphs, items and headings are apart.

    An abbreviation, an initial, or an ellipsis before a lower-case letter ends no sentence; closing
    quotes and brackets belong to it; scripts without spaces end at their own stops.
    """
    return [block[a:b] for block in _blocks(text) for a, b in _find_sentences(block)]


def find_units(text: str) -> Iterator[Unit]:
    """Yield the display units of a text in order: turns, items, rows, headings and sentences.

    A short paragraph is one unit, and each line of code. Only white space is between units.
    """
    start = end = position = 0
    said = {label.start(): label["who"] for label in _find_labels(text, find_talkers(text))}
    kind: UnitKind = "text"
    speaker = fence = before = ""
    for line in text.split("\n"):
        first, position = position, position + len(line) + 1
        found, who, begins = _read_line(line, before, fence, said.get(first, ""))
        if end > start and (begins or not line.strip()):
            yield from _cut(text, start, end, kind, speaker)
            start = end
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        before = line
        if line.strip():
            if end <= start:
                start, kind, speaker = first + _indent(line), found, who
            end = first + len(line.rstrip())
    yield from _cut(text, start, end, kind, speaker)


def _read_line(line: str, before: str, fence: str, who: str) -> tuple[UnitKind, str, bool]:
    """Return a line's kind, its speaker, and whether a unit begins with it."""
    if fence or _FENCE.match(line):
        return "code", "", True
    if _ROW.match(line):
        return "row", "", True
    if _HEADING.match(line):
        return "heading", "", True
    if who:
        return "turn", who.casefold(), True
    is_quote, was_quote = (text.lstrip()[:1] == ">" for text in (line, before))
    begins = bool(_ITEM.match(line)) or (is_quote and not was_quote)
    return "text", "", begins or bool(_CLOSED.match(before))


def _cut(text: str, start: int, end: int, kind: UnitKind, speaker: str) -> Iterator[Unit]:
    size = end - start
    if size <= (LONG if kind == "turn" else SHORT) or kind in ("heading", "row", "code"):
        if size > 0:
            yield Unit(start, end, kind, speaker)
        return
    mark = _ITEM.match(text[start:end])  # the mark "4." is not a sentence
    inside = start + mark.end() if mark else start
    for first, last in _find_sentences(text[inside:end]):
        yield Unit(inside + first if first else start, inside + last, kind, speaker)


def cut_text(
    text: str,
    terms: Mapping[str, float],
    most: int,
    *,
    measure: Callable[[str], int] = len,
    languages: Languages = (),
) -> str:
    """Return a text, cut to the part with the largest sum of ``terms`` if it exceeds ``most``.

    It is cut between words, at the start of a clause if no term is lost by that, and ``…`` marks
    each cut. ``measure`` is additive: characters, bytes or columns. ``languages`` are those that
    the terms were stemmed for.
    """
    if measure(text) <= most:
        return text
    mark = measure(_ELLIPSIS)
    sizes = list(accumulate(map(measure, text), initial=0))
    words = [match.span() for match in re.finditer(_STEP, text)]
    values = [
        sum(terms.get(stem, 0) for stem in set(tokenize(text[a:b], languages=languages)))
        for a, b in words
    ]
    sums = list(accumulate(values, initial=0.0))
    spans: list[tuple[int, int, float]] = []
    last = 0
    for first, (start, _) in enumerate(words):
        last = max(last, first)
        while last < len(words) and sizes[words[last][1]] - sizes[start] <= most - 2 * mark:
            last += 1
        spans.append((first, last, round(sums[last] - sums[first], 6)))
    fitting = [span for span in spans if span[1] > span[0]]
    if not fitting:  # not one word has room
        tail = _ELLIPSIS * (most > mark)
        return text[: bisect_left(sizes, most - mark * len(tail) + 1) - 1] + tail
    first, last = _choose_span(text, words, fitting)
    start, end = words[first][0], words[last - 1][1]
    return _ELLIPSIS * (start > 0) + text[start:end] + _ELLIPSIS * (end < len(text))


def _choose_span(
    text: str, words: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int, float]]
) -> tuple[int, int]:
    """Return the index of the first word of the best span, and that after its last word.

    Of successive spans with equal sums, prefer one that begins a clause, then one two thirds along:
    the text after a term tells more than the text before it.
    """
    best = max(value for _, _, value in spans)
    start = next(place for place, span in enumerate(spans) if span[2] == best)
    run = list(takewhile(lambda span: span[2] == best, spans[start:]))
    aim = run[len(run) * 2 // 3][0]
    clauses = [
        span for span in run if not span[0] or text[words[span[0] - 1][1] - 1] in _STOPS
    ] or run
    return min(clauses, key=lambda span: abs(span[0] - aim))[:2]


def split_speakers(text: str) -> list[tuple[str, str]]:
    """Return the casefolded speaker and the text of each part in order; labels are left out.

    Any short capitalised label counts, even "Note:", because a speaker only matters if a question
    names it. Other labels, and those with a time, have to take turns.
    """
    parts, speaker, start = [], WRITER, 0
    for label in _find_labels(text, find_talkers(text)):
        parts.append((speaker, text[start : label.start()]))
        speaker, start = label["who"].casefold(), label.start("said")
    parts.append((speaker, text[start:]))
    return [(who, part) for who, part in parts if part.strip()]


def find_speakers(text: str, talkers: Container[str] | None = None) -> Iterator[str]:
    """Yield each word of the labels of a text, casefolded; ``talkers`` are those of its note."""
    for label in _find_labels(text, find_talkers(text) if talkers is None else talkers):
        yield from label["who"].casefold().split()


def find_talkers(text: str) -> frozenset[str]:
    """Return the casefolded labels that take turns, if one of them both asks and states."""
    turns = [(m["who"].casefold(), bool(ASKING.search(m["said"]))) for m in _find_labels(text)]
    counts = Counter(who for who, _ in groupby(who for who, _ in turns))
    talkers = frozenset(who for who in counts if counts[who] > 1)
    is_talk = any({(who, True), (who, False)}.issubset(turns) for who in talkers)
    return talkers if len(talkers) > 1 and is_talk else frozenset()


def drop_times(text: str, talkers: Collection[str]) -> str:
    """Return a text in which labels of ``talkers`` with a time become plain: ``Anna: yes``."""

    def name(label: re.Match[str]) -> str:
        is_timed = (label["before"] or label["after"]) and label["who"].casefold() in talkers
        return f"{label['who']}: {label['said'].lstrip()}" if is_timed else label[0]

    return _LABEL.sub(name, text) if talkers else text


def _find_labels(text: str, talkers: Container[str] | None = None) -> Iterator[re.Match[str]]:
    """Yield the labels of a text; with ``talkers``, only theirs and bare capitalised ones."""
    for label in _LABEL.finditer(text) if ":" in text or "：" in text else ():
        who, is_bare = label["who"], not (label["before"] or label["after"] or label["wide"])
        is_name = talkers is None or who.casefold() in talkers or (is_bare and who[0].isupper())
        if is_name and len(who.split()) <= _MOST_WORDS:
            yield label


def _blocks(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.match(line)
        mark = heading or _MARK.match(line)
        if lines and (mark or not line.strip()):
            yield " ".join(" ".join(lines).split())
            lines = []
        bare = line[mark.end() :] if mark else line
        if heading:
            yield " ".join(bare.split())
        elif bare.strip():
            lines.append(bare)
    if lines:
        yield " ".join(" ".join(lines).split())


def _find_sentences(block: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each sentence of a paragraph, without white space around it."""
    start = 0
    for match in _END.finditer(block):
        if match["mark"] and not _is_end(block, start, match):
            continue
        end = match.end("closing") if match["mark"] else match.end()
        if block[start:end].strip():
            yield start + _indent(block[start:end]), end
        start = match.end()
    if block[start:].strip():
        yield start + _indent(block[start:]), len(block.rstrip())


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _is_end(block: str, start: int, match: re.Match[str]) -> bool:
    following = block[match.end() : match.end() + 1]
    if following.islower() and (match["mark"] == "…" or match["closing"] or "..." in match["mark"]):
        return False
    before = block[max(start, match.start() - _WINDOW) : match.start()]
    if match["mark"] != "." or not any(map(str.isalnum, before)):
        return any(map(str.isalnum, before))
    found = _LAST_WORD.search(before)
    word = found[0] if found else ""
    key = word.casefold()
    if key in _NEVER_LAST or (key in _BEFORE_NUMBER and following.isdigit()):
        return False
    if key in _SELDOM_LAST or _DOTTED.fullmatch(key):
        return not following.islower()
    if len(word) == 1 and word.isupper():
        return not _is_initial(before[: -len(word)].split())
    return True


def _is_initial(words: list[str]) -> bool:
    """Whether a capital letter after these words is an initial: ``J.``, ``George W.``."""
    return not words or (words[-1][0].isupper() and words[-1] != "I")
