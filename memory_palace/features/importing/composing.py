"""Compose notes from conversations of other programs, whose text is escaped and has no effect."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256

from memory_palace.changes.composing import file_name
from memory_palace.errors import CheckFailedError
from memory_palace.features.importing.items import Conversation, Turn, Withheld
from memory_palace.language.visible import visible
from memory_palace.notes.frontmatter import write_front_matter
from memory_palace.notes.note import leave_out, withhold
from memory_palace.tools import shorten

ORIGIN = "import"
"""The origin in the front matter of imported notes, which are trusted less than one's own."""
MOST_BYTES = 48 * 1024
"""Maximum bytes of turns in one note; a longer conversation gets several. No turn is divided."""
_MOST_TITLE, _MOST_BEGINNING, _MOST_NAME = 80, 60, 50
_SYNTAX = re.compile(r"[*_`\[\]［<>#|\\%!:：]+")
_PRIVATE = re.compile(r"<(?=/?private\b)", re.IGNORECASE)
_WITHHELD = "(left out here: a secret, or private)"


def digest_turns(turns: Sequence[Turn]) -> str:
    """Return the digest of turns as exported: 32 hex digits of SHA-256."""
    digest = sha256()
    for turn in turns:
        said = turn.at.isoformat() if turn.at else ""
        for part in (turn.speaker, said, turn.text):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:32]


def title_of(conversation: Conversation) -> str:
    """Return the title of a conversation on one line, else how it begins."""
    first = conversation.turns[0].text
    for text, most in ((conversation.title, _MOST_TITLE), (first, _MOST_BEGINNING)):
        if words := shorten(_plain(text[: 8 * most]), most):
            return words
    return "Untitled conversation"


def write_turns(
    turns: Sequence[Turn], title: str, *, first: int
) -> tuple[list[Turn], list[Withheld]]:
    """Return turns as self-contained Markdown, and the parts of them that are withheld.

    ``first`` is the number of the first turn in the conversation, from 1.
    """
    written, withheld = [], []
    for number, turn in enumerate(turns, start=first):
        try:
            clean, problems = leave_out(turn.text)
        except CheckFailedError as error:
            clean = _WITHHELD
            withheld.append(Withheld(title, number, None, str(error)))
        else:
            withheld += [Withheld(title, number, p.line, p.why) for p in problems]
        text = quote_text(clean, is_bold=turn.speaker == "assistant")
        gap = "\n\n" if is_block(text) else " "
        written.append(replace(turn, text=f"**{_name(turn.speaker)}:**{gap}{text}\n"))
    return written, withheld


def _name(speaker: str) -> str:
    """Return the label of a speaker: of a person's name nothing is syntax, or ends the label."""
    if speaker in ("user", "assistant"):
        return speaker.title()
    return shorten(_SYNTAX.sub(" ", _plain(speaker[:500])), _MOST_NAME) or "Unnamed"


def compose_part(
    conversation: Conversation,
    title: str,
    written: Sequence[Turn],
    *,
    source: str,
    part: int,
    before: str,
    said: datetime | None,
) -> tuple[str, bytes]:
    """Return the path, below the folder of the source, and the bytes of a note of some turns.

    ``before`` is the path of the previous part, and ``said`` the time of the previous turn.
    """
    dated = (turn.at for turn in written if turn.at)
    moment = said if part == 1 else next(dated, said)
    day = moment.date().isoformat() if moment else None
    fields: dict[str, object] = {
        "title": title if part == 1 else f"{title} ({part})",
        "date": day,
        "type": "conversation",
        "origin": ORIGIN,
        "source": source,
        "source_id": _line(conversation.source_id),
        "url": _line(conversation.url) or None,
        "started": conversation.started.isoformat() if conversation.started else None,
        "continues": before or None,
    }
    number = f" ({part})" if part > 1 else ""
    name = file_name(f"{day or 'undated'} {title.rstrip(' …')}{number}")
    year = f"{day[:4]}/" if day else ""
    return f"{year}{name}", (write_front_matter(fields) + join_turns(written, moment)).encode()


def join_turns(written: Sequence[Turn], said: datetime | None) -> str:
    """Return turns joined in order; ``said`` is the time of the turn before them.

    A turn of another day than the one before gets a heading with date and time.
    """
    day, parts = said.date() if said else None, []
    for turn in written:
        if turn.at and turn.at.date() != day:
            day = turn.at.date()
            parts.append(f"\n## {day} {turn.at:%H:%M %Z}".rstrip() + "\n")
        parts.append(f"\n{turn.text}")
    return "".join(parts)


def split_parts(written: Sequence[Turn], *, filled: int) -> list[list[Turn]]:
    """Split turns into those of one note each; the first note already has ``filled`` bytes."""
    parts: list[list[Turn]] = [[]]
    size = filled
    for turn in written:
        length = len(turn.text.encode())
        if size and size + length > MOST_BYTES:
            parts.append([])
            size = 0
        parts[-1].append(turn)
        size += length
    return parts


def _line(text: str) -> str:
    return " ".join(_plain(text).split())


def _plain(text: str) -> str:
    """Return a text for front matter: private tags escaped, secrets withheld."""
    clean = withhold(_PRIVATE.sub("&lt;", text.encode("utf-8", "replace").decode()), "")[0]
    return visible(clean)


_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")
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
    """Return a text as self-contained Markdown: fences are closed, active syntax is escaped.

    Headings become bold with ``is_bold``; else they are escaped, since ``# words`` of a person may
    be a comment in code. Control characters are dropped.
    """
    text = _CONTROLS.sub("", _LINE_END.sub("\n", text))
    text = _VERIFY.sub(r"\1\\", _PRIVATE.sub("&lt;", text))
    return "\n".join(_quote_lines(text.split("\n"), is_bold=is_bold)).strip("\n")


def is_block(text: str) -> bool:
    """Whether a quoted text starts with a block: code, a list item, a table row, a quotation."""
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
    """Escape active syntax outside of code spans, and backticks that open no code span."""
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
