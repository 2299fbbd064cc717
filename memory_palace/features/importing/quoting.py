"""Text of somebody else as Markdown that reads as it did, and that nothing of the note obeys.

Code stays code. Outside of it a heading becomes bold or is escaped, and so is what would make a
rule, a link to a note, a tag, a comment, an image from elsewhere, HTML or a label of a speaker.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
_PRIVATE = re.compile(r"<(?=/?private\b)", re.IGNORECASE)
_VERIFY = re.compile(r"([\[［][ \t]*verify[ \t]*)(?=[:：])", re.IGNORECASE)
_OPENING = re.compile(
    r"\A(?P<indent>[ \t]*+)(?P<marks>(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+)"
    r"(?P<fence>`{3,}+(?!.*`)|~{3,}+)(?P<info>.*)"
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_RULE = re.compile(r"\A([ \t>]*+)(-++|=++)[ \t]*")
_LABEL = re.compile(r"\A([ \t>]*+)\*\*([^*]{1,60}:\*\*)")
_DEFINITION = re.compile(r"\A([ \t>]*+\[?[^\[\]]*+)\]:(?![ \t]*+<?https?://)")
_TICKS = re.compile(r"`+")
_TOKEN = re.compile(r"\\`+|\\[!-/:-@\[-^{-~]|`+")
_ADDRESS = re.compile(r"<(?:https?://|mailto:)[^\s<>`]*+>")
_ACTIVE = re.compile(
    r"<(?=[A-Za-z/!?])|\[(?=\[)|(?<=\[)\[|!(?=\[)|(?<=%)%|(?<=\])\((?!https?://|mailto:)"
    r"|(?<![\w&/#\[])#(?=[^\W\d_])"
)
"""HTML, wikilinks, images, comments, links to other than the web, tags."""
_STARTS_BLOCK = re.compile(r"\A[ \t]*(?:```|~~~|[-*+>|]|\d{1,9}[.)][ \t]|\* \* \*)")


def quote_text(text: str, *, is_bold: bool) -> str:
    """Return a text as Markdown of its own: what is opened in it is closed in it.

    Headings become bold with ``is_bold``; else they are escaped, for ``# words`` of a person is as
    often a comment in code. Control characters are dropped.
    """
    text = _CONTROLS.sub("", _LINE_END.sub("\n", text))
    text = _VERIFY.sub(r"\1\\", _PRIVATE.sub("&lt;", text))
    return "\n".join(_quote_lines(text.split("\n"), is_bold=is_bold)).strip("\n")


def is_block(text: str) -> bool:
    """Whether a quoted text begins with what must begin a line: code, an item, a row, a quote."""
    return _STARTS_BLOCK.match(text) is not None


def _quote_lines(lines: list[str], *, is_bold: bool) -> Iterator[str]:
    fence, indent = "", 0
    for line in lines:
        if fence:
            line = line[min(indent, len(line) - len(line.lstrip(" "))) :]
            if re.fullmatch(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*", line):
                yield fence
                fence = ""
            else:
                yield line
        elif opening := _OPENING.fullmatch(line):
            if opening["marks"]:
                yield f"{opening['indent']}{opening['marks'].rstrip()}"
            fence, indent = opening["fence"], len(opening["indent"]) + len(opening["marks"])
            yield f"{fence}{opening['info'].rstrip()}"
        else:
            yield _quote_line(line, is_bold=is_bold)
    if fence:
        yield fence


def _quote_line(line: str, *, is_bold: bool) -> str:
    if rule := _RULE.fullmatch(line):
        is_rule = len(rule[2]) > 2 and rule[2][0] == "-"
        return f"{rule[1]}* * *" if is_rule else f"{rule[1]}\\{line[len(rule[1]) :]}"
    if heading := _HEADING.match(line):
        words = line[heading.end() :].strip()
        if (bare := words.rstrip("#")) == "" or bare[-1] in " \t":
            words = bare.rstrip()
        if is_bold:
            words = words.replace("**", "").strip()
            return f"**{_quote_inline(words)}**" if words else ""
        return f"\\{heading[1]} {_quote_inline(words)}".rstrip()
    line = _quote_inline(line)
    if definition := _DEFINITION.match(line):
        line = f"{definition[1]}]\\:{line[definition.end() :]}"
    return _LABEL.sub(r"\1\\*\\*\2", line, count=1) if _LABEL.match(line) else line


def _quote_inline(line: str) -> str:
    """Escape what is active outside of code; a backtick that opens no code is escaped as well."""
    closing: dict[int, list[int]] = {}
    for run in _TICKS.finditer(line):
        closing.setdefault(len(run[0]), []).append(run.start())
    quoted, position = [], 0
    while token := _TOKEN.search(line, position):
        quoted.append(_escape(line[position : token.start()]))
        found, position = token[0], token.end()
        ends = closing.get(len(found), []) if found[0] == "`" else []
        place = bisect_left(ends, position)
        if place < len(ends):
            position = ends[place] + len(found)
            quoted.append(line[token.start() : position])
        elif "`" in found:
            quoted.append("\\`" * found.count("`"))
        else:
            quoted.append(found)
    return "".join([*quoted, _escape(line[position:])])


def _escape(text: str) -> str:
    kept, position = [], 0
    for address in _ADDRESS.finditer(text):
        kept += [_ACTIVE.sub(r"\\\g<0>", text[position : address.start()]), address[0]]
        position = address.end()
    return "".join([*kept, _ACTIVE.sub(r"\\\g<0>", text[position:])])
