"""What notes and links are found by at a store: rows that depend on their own note alone.

What a name means depends on all notes, so nothing is resolved before somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from memory_palace.graph.near import list_ends, read_link
from memory_palace.graph.resolve import fold_name, fold_target, join_labels
from memory_palace.index.segment import SEPARATOR
from memory_palace.index.store import StoredNote
from memory_palace.language.tokens import squeeze_all
from memory_palace.notes.rooms import stem_of
from memory_palace.retrieval.question import FOLDER_NOTES, LINKED, OTHER, fold_names


class NameKind(IntEnum):
    """Who looks a name up, which says how it is folded."""

    CALLED = 0
    """A question that is the name of a note: its title, stem, aliases, or the folder it is of."""
    LEAF = 1
    """The end of the note's path, exactly."""
    ENDING = 2
    """A link: the end of the note's path, its title or another name, loosely."""
    LINKED = 3
    """A question that is what links of the note call another, which ``target`` names."""
    STEM = 4
    """A copy, by the stem of its original."""


class NameRow(NamedTuple):
    """One row of the table ``name`` but for palace and note."""

    kind: NameKind
    folded: str
    loose: str = ""
    """Letters and digits alone."""
    value: float = 0.0
    """What being called so counts, see ``retrieval.question``."""
    target: str = ""


def list_name_rows(note: StoredNote) -> Iterator[NameRow]:
    """Yield all names of a note, and those that it gives to others."""
    row = note.row
    aliases = split_list(row.aliases)
    named = _list_called(row.path, row.title, aliases)
    names = [name for name, _ in named]
    for folded, loose, (_, value) in zip(fold_names(names), squeeze_all(names), named, strict=True):
        yield NameRow(NameKind.CALLED, folded, loose, value)
    yield NameRow(NameKind.LEAF, fold_name(row.path).rpartition("/")[2])
    for end in dict.fromkeys(list_ends([row.path, *aliases, row.title])):
        yield NameRow(NameKind.ENDING, end)
    for pair in split_list(row.link_names):
        target, _, name = pair.partition("|")
        folded, loose = fold_name(name), squeeze_all([name])[0]
        yield NameRow(NameKind.LINKED, folded, loose, LINKED, fold_target(target))
    if not note.is_cold:
        yield NameRow(NameKind.STEM, stem_of(row.path))


def list_link_rows(note: StoredNote) -> Iterator[tuple[str, str]]:
    """Yield each link of a note, as written, with the end of a path that it may mean."""
    row = note.row
    for target in join_labels(split_list(row.targets), split_list(row.link_names)):
        for end in dict.fromkeys(list_ends([*read_link(target, row.path)])):
            yield end, target


def _list_called(path: str, title: str, aliases: list[str]) -> list[tuple[str, float]]:
    folder, _, leaf = path.rpartition("/")
    stem = leaf.rpartition(".")[0]
    others = [folder.rpartition("/")[2]] if stem.casefold() in FOLDER_NOTES else []
    return [(title, 1.0), (stem, 1.0), *((name, OTHER) for name in (*others, *aliases))]


def split_list(text: str) -> list[str]:
    """Return the names or links that one field of a note holds."""
    return text.split(SEPARATOR) if text else []
