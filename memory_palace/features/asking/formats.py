"""An answer for other programs: one JSON object a line, columns, paths, Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import quote

from memory_palace.features.asking.answers import Answer, Entry, open_path
from memory_palace.language.visible import visible, visible_line
from memory_palace.shown import ANSWERS, show_date, to_json, to_record


def write_jsonl(answer: Answer, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield one JSON object per hit, with the keys that a hit has in ``--json``."""
    yield from (to_json({"schema": ANSWERS, **to_record(hit)}) for hit in answer.hits)


def write_tsv(answer: Answer, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield path, line, confidence, score, date, title and text of each hit, tabs between."""
    for hit, entry in zip(answer.result, entries, strict=True):
        path, score = open_path(entry.file), f"{hit.score:.6f}"
        day = "" if hit.note.date.source == "mtime" else show_date(hit.note.date.timestamp)
        before = (path, str(entry.line), entry.sure, score, day)
        columns = (*before, entry.title, entry.text)
        yield "\t".join(" ".join(visible(column).split()) for column in columns)


def write_paths(answer: Answer, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the path of each hit, as it opens from the working folder."""
    yield from (visible_line(open_path(entry.file)) for entry in entries)


def write_markdown(answer: Answer, entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a list of links, each with its text as a quotation."""
    for number, entry in enumerate(entries, start=1):
        name = re.sub(r"([\\\[\]`*_<>])", r"\\\1", entry.heading)
        if entry.is_here:
            head = f"[{name}]({quote(open_path(entry.file), safe='/')})"
        else:
            head = f"{name}, {visible_line(str(entry.file))}"
        after = filter(None, (f"line {entry.line}", entry.date, entry.sure))
        yield f"{number}. {head}, {', '.join(after)}"
        text = entry.text.split("\n") if entry.text else ()
        yield from ("", *(f"   > {row}".rstrip() for row in text), *([""] if text else ()))
        yield from (f"   {remark}\n" for remark in entry.remarks)


FORMATS: Mapping[str, Callable[[Answer, Sequence[Entry]], Iterator[str]]] = {
    "jsonl": write_jsonl,
    "tsv": write_tsv,
    "paths": write_paths,
    "markdown": write_markdown,
}
"""Each format beside ``text`` and ``json``: a function of the hits, and of the same for people."""
