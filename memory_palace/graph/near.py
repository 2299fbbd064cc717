"""The links of a few notes, without resolving those of all others.

A link can only mean a note whose stem or alias ends like the link. So the notes and links that end
alike are collected first, and only those are resolved, by the same ``Resolver``.
"""

from __future__ import annotations

import posixpath
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

from memory_palace.graph.resolve import (
    Resolver,
    fold_name,
    fold_target,
    join_labels,
    join_path,
    loose_names,
    loosen,
)
from memory_palace.index.snapshot import Snapshot

_T = TypeVar("_T")
_Link: TypeAlias = tuple[int, str]
"""A link: the place of the note it is written in, and its target as written."""


class Neighbors(NamedTuple):
    """Notes one link away from a note. A note may be on both sides."""

    out: tuple[str, ...]
    """What it links to, in the order written."""
    back: tuple[str, ...]
    """What links to it, in path order."""


_BETWEEN = "\0"
"""No path or link holds one, and Unicode composes nothing with it."""


class NearLinks:
    """Gives the neighbors that ``LinkGraph`` would, in time that grows with the notes asked for.

    Opening reads every name once; nothing but the names that fit is resolved.
    """

    def __init__(
        self,
        paths: Sequence[str],
        aliases: Sequence[Sequence[str]],
        targets: Sequence[Sequence[str]],
    ) -> None:
        """Take the nodes in path order, their other names, and what they link to as written."""
        self._paths, self._aliases, self._targets = paths, aliases, targets
        names = [(i, name) for i, path in enumerate(paths) for name in (path, *aliases[i])]
        links = [(i, target) for i, found in enumerate(targets) for target in found]
        readings = [(link, r) for link in links for r in read_link(link[1], paths[link[0]])]
        self._named, self._linked = _group_by_end(names), _group_by_end(readings)

    @classmethod
    @lru_cache(maxsize=2)
    def from_snapshot(cls, snapshot: Snapshot) -> NearLinks:
        """Take hot notes as nodes, private ones left out, as ``LinkGraph`` does.

        Made once for a snapshot, with or without the cold zone.
        """
        nodes = (~(snapshot.cold | snapshot.private)).nonzero()[0].tolist()
        aliases, targets = snapshot.aliases(), list_links(snapshot)
        return cls(
            [snapshot.paths[node] for node in nodes],
            [(*aliases[node], snapshot.titles[node]) for node in nodes],
            [targets[node] for node in nodes],
        )

    def neighbors_of(self, paths: Iterable[str]) -> dict[str, Neighbors]:
        """Return what each note links to and what links to it; nothing for other paths."""
        places = {path: self._place(path) for path in paths}
        out = {place: self._links_of(place) for place in places.values() if place >= 0}
        back = {place: self._links_like(place) for place in out}
        meaning = self._resolve(
            {link for links in (*out.values(), *back.values()) for link in links}
        )
        return {
            path: Neighbors((), ())
            if place < 0
            else Neighbors(
                tuple(dict.fromkeys(p for link in out[place] for p in meaning[link] if p != path)),
                tuple(
                    sorted(
                        {self._paths[s] for s, t in back[place] if path in meaning[s, t]} - {path}
                    )
                ),
            )
            for path, place in places.items()
        }

    def _place(self, path: str) -> int:
        place = bisect_left(self._paths, path)
        return place if self._paths[place : place + 1] == [path] else -1

    def _links_of(self, place: int) -> list[_Link]:
        return [(place, target) for target in self._targets[place]]

    def _links_like(self, place: int) -> list[_Link]:
        """Return the links that end like a name of the note."""
        ends = dict.fromkeys(list_ends([self._paths[place], *self._aliases[place]]))
        return [link for end in ends for link in self._linked.get(end, ())]

    def _resolve(self, links: Collection[_Link]) -> dict[_Link, tuple[str, ...]]:
        """Give each link the one note it means, or nothing."""
        ends = list_ends([r for place, to in links for r in read_link(to, self._paths[place])])
        chosen = sorted({i for end in ends for i in self._named.get(end, ())})
        resolver = Resolver([self._paths[i] for i in chosen], [self._aliases[i] for i in chosen])
        meaning: dict[_Link, tuple[str, ...]] = {}
        for source, target in links:
            found = resolver.resolve(target, self._paths[source])
            is_one = found.state == "resolved"
            meaning[source, target] = (self._paths[chosen[found.places[0]]],) if is_one else ()
        return meaning


def read_link(target: str, source: str) -> Iterator[str]:
    """Yield the paths that a link may mean, by their ends; dots can change which that is."""
    for part in target.split("|", 1):
        name = part.partition("#")[0]
        yield name
        if "." in name and (key := fold_target(name)).rstrip("/").endswith("."):
            yield join_path(posixpath.dirname(fold_name(source)), key) or ""


def list_links(snapshot: Snapshot) -> list[list[str]]:
    """Return what each note links to, with the labels: see ``join_labels``."""
    pairs = zip(snapshot.link_targets(), snapshot.link_names(), strict=True)
    return [join_labels(targets, names) for targets, names in pairs]


def _leaf(path: str) -> str:
    return path.rpartition("/")[2]


def _fold_all(names: Collection[str]) -> list[str]:
    """Do what ``fold_name`` does to many names at once, in a tenth of the time."""
    if not names:
        return []
    joined = unicodedata.normalize("NFC", _BETWEEN.join(names)).casefold()
    folded = unicodedata.normalize("NFC", joined).split(_BETWEEN)
    return [_bare(name.strip()) for name in folded]


def _bare(name: str) -> str:
    return name[:-3] if name.endswith(".md") else name.removesuffix(".markdown")


def _loosen_all(names: Collection[str]) -> list[str]:
    return loosen(_BETWEEN.join(_fold_all(names))).split(_BETWEEN) if names else []


def list_ends(names: Collection[str]) -> list[str]:
    """Return what names of notes and readings of links are compared by: their ends, loosely."""
    return [_leaf(end) for key in _loosen_all(names) for end in loose_names(key)]


def _group_by_end(pairs: Sequence[tuple[_T, str]]) -> dict[str, list[_T]]:
    """Group what has names by the ends of them, loosely."""
    groups: dict[str, list[_T]] = {}
    for (owner, _), key in zip(pairs, _loosen_all([name for _, name in pairs]), strict=True):
        for end in loose_names(key):
            groups.setdefault(_leaf(end), []).append(owner)
    return groups
