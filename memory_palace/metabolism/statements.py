"""What a card says, statement by statement, with the heading and the label each stands under."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Markup
from memory_palace.metabolism.phrasing import Phrasing, TelegraphPart

_ITEM = re.compile(r"(?<![ \t>])[ \t>]*+(?:[-*+•]|\d{1,3}[.)])[ \t]++")
_BOX = re.compile(r"(?:\[[ xX✓✔]\]|[☐☑☒✅✔✓])[ \t]*+")
_CLOCK = re.compile(
    r"[*_\[(]{0,3}(?:\d{4}-\d\d-\d\d[T, ]{0,2}|\d{1,2}[./]\d{1,2}\.?(?:\d{2,4})?[, ]{1,2})?"
    r"(?:\d{1,2}(?:[:：]| ?h ?(?=\d)|\.(?=\d))\d\d(?::\d\d)?(?: ?(?:uhr|[ap]\.?m\.?|h)\b)?"
    r"|\d{1,2}時\d{0,2}分?)"
    r"[*_\])]{0,3}[ \t]*+[,–—|:：-]?[ \t]*+",
    re.IGNORECASE,
)
"""The hour at which a line of a log was written, and the day before it."""
_LABEL = re.compile(
    r"[*_]{0,3}([^\W\d_][^\n:：*_]{0,40}?)[*_]{0,3} ?[:：][*_]{0,3}(?:\s++|$|(?=[^\x00-\x7f]))"
)
_DASHED = re.compile(r"[*_]{0,3}([^\W\d_][^\n:：*_–—]{0,30}?)[*_]{0,3} ?[–—] ?")
_SPEAKER = re.compile(
    r"[*_<@]{0,3}([^\W\d_][\w.'’ -]{0,24}?)(?:[*_>]{0,3} ?[:：][*_]{0,2}|>|[*_]{2,3}(?= ))\s*+"
)
_CAPITALS = re.compile(r"([A-Z]{1,30}[;:]?[A-Z]{1,30})[:,]? ")
_STRONG = re.compile(r"\*\*([^*\n:：]{1,40}?)[.。?？]\*\* ")
_BOLD = re.compile(r"[*_]{2,3}([^*_]{1,60})[*_]{2,3}[:：]?\s*\Z")
_ORDINAL, _MOST_ORDINAL = re.compile(r"(?:^|[^\d.,])\d{1,2}\.\Z"), 4
_IMAGE = re.compile(r"!\[[^\[\]\n]{0,200}\](?:\([^()\n]{0,500}\)|\])|!\[\[[^\[\]\n]{1,200}\]\]")
_LONGEST_QUESTION = 60
_LONGEST_HEAD = 300
"""Characters of the head of a table above which its rows go without."""
_RULE = frozenset("|:-> \t")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence, list item or row of a table, in the author's words."""

    text: str
    heading: str = ""
    """The nearest one, or the label that stands alone above; empty above the first."""
    label: TelegraphPart | None = None
    """The part that its own label names."""
    label_text: str = ""
    block: int = 0
    """Number of the paragraph, item or row that it belongs to."""
    mark: str = ""
    """``- `` for an item, ``| `` for a row."""
    head: str = ""
    """Head of the table, with the rule below it."""
    is_check: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    heading: str
    mark: str = ""
    indent: int = 0
    head: str = ""
    is_check: bool = False
    begins: bool = True


def read_statements(body: str, phrasing: Phrasing) -> list[Statement]:
    """Return the statements of a Markdown text in order; code, comments and headings left out.

    Hours, speakers and labels that name a part are taken off: the heading says what they said.
    """
    found: list[Statement] = []
    label, indent, under = "", -1, ""
    lines = _mark_turns(list(_read_lines(body, phrasing)), phrasing)
    for block, line in enumerate(_join(lines), start=1):
        alone = _label_alone(line.text, phrasing)
        if alone:
            is_item = bool(line.mark) and alone[-1] not in "?？"
            label, indent, under = alone, line.indent if is_item else -1, line.heading
            continue
        if line.heading != under or (line.mark and line.indent <= indent):
            label = ""
        said = list(_say(line, label or line.heading, block, phrasing))
        if label.endswith(("?", "？")) or (said and said[0].label is not None):
            label = ""  # "lesson?" names what the next one says, and no more
        found += said
    return found


def _say(line: _Line, heading: str, block: int, phrasing: Phrasing) -> Iterator[Statement]:
    label: TelegraphPart | None = None
    name = ""
    for text in _split(line, phrasing):
        own, said = _take_label(text, phrasing)
        if own is not None:
            label, heading = own, line.heading
            name = text.removesuffix(said).strip(" |*_:：–—-")
        is_row = line.mark == "| " and said == text
        mark = "- " if line.mark == "| " and not is_row else line.mark
        if any(map(str.isalnum, _IMAGE.sub("", said))):
            yield Statement(said, heading, label, name, block, mark,
                            line.head if is_row else "", line.is_check)  # fmt: skip


def _enter(above: dict[int, str], level: int, text: str, phrasing: Phrasing) -> str:
    """Return what a section stands under: the heading above it, where its own names no part."""
    for lower in [n for n in above if n >= level]:
        del above[lower]
    is_title = level == 1 and not above and phrasing.part_of(text, least_share=1) is None
    above[0] = ""
    above[level] = "" if is_title else text
    named = [own for own in above.values() if phrasing.part_of(own) is not None]
    return named[-1] if named and phrasing.part_of(text) is None else above[level]


def _read_lines(body: str, phrasing: Phrasing) -> Iterator[_Line]:
    """Yield the lines that say something; those that go on with the one before do not begin."""
    text, _ = drop_comments(body)
    markup = Markup(text)
    headed = {n: h for h in markup.headings for n in range(h.first, h.last + 1) if not h.is_nested}
    heading, lines = "", text.split("\n")
    above: dict[int, str] = {}
    table: list[str] = []
    was_blank = True
    for number, (line, is_fenced) in enumerate(zip(lines, markup.fenced, strict=True)):
        if number in headed:
            heading = _enter(above, headed[number].level, headed[number].text, phrasing)
        bold = _BOLD.fullmatch(line.strip())
        if bold and was_blank:
            heading = bold[1].rstrip(":： ")
        if is_fenced or number in headed or not line.strip() or (bold and was_blank):
            was_blank, table = True, []
            continue
        if line.lstrip(" \t>").startswith("|"):
            following = lines[number + 1] if number + 1 < len(lines) else ""
            if set(line) <= _RULE:
                table.append(line.strip())
            elif not table and "-" in following and set(following.strip()) <= _RULE:
                table = [line.strip()]
            else:
                yield _Line(line.strip(), heading, "| ", head=_head(table))
            was_blank = True
            continue
        item = _ITEM.match(line)
        said = line[item.end() :] if item else line.lstrip(" \t>")
        box = _BOX.match(said)
        indent = len(line) - len(line.lstrip())
        yield _Line(
            said[box.end() :].strip() if box else said.strip(), heading, "- " if item else "",
            indent, is_check=box is not None, begins=bool(item or box or was_blank),
        )  # fmt: skip
        was_blank = False


def _head(table: list[str]) -> str:
    head = "\n".join(table[:2])
    return head if len(head) <= _LONGEST_HEAD else ""


def _mark_turns(lines: list[_Line], phrasing: Phrasing) -> list[_Line]:
    """Take hours and speakers off the lines of a log, each of which begins a statement."""
    clocks = sum(_CLOCK.match(line.text) is not None for line in lines)
    bare = [_CLOCK.sub("", line.text, count=1) if clocks > 1 else line.text for line in lines]
    names = Counter(
        name[1] for text in bare if (name := _SPEAKER.match(text)) and _is_name(name[0], phrasing)
    )
    turned = []
    for line, text in zip(lines, bare, strict=True):
        name = _SPEAKER.match(text)
        is_turn = bool(name and names[name[1]] > 1) or (
            name is not None and text != line.text and _is_name(name[0], phrasing)
        )
        said = text[name.end() :] if name and is_turn else text
        begins = line.begins or said != line.text or _take_label(text, phrasing)[0] is not None
        mark = "- " if said != line.text and not line.mark else line.mark
        turned.append(replace(line, text=said, begins=begins, mark=mark))
    return turned


def _is_name(text: str, phrasing: Phrasing) -> bool:
    few = len(text.split()) <= 3 and not text[0].islower()
    return few and phrasing.part_of(text, least_share=0.5) is None


def _join(lines: list[_Line]) -> Iterator[_Line]:
    """Yield paragraphs, items and rows, each on one line."""
    if not lines:
        return
    first = 0
    for number in range(1, len(lines) + 1):
        if number < len(lines) and not lines[number].begins:
            continue
        yield replace(lines[first], text=" ".join(line.text for line in lines[first:number]))
        first = number


def _split(line: _Line, phrasing: Phrasing) -> list[str]:
    if line.mark == "| ":
        return [line.text]
    found: list[str] = []
    for sentence in split_sentences(line.text):
        if found and phrasing.has_ordinals and _ORDINAL.search(found[-1][-_MOST_ORDINAL:]):
            found[-1] += f" {sentence}"
        else:
            found.append(sentence)
    return found or [line.text]


def _label_alone(text: str, phrasing: Phrasing) -> str:
    """Return the label that is all a line says and that names a part."""
    if phrasing.part_of(text, least_share=1) is not None:
        return text
    if text[-1:] in ("?", "？") and len(text) < _LONGEST_QUESTION:
        return text if phrasing.part_of(text) == "principle" else ""
    label = _LABEL.fullmatch(text)
    return label[1] if label and phrasing.part_of(label[1]) is not None else ""


def _take_label(text: str, phrasing: Phrasing) -> tuple[TelegraphPart | None, str]:
    """Return the part that a statement's label names, and the statement without a plain one."""
    if text.startswith("|"):
        cells = [cell.strip(" *_:：") for cell in text.strip("| ").split("|")]
        part = phrasing.part_of(cells[0], least_share=0.5)
        return part, cells[1] if part and len(cells) == 2 else text
    for pattern, share in ((_LABEL, 0.5), (_STRONG, 0.5), (_DASHED, 1.0), (_CAPITALS, 1.0)):
        label = pattern.match(text)
        part = phrasing.part_of(label[1], least_share=share) if label else None
        if label and part is not None:
            is_plain = phrasing.part_of(label[1], least_share=1) is not None
            return part, text[label.end() :] if is_plain else text
    return None, text
