"""Notes as resources: a list by pages, and a note by its address."""

from __future__ import annotations

from bisect import bisect_right
from urllib.parse import quote, unquote

from memory_palace.agents.tools.asking import cut_lines
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.palace import Palace

PREFIX = "palace://note/"
TEMPLATE = PREFIX + "{+path}"
_PAGE = 100
_MOST_BYTES = 200_000


def open_notes(palace: Palace) -> dict[str, str]:
    """Return path and title of the notes that are neither archived nor private."""
    snapshot = palace.snapshot()
    notes = zip(snapshot.paths, snapshot.titles, snapshot.private.tolist(), strict=True)
    return {path: title for path, title, is_private in notes if not is_private}


def list_page(palace: Palace, cursor: str | None) -> tuple[list[tuple[str, str]], str | None]:
    """Return address and title of the notes of a page, and the cursor of the next one.

    Archived and private notes are in none. A cursor is the last path of a page.
    """
    titles = open_notes(palace)
    paths = sorted(titles)
    first = 0 if cursor is None else bisect_right(paths, cursor)
    page = paths[first : first + _PAGE]
    has_more = first + _PAGE < len(paths)
    listed = [(f"{PREFIX}{quote(path)}", visible(titles[path])) for path in page]
    return listed, page[-1] if has_more else None


def read_resource(palace: Palace, address: str) -> str:
    """Return the text of a note by its address; raise ``UsageError`` for one that names none.

    Only the very path of a note of the index is an address: nothing is resolved, and the file is
    opened by the same check as everywhere.
    """
    path = unquote(address.removeprefix(PREFIX), errors="strict")
    if not address.startswith(PREFIX) or path not in open_notes(palace):
        raise UsageError(f"there is no such note; addresses begin with {PREFIX}, list has them")
    shown = palace.read(path)
    lines, last = cut_lines(shown, _MOST_BYTES)
    rest = f"\n… [cut: read {path}:{last + 1}-{shown.last_line}]" if last < shown.last_line else ""
    return visible("\n".join(lines) + rest)
