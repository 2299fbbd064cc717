"""An answer on a terminal: laid out to its width, with the words of the question marked."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from memory_palace.cli.screen import (
    INDENT,
    NARROWEST,
    WIDEST,
    cut_start,
    cut_text,
    link_to,
    print_rows,
    wrap,
)
from memory_palace.features.asking.answers import Entry, LaidAnswer
from memory_palace.language.sentences import cut_text as cut_row
from memory_palace.language.visible import shown_text
from memory_palace.language.words import (
    TOKEN,
    UNSPACED,
    UNSPACED_RUN,
    Languages,
    drop_stop_stems,
    tokenize,
)
from memory_palace.models import ELLIPSIS, Piece
from memory_palace.retrieval.excerpts import plain_line

LINES = 24
"""Lines that five hits take at most, remarks on stderr included, from 60 columns on."""
_GAP = 2
_PIECE = re.compile(f"{UNSPACED}+|[^{UNSPACED[1:]}+")
_AGAIN = 0.5
"""Penalty per piece of the same hit that is already shown, to spread rows over the hits."""
STYLES: Mapping[str, str] = {
    "mark": "bold cyan",
    "title": "bold",
    "above": "",
    "place": "dim",
    "date": "",
    "match": "bold magenta",
    "remark": "yellow",
    "details": "dim",
    "linked": "dim",
}


def lay_out(
    shown: LaidAnswer, question: str, *, width: int, lines: int = LINES, environ: Mapping[str, str]
) -> list[Text]:
    """Return the rows of an answer for a terminal of ``width`` columns.

    Five hits take at most ``lines`` rows if the width suffices, more hits proportionally more. Rows
    left by titles, places and remarks go to the best pieces of the texts.
    """
    width = max(NARROWEST, min(width, WIDEST))
    heads = [_head(entry, width, environ) for entry in shown.entries]
    titles = f"linked: {' · '.join(shown.linked)}"
    linked = [Text(), _cut(titles, width, STYLES["linked"])] if shown.linked else []
    fixed = len(shown.before) + len(linked) + sum(map(len, heads))
    fixed += len(shown.entries) - 1 + sum(len(e.remarks) for e in shown.entries)
    room = max(lines, lines * len(shown.entries) // 5) - fixed
    rows = [Text(line, STYLES["details"]) for line in shown.before]
    texts = _texts(shown, question, width - INDENT, room)
    for entry, head, text in zip(shown.entries, heads, texts, strict=True):
        body = fill(text, question, width - INDENT, languages=shown.languages)
        remarks = [_cut(remark, width - INDENT, STYLES["remark"]) for remark in entry.remarks]
        details = [Text(row, STYLES["details"]) for row in entry.details]
        if rows:
            rows.append(Text())
        rows += [*head, *(_indent(row) for row in chain(body, remarks, details))]
    return rows + linked


def _texts(shown: LaidAnswer, question: str, width: int, room: int) -> list[str]:
    """Return the text of each entry: complete with details or without pieces, else shortened."""
    entries = shown.entries
    whole = [entry.text if entry.details or not entry.pieces else "" for entry in entries]
    shorter = shorten(
        [() if text else entry.pieces for entry, text in zip(entries, whole, strict=True)],
        question,
        most_rows=room,
        count_rows=lambda text: len(fill(text, "", width)),
        width=width,
        languages=shown.languages,
    )
    return [text or short for text, short in zip(whole, shorter, strict=True)]


def shorten(
    texts: Sequence[Sequence[Piece]],
    question: str,
    *,
    most_rows: int,
    count_rows: Callable[[str], int],
    width: int,
    languages: Languages = (),
) -> list[str]:
    """Shorten the texts of several hits to ``most_rows`` rows of a screen in total.

    The best pieces are kept complete while rows are left; a hit without one gets a row of ``width``
    columns, from its best piece.
    """
    chosen: list[list[Piece]] = [[] for _ in texts]
    terms = dict.fromkeys(drop_stop_stems(tokenize(question, languages=languages)), 1.0)
    left = most_rows - len(texts)
    waiting = [
        (piece, shown) for pieces, shown in zip(texts, chosen, strict=True) for piece in pieces
    ]
    while waiting:
        best = max(waiting, key=lambda pair: pair[0].value - _AGAIN * len(pair[1]))
        waiting.remove(best)
        piece, shown = best
        more = sorted([*shown, piece], key=lambda kept: kept.place)
        extra = count_rows(flow(more)) - (count_rows(flow(shown)) if shown else 1)
        if extra <= left:
            shown[:] = more
            left -= extra
    lines = [max(pieces, key=lambda piece: piece.value, default=None) for pieces in texts]
    return [
        flow(shown)
        if shown
        else cut_row(plain_line(best.text), terms, width, measure=cell_len, languages=languages)
        if best
        else ""
        for best, shown in zip(lines, chosen, strict=True)
    ]


def flow(pieces: Sequence[Piece]) -> str:
    """Join pieces for reading: no line ends inside of sentences, no empty lines, ``…`` at gaps."""
    text, place = "", 0
    for piece in pieces:
        if text and piece.place == place + 1:
            text += "\n" if "\n" in piece.joint else " "
        elif text:
            text += f" {ELLIPSIS}\n"
        text += piece.text if piece.is_verbatim else plain_line(piece.text)
        place = piece.place
    return text


def _head(entry: Entry, width: int, environ: Mapping[str, str]) -> list[Text]:
    """Return title, place and date: on one row if they fit, else on two."""
    mark = Text(f"{entry.mark:<{INDENT}}", STYLES["mark"])
    title = Text(entry.title, STYLES["title"])
    if entry.above:
        title.append(f" › {entry.above}", Style.parse("not bold"))
    link = link_to(entry.file, entry.line, environ) if entry.is_here else None
    place = Text(entry.place, Style.parse(STYLES["place"]) + Style(link=link))
    date = Text("  ".join(filter(None, (entry.date, entry.sure))), STYLES["date"])
    room = width - INDENT
    if date.cell_len + _GAP > room // 2:
        date = Text()
    beside = room - (date.cell_len + _GAP if date else 0)
    if title.cell_len + _GAP + place.cell_len <= beside:
        return [_spread(Text.assemble(mark, title, " " * _GAP, place), date, width)]
    first = Text.assemble(mark, cut_text(title, beside))
    return [_spread(first, date, width), _indent(cut_start(place, room))]


def _spread(left: Text, right: Text, width: int) -> Text:
    return Text.assemble(left, " " * (width - left.cell_len - right.cell_len), right)


def fill(text: str, question: str, width: int, languages: tuple[str, ...] = ()) -> list[Text]:
    """Return a text in rows of at most ``width`` columns, the words of the question marked."""
    text = shown_text(text)
    whole = Text(text)
    for start, end in find_marks(text, question, languages):
        whole.stylize(STYLES["match"], start, end)
    rows: list[Text] = []
    for line in whole.split("\n"):
        rows += wrap(line, width)
    return rows


def find_marks(text: str, question: str, languages: Languages = ()) -> list[tuple[int, int]]:
    """Return the start and end of each word in a text that matches the question, in order.

    Words match by stem, compounds as a whole. In a script without spaces two successive characters
    match, or one that stands alone in the question. ``languages`` are those of the stemmers that
    the search used.
    """
    read = partial(tokenize, languages=languages)
    asked: list[str] = []
    for word in TOKEN.findall(question):
        tokens = read(word)
        is_compound = len(tokens) > 1 and not UNSPACED_RUN.search(word)
        asked += [token for token in tokens if len(token) > 1 or not is_compound]  # 1.0.21
    stems = frozenset(drop_stop_stems(asked))
    paired = {character for stem in stems if len(stem) > 1 for character in stem}
    alone = {stem for stem in stems if len(stem) == 1} - paired
    found: list[tuple[int, int]] = []
    for match in TOKEN.finditer(text) if stems else ():
        if stems.isdisjoint(read(match[0])):
            continue
        if not UNSPACED_RUN.search(match[0]):
            found.append(match.span())
            continue
        for piece in _PIECE.finditer(text, *match.span()):
            if not UNSPACED_RUN.match(piece[0]):
                found += [] if stems.isdisjoint(read(piece[0])) else [piece.span()]
                continue
            for place in range(*piece.span()):
                is_pair = text[place : place + 2] in stems and place + 2 <= piece.end()
                if is_pair or text[place] in alone:
                    found.append((place, place + 1 + is_pair))
    joined: list[tuple[int, int]] = []
    for start, end in found:
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, width: int, style: str) -> Text:
    return cut_text(Text(text, style), width)


def _indent(row: Text) -> Text:
    return Text.assemble(" " * INDENT, row)


def show_answer(
    shown: LaidAnswer, question: str, remarks: Sequence[str], environ: Mapping[str, str]
) -> None:
    """Print an answer on this terminal, leaving rows for the remarks that follow."""
    width = shutil.get_terminal_size().columns
    lines = LINES - sum(-(-cell_len(remark) // max(width, 1)) for remark in remarks)
    print_rows(lay_out(shown, question, width=width, lines=lines, environ=environ), environ)
