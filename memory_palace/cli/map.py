"""``palace map``: the rooms as a tree, and the overview on the control panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from typer import Context, Option

from memory_palace.changes.changing import read_notes
from memory_palace.cli.cells import cut_end
from memory_palace.cli.changes import show_change
from memory_palace.cli.options import AllowUncommitted, Apply, Json, open_palace
from memory_palace.cli.printing import plural, print_answer
from memory_palace.cli.trees import Branch, draw_tree
from memory_palace.notes.document import Document

_MOST_FOLDERS, _NEWEST = 6, 2
_WIDEST = 60


def map_palace(
    ctx: Context,
    diff: Annotated[
        bool, Option("--diff", help="Show what --apply would write into the control panel.")
    ] = False,
    apply: Apply = False,
    allow_uncommitted: AllowUncommitted = False,
    as_json: Json = False,
) -> None:
    """Draw rooms, folders and their newest notes; --apply writes an overview.

    The overview of rooms, work, insights and health goes into the control panel, between two
    marks. The text around them is yours and stays as it is; `palace undo` takes the
    change back. Of archived notes the number is shown, and no name. Example: palace map
    """
    palace = open_palace(ctx)
    if diff or apply or as_json:
        show_change(palace.map(apply=apply, allow_uncommitted=allow_uncommitted), as_json=as_json)
        return
    rooms: dict[str, list[Document]] = {}
    for document in read_notes(palace).documents.values():
        home = palace.paths.rooms.room_of(document.path) or _folder(document.path)
        rooms.setdefault(home, []).append(document)
    count = sum(map(len, rooms.values()))
    name = palace.paths.root.resolve().name
    tree = Branch(
        f"{name}  {plural(count, 'note')}", [_room(room, rooms[room]) for room in sorted(rooms)]
    )
    print_answer({}, draw_tree(tree), as_json=False)


def _room(name: str, notes: Sequence[Document]) -> Branch:
    cold = sum(note.is_cold for note in notes)
    archived = f", {'all' if cold == len(notes) else cold} archived" if cold else ""
    hot = [note for note in notes if not note.is_cold]
    folders: dict[str, int] = {}
    for note in hot:
        inside = note.place.removeprefix("./").removeprefix(f"{name}/")
        if folder := _folder(inside):
            folders[folder] = folders.get(folder, 0) + 1
    below = [*_folders(folders), *(Branch(_newest_line(note)) for note in _newest(hot))]
    return Branch(f"{name or '(no folder)'}  {len(notes):,}{archived}", below)


def _folders(folders: Mapping[str, int]) -> list[Branch]:
    """Return a branch for each of the largest, by name, and one for the others."""
    largest = sorted(folders, key=lambda folder: (-folders[folder], folder))[:_MOST_FOLDERS]
    shown = [Branch(f"{folder}/  {folders[folder]:,}") for folder in sorted(largest)]
    others = [folder for folder in folders if folder not in largest]
    if others:
        count = sum(folders[folder] for folder in others)
        shown.append(Branch(f"{plural(len(others), 'other folder')}  {count:,}"))
    return shown


def _newest(notes: Sequence[Document]) -> list[Document]:
    dated = [note for note in notes if note.text("date")]
    return sorted(dated, key=lambda note: (note.text("date"), note.path), reverse=True)[:_NEWEST]


def _newest_line(note: Document) -> str:
    return cut_end(f"{note.text('date')[:10]}  {note.title}", _WIDEST)


def _folder(path: str) -> str:
    """Return the first folder of a path; nothing where the file lies in none."""
    return path.partition("/")[0] if "/" in path else ""
