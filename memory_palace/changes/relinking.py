"""Links that a move would break, and how to write them so that it does not."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote

from memory_palace.changes.operations import ChangeSet, Move, Operation, Replace
from memory_palace.config import SEVEN, Rooms
from memory_palace.graph.resolve import ZonedNames, strip_suffix
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.golden import rename_notes
from memory_palace.notes.parsing import rewrite_links


def relink(
    documents: Mapping[str, Document],
    change: ChangeSet,
    *,
    rooms: Rooms = SEVEN,
    redirects: Mapping[str, str] = MappingProxyType({}),
    golden: tuple[str, str] = ("", ""),
) -> list[Operation]:
    """Return the change with every link rewritten that its moves would lead astray.

    A link by stem or alias mostly survives a move and is left as it is; one by path, or one that
    becomes ambiguous, gets the new path. Notes that the change replaces are rewritten in their new
    text. ``redirects`` map a note that leaves to the note its links lead to afterwards. ``golden``
    is the path and the text of the golden questions, whose notes are followed as links are.
    """
    moves = {op.old: op.new for op in change if isinstance(op, Move)}
    if not moves:
        return list(change)
    after = {op.path: op.after for op in change if isinstance(op, Replace)}
    others = [op for op in change if not isinstance(op, Replace)]
    # What links mean before and after the moves, hot notes first, as the graph resolves them.
    names = ZonedNames(
        (path, document.texts("aliases"), document.is_cold) for path, document in documents.items()
    )
    later = ZonedNames(
        _describe_after(path, document, moves.get(path, path), after.get(path), rooms)
        for path, document in documents.items()
    )

    def led_astray(target: str, source: str) -> str | None:
        """Return the new path of the note a link means, where the link would not lead there."""
        meant = names.find(target, source)
        if meant is None:
            return None
        successor = redirects.get(meant, meant)
        new = moves.get(successor, successor)
        if new == meant and source not in moves:
            return None
        return None if later.find(target, moves.get(source, source)) == new else new

    for path, document in documents.items():
        wrong = {
            link.target: meant
            for link in document.links
            if link.target and (meant := led_astray(link.target, path)) is not None
        }
        if wrong:
            text = after.get(path, document.data)
            after[path] = _rewrite(text, wrong, path=moves.get(path, path))
    changed = [
        Replace(path, documents[path].data, text)
        for path, text in after.items()
        if text != documents[path].data
    ]
    place, asked = golden
    renamed = rename_notes(asked, lambda name: led_astray(name, place) or moves.get(name))
    if renamed != asked:
        old, new = (each.encode("utf-8", "surrogateescape") for each in (asked, renamed))
        changed.append(Replace(place, old, new))
    return [*changed, *others]


def _describe_after(
    path: str, document: Document, new: str, text: bytes | None, rooms: Rooms
) -> tuple[str, Sequence[str], bool]:
    """Return path, aliases and zone of a note after the change; ``text`` where it is replaced."""
    written = None if text is None else parse_document(path, text)
    is_cold = rooms.is_archived(new) or (document.is_cold and new == path)
    return new, (written or document).texts("aliases"), is_cold


def _rewrite(data: bytes, wrong: Mapping[str, str], *, path: str) -> bytes:
    """Write links outside code anew; the rest of every line stays as it is."""
    text = data.decode("utf-8", "surrogateescape")
    folder = posixpath.dirname(path)

    def rename(target: str, is_wiki: bool) -> str | None:
        new = wrong.get(target)
        if new is None or target.endswith("/"):  # an address of a site, which has no files
            return None
        return strip_suffix(new) if is_wiki else quote(posixpath.relpath(new, folder))

    return rewrite_links(text, rename).encode("utf-8", "surrogateescape")
