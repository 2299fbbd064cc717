"""An answer on a terminal: laid out to its width, with the words of the question marked."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from itertools import chain

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from memory_palace.cli.screen import (
    INDENT,
    NARROWEST,
    WIDEST,
    cut_text,
    cut_text_middle,
    link_to,
    print_rows,
    wrap,
)
from memory_palace.features.asking.answers import Entry, LaidAnswer
from memory_palace.language.marking import find_marks
from memory_palace.markdown.prose import shown_text
from memory_palace.retrieval.shortening import shorten

LINES = 24
"""Lines that five hits take at most, remarks on stderr included, from 60 columns on."""
_GAP = 2
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
    """Return the rows of an answer on a terminal of so many columns.

    Five hits take ``lines`` rows at most where there are columns for it, more hits more. What is
    left beside titles and places is shared out among the texts, the first hits first.
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
    """Return the text of each entry: whole where parts are not told apart, or with details."""
    entries = shown.entries
    whole = [entry.text if entry.details or not entry.pieces else "" for entry in entries]
    shorter = shorten(
        [() if text else entry.pieces for entry, text in zip(entries, whole, strict=True)],
        question,
        most_rows=room,
        count_rows=lambda text: len(fill(text, "", width)),
        width=width,
        measure=cell_len,
        languages=shown.languages,
    )
    return [text or short for text, short in zip(whole, shorter, strict=True)]


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
    return [_spread(first, date, width), _indent(cut_text_middle(place, room))]


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


def _cut(text: str, width: int, style: str) -> Text:
    return cut_text(Text(text, style), width)


def _indent(row: Text) -> Text:
    return Text.assemble(" " * INDENT, row)


def show_answer(
    shown: LaidAnswer, question: str, remarks: Sequence[str], environ: Mapping[str, str]
) -> None:
    """Print an answer on this terminal; there is room left for the remarks that will follow."""
    width = shutil.get_terminal_size().columns
    lines = LINES - sum(-(-cell_len(remark) // max(width, 1)) for remark in remarks)
    print_rows(lay_out(shown, question, width=width, lines=lines, environ=environ), environ)
