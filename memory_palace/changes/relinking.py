"""Links that a move would break, and how to write them so that it does not."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote

from memory_palace.changes.operations import ChangeSet, Move, Operation, Replace
from memory_palace.graph.resolve import Resolver, strip_suffix
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.links import rewrite_links
from memory_palace.notes.rooms import is_archived


def relink(
    documents: Mapping[str, Document],
    change: ChangeSet,
    *,
    redirects: Mapping[str, str] = MappingProxyType({}),
) -> list[Operation]:
    """Return the change with every link rewritten that its moves would lead astray.

    A link by stem or alias mostly survives a move and is left as it is; one by path, or one that
    becomes ambiguous, gets the new path. Notes that the change replaces are rewritten in their new
    text. ``redirects`` name for a note that leaves the one its links shall lead to.
    """
    moves = {op.old: op.new for op in change if isinstance(op, Move)}
    if not moves:
        return list(change)
    after = {op.path: op.after for op in change if isinstance(op, Replace)}
    others = [op for op in change if not isinstance(op, Replace)]
    names = _Names(documents, moves, after, redirects)
    for path, document in documents.items():
        if not document.links:
            continue
        wrong = {
            link.target: meant
            for link in document.links
            if link.target and (meant := names.led_astray(link.target, path)) is not None
        }
        if wrong:
            text = after.get(path, document.data)
            after[path] = _rewrite(text, wrong, path=moves.get(path, path))
    changed = [
        Replace(path, documents[path].data, text)
        for path, text in after.items()
        if text != documents[path].data
    ]
    return [*changed, *others]


class _Names:
    """What links mean before and after the moves, hot notes first, as the graph resolves them."""

    def __init__(
        self,
        documents: Mapping[str, Document],
        moves: Mapping[str, str],
        after: Mapping[str, bytes],
        redirects: Mapping[str, str],
    ) -> None:
        self._moves = moves
        self._redirects = redirects
        places = [(path, moves.get(path, path)) for path in documents]
        aliases = [documents[path].texts("aliases") for path, _ in places]
        self._before = self._zones(documents, [old for old, _ in places], aliases)
        renamed = [_aliases_in(path, after, documents[path]) for path, _ in places]
        self._after = self._zones(documents, [new for _, new in places], renamed, places)

    def led_astray(self, target: str, source: str) -> str | None:
        """Return the new path of the note a link means, where the link would not lead there."""
        meant = self._resolve(self._before, target, source)
        if meant is None:
            return None
        heir = self._redirects.get(meant, meant)
        new = self._moves.get(heir, heir)
        if new == meant and source not in self._moves:
            return None
        found = self._resolve(self._after, target, self._moves.get(source, source))
        return None if found == new else new

    @staticmethod
    def _zones(
        documents: Mapping[str, Document],
        paths: Sequence[str],
        aliases: Sequence[Sequence[str]],
        places: Iterable[tuple[str, str]] = (),
    ) -> list[tuple[list[str], Resolver]]:
        cold = {new for _, new in places if is_archived(new)}
        cold |= {path for path, document in documents.items() if document.is_cold}
        zones = []
        for is_cold in (False, True):
            chosen = [i for i, path in enumerate(paths) if (path in cold) == is_cold]
            kept = [paths[i] for i in chosen]
            zones.append((kept, Resolver(kept, [() if is_cold else aliases[i] for i in chosen])))
        return zones

    @staticmethod
    def _resolve(
        zones: Sequence[tuple[list[str], Resolver]], target: str, source: str
    ) -> str | None:
        for paths, resolver in zones:
            found = resolver.resolve(target, source)
            if found.state == "resolved":
                return paths[found.places[0]]
            if found.state == "ambiguous":
                return None
        return None


def _aliases_in(path: str, after: Mapping[str, bytes], document: Document) -> Sequence[str]:
    if path in after:
        document = parse_document(path, after[path]) or document
    return document.texts("aliases")


def _rewrite(data: bytes, wrong: Mapping[str, str], *, path: str) -> bytes:
    """Write links outside code anew; the rest of every line stays as it is."""
    text = data.decode("utf-8", "surrogateescape")
    folder = posixpath.dirname(path)

    def rename(target: str, is_wiki: bool) -> str | None:
        new = wrong.get(target)
        if new is None:
            return None
        return strip_suffix(new) if is_wiki else quote(posixpath.relpath(new, folder))

    return rewrite_links(text, rename).encode("utf-8", "surrogateescape")
