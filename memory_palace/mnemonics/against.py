"""What ``--against`` names: memories, other notes, lines of notes, folders and rooms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.checking.verdicts import Passage
from memory_palace.engine import Engine
from memory_palace.mnemonics.form import is_memory, read_form
from memory_palace.mnemonics.lint import Flaw, lint_tokens
from memory_palace.mnemonics.memories import MemoryNotes, read_memory_notes
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.sources import read_source
from memory_palace.notes.document import Document
from memory_palace.notes.excerpt import split_line_range


@dataclass(frozen=True, slots=True)
class Against:
    """What an answer should rest on."""

    passages: tuple[Passage, ...] = ()
    folders: tuple[str, ...] = ()
    """Relative to the root; the search of the palace chooses from the notes in and below them."""
    memories: tuple[Memory, ...] = ()
    """Those that were named whole, whose tokens the answer should hold."""
    flaws: tuple[Flaw, ...] = ()
    """Of their tokens."""


def read_against(engine: Engine, names: Sequence[str]) -> Against:
    """Read what is named from the disk, so that the index may be behind or absent.

    Raise ``UsageError`` for what is called so by nothing, or by several notes.
    """
    if not names:
        return Against()
    notes = read_memory_notes(engine)
    passages: list[Passage] = []
    folders: list[str] = []
    memories: list[Document] = []
    for name in dict.fromkeys(names):
        if below := _find_folders(engine, notes, name):
            folders += below
            continue
        document = notes.find_any(split_line_range(name)[0])
        passages += read_source(document, name)
        if is_memory(document) and split_line_range(name)[1] is None:
            memories.append(document)
    flaws = [
        flaw
        for document in memories
        for flaw in lint_tokens(read_form(document), notes.corpus, notes.forms)
    ]
    read = tuple(map(notes.read, memories))
    return Against(tuple(passages), tuple(folders), read, tuple(flaws))


def _find_folders(engine: Engine, notes: MemoryNotes, name: str) -> list[str]:
    """Return the folder that has a name, or those that are the room of that name; mostly none."""
    folder = name.strip("/")
    rooms = [each for each, room in engine.paths.rooms.folders.items() if room == folder]
    is_folder = folder and any(path.startswith(f"{folder}/") for path in notes.library.documents)
    return [folder] if is_folder else rooms
