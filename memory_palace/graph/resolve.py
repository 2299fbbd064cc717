"""Resolve links to notes, and fold paths and names for comparison.

A link can only resolve to a note with a stem or alias that has the same last part. So ``NearLinks``
groups notes and links by that part, and resolves only those of one group.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from memory_palace.index.snapshot import Snapshot
from memory_palace.places import PALACE

LinkState: TypeAlias = Literal[
    "resolved", "ambiguous", "broken", "archived", "private", "attachment"
]
"""Result of resolving a link. An attachment is a file other than a note, such as an image.

Archived and private targets exist, but are neither shown nor followed."""

_SUFFIX = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_BETWEEN = "\0"
"""Separator: no path or link holds it, and Unicode normalisation leaves it alone."""
_Places: TypeAlias = Sequence[int]
_NOTHING: _Places = ()


class Resolution(NamedTuple):
    """The notes that one link resolves to."""

    state: LinkState
    places: Sequence[int] = ()
    """The note, or all candidates of an ambiguous link; empty if there is none."""
    text: str = ""
    """The part of ``target|label`` that resolved; the first part if neither did."""


_ADDRESS = re.compile(r"\A([a-z][a-z0-9+.-]*)://[^/]*/", re.IGNORECASE)
"""Scheme and vault of a link: Dendron writes ``dendron://vault/note.name``."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DAY = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]* (\d\d?)(?:st|nd|rd|th), (\d{{4}})(?=\0|\Z)")
"""Logseq: ``Jan 31st, 2024`` is the journal ``2024_01_31``."""
_DROPPED = re.compile(r"[ -][0-9a-f]{32}(?=/|\0|\Z)|\.html(?=\0|\Z)|[ _-]")
"""Notion's page id, the suffix ``.html``, and substitutes for blanks in Foam, Hugo and Jekyll."""
_STAMPED = re.compile(r"(?:\d{8}|(\d{12}|\d{14}))(?!\d)(.+)", re.DOTALL)
"""Jekyll's day before the name of a post, and Zettlr's id before a title."""


def loosen(folded: str) -> str:
    """Return NUL-separated folded names, without the parts that differ between links and files."""
    text = unquote(folded.replace("%00", "")) if "%" in folded else folded
    text = text.replace("___", "/")  # Logseq: a page in a namespace
    if ", " in text:
        text = _DAY.sub(lambda d: f"{d[3]}{_MONTHS.index(d[1]) + 1:02}{int(d[2]):02}", text)
    return _DROPPED.sub("", text)


def loose_names(loose: str) -> tuple[str, ...]:
    """Return the names of a loosened path: itself, its folder if an index, its title, its id."""
    folder, _, leaf = loose.rpartition("/")
    if leaf in ("index", "readme", ""):
        return loose, folder.rstrip("/")
    if leaf[:8].isdecimal() and (stamped := _STAMPED.fullmatch(leaf)):
        return loose, stamped[2], stamped[1] or loose
    return (loose,)


def read_target(target: str) -> Iterator[tuple[str, str]]:
    """Yield the names that a link may refer to, each with the part of the link it is in.

    ``a|b`` is a target with a label, or in Dendron a label with a target.
    """
    for part in target.split("|", 1):
        name = part.partition("#")[0].strip()
        if address := _ADDRESS.match(name):
            yield name[address.end(1) + 3 :], part
            name = name[address.end() :]
        yield name, part


def join_labels(targets: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return link targets, as ``target|label`` for each such pair in ``names``."""
    labels: dict[str, list[str]] = {}
    for pair in names:
        labels.setdefault(pair.partition("|")[0], []).append(pair)
    return [text for target in targets for text in labels.get(target, [target])]


class Resolver:
    """Resolves links by dictionaries of all names of notes; each look-up takes constant time."""

    def __init__(self, paths: Sequence[str], aliases: Sequence[Sequence[str]] = ()) -> None:
        self._paths, self._aliases = paths, aliases
        # Where all notes lie below ``palace/``, as in the classic layout, links may leave it out.
        self._top = f"{PALACE}/" if all(path.startswith(f"{PALACE}/") for path in paths) else ""
        self._by_path: dict[str, list[int]] = {}
        self._by_suffix: dict[str, list[int]] = {}
        self._by_room: dict[tuple[str, str], list[int]] = {}
        self._by_alias: dict[str, list[int]] = {}
        for place, path in enumerate(paths):
            key = fold_name(path)
            self._by_path.setdefault(key, []).append(place)
            parts = key.split("/")
            for start in range(len(parts)):
                self._by_suffix.setdefault("/".join(parts[start:]), []).append(place)
            self._by_room.setdefault((_room(key), parts[-1]), []).append(place)
        for place, names in enumerate(aliases):
            for name in {fold_name(name) for name in names} - {""}:
                self._by_alias.setdefault(name, []).append(place)

    def resolve(self, target: str, source: str, *, exactly: bool = False) -> Resolution:
        """Resolve a link target, as written in the note at ``source``.

        In this order: the path from the root, from ``palace/`` in a classic palace, from the note's
        own folder; the end of a path or the stem, if only one note has it, or only one in the
        note's own room; an alias; unless ``exactly``, the same names folded by ``loosen``. The
        label of ``target|label`` is tried after the target each time.
        """
        for find in (self._find,) if exactly else (self._find, self._find_loosely):
            for name, text in read_target(target):
                if places := find(name, source):
                    state: LinkState = "resolved" if len(places) == 1 else "ambiguous"
                    return Resolution(state, places, text)
        return Resolution("broken", text=target.partition("|")[0])

    def by_path(self, text: str) -> _Places:
        """Return the notes with this path or end of a path, with or without ``.md``."""
        key = fold_target(text)
        for path in (key, f"{self._top}{key}"):
            if found := self._exactly(path, text):
                return found
        return self._by_suffix.get(key, _NOTHING)

    def by_alias(self, text: str) -> _Places:
        """Return the notes with this alias."""
        return self._by_alias.get(fold_name(text), _NOTHING)

    def _find(self, target: str, source: str) -> _Places:
        key = fold_target(target)
        folder = _folder(source)
        for path in (key, f"{self._top}{key}", join_path(folder, key)):
            if path is not None and path in self._by_path:
                return self._exactly(path, target)
        named = self._by_suffix.get(key, _NOTHING)
        if len(named) > 1:
            near = self._by_room.get((_room(fold_name(source)), key), _NOTHING)
            return near if len(near) == 1 else named
        return named or self.by_alias(target)

    @cached_property
    def _loose(self) -> Mapping[str, Sequence[int]]:
        found: dict[str, list[int]] = {}
        for place, path in enumerate(self._paths):
            names = (path, *(self._aliases[place] if self._aliases else ()))
            loose = {key for n in names for key in loose_names(loosen(fold_name(n)))}
            for end in {k.split("/", n)[n] for k in loose for n in range(1 + k.count("/"))} - {""}:
                found.setdefault(end, []).append(place)
        return found

    def _find_loosely(self, target: str, source: str) -> _Places:
        """Return the notes with this name, loosened; of an address any end may match."""
        key = fold_target(target)
        is_address = target.startswith("/") or target.endswith("/")
        key = join_path(_folder(source), key) or "" if key.startswith(".") else key
        key = loosen(key).strip("/")
        while key:
            found = self._loose.get(key, _NOTHING)
            if target.startswith(".") and not is_address:  # a relative path must match as a whole
                paths = ((p, loosen(fold_name(self._paths[p]))) for p in found)
                found = [p for p, path in paths if key in loose_names(path)]
            if found:
                return found
            key = key.partition("/")[2] if is_address else ""
        return _NOTHING

    def _exactly(self, key: str, written: str) -> _Places:
        """Return the notes of a folded path; only the one spelled as written, if it is unique."""
        found = self._by_path.get(key, _NOTHING)
        if len(found) > 1:
            stem = strip_suffix(posixpath.basename(written))
            same = [p for p in found if strip_suffix(posixpath.basename(self._paths[p])) == stem]
            return same if len(same) == 1 else found
        return found


class ZonedNames:
    """Link targets tried in order: hot exactly, cold exactly without aliases, hot loosely."""

    def __init__(self, notes: Iterable[tuple[str, Sequence[str], bool]]) -> None:
        """Take the path, the aliases, and whether it is cold, of every note."""
        known = list(notes)
        self._zones: list[tuple[list[str], Resolver]] = []
        for zone in (False, True):
            chosen = [(path, aliases) for path, aliases, is_cold in known if is_cold == zone]
            paths = [path for path, _ in chosen]
            aliases = [() if zone else names for _, names in chosen]
            self._zones.append((paths, Resolver(paths, aliases)))

    def find(self, target: str, source: str) -> str | None:
        """Return the path that a target in ``source`` resolves to; ``None`` if not to one."""
        return self.read(target, source)[1]

    def read(self, target: str, source: str) -> tuple[str, str | None]:
        """Return the part of ``target|label`` that resolved, and the path or ``None``."""
        order = [(True, *zone) for zone in self._zones] + [(False, *self._zones[0])]
        for exactly, paths, resolver in order:
            found = resolver.resolve(target, source, exactly=exactly)
            if found.state != "broken":
                is_sure = found.state == "resolved"
                return found.text, paths[found.places[0]] if is_sure else None
        return found.text, None


@lru_cache(maxsize=1024)  # The links of one note ask for its folder one after another.
def _folder(source: str) -> str:
    return posixpath.dirname(fold_name(source))


def _room(key: str) -> str:
    """Return the room of a path, ``palace/<room>`` or ``<room>``; shorter if the path is."""
    folders = posixpath.dirname(key).split("/")
    return "/".join(folders[: 1 + (folders[0] == PALACE)])


_ATTACHMENT = re.compile(
    r"\.(avif|bmp|gif|jpe?g|png|svg|webp|3gp|flac|m4a|mp3|ogg|wav|webm|mkv|mov|mp4|ogv"
    r"|pdf|canvas|base|csv|json|txt|zip|html?|css|js|py|sh|ya?ml)$",
    re.IGNORECASE,
)


def is_attachment(target: str) -> bool:
    """Whether a target is a file other than a note, such as an image, or ends with ``/``."""
    return target.endswith("/") or _ATTACHMENT.search(target) is not None


def strip_suffix(name: str) -> str:
    """Return a name in NFC without ``.md`` or ``.markdown``."""
    return _SUFFIX.sub("", unicodedata.normalize("NFC", name))


def fold_name(name: str) -> str:
    """Return a name for comparing: NFC, without case, outer blanks or suffix."""
    return unicodedata.normalize("NFC", strip_suffix(name.strip()).casefold())


def fold_names(names: Collection[str]) -> list[str]:
    """Return each name as ``fold_name`` does, in a tenth of the time."""
    if not names:
        return []
    joined = unicodedata.normalize("NFC", _BETWEEN.join(names)).casefold()
    folded = unicodedata.normalize("NFC", joined).split(_BETWEEN)
    return [
        name[:-3] if name.endswith(".md") else name.removesuffix(".markdown")
        for name in map(str.strip, folded)
    ]


def fold_target(target: str) -> str:
    """Return a link target or typed path for comparison, without leading ``/``."""
    return fold_name(target).lstrip("/")


def join_path(folder: str, target: str) -> str | None:
    """Join a target to a folder, with ``.`` and ``..`` resolved; ``None`` if it leaves the root."""
    if "." not in target:
        return f"{folder}/{target}" if folder else target
    path = posixpath.normpath(posixpath.join(folder, target))
    return None if path.startswith("..") else path


# --- The links of a few notes ---------------------------------------------------------------------

_Link: TypeAlias = tuple[int, str]
"""A link: the place of the note it is written in, and its target as written."""


class Neighbors(NamedTuple):
    """Notes one link away from a note. A note may be on both sides."""

    out: tuple[str, ...]
    """The notes it links to, in the order written."""
    back: tuple[str, ...]
    """The notes that link to it, in path order."""


class NearLinks:
    """Neighbors as ``LinkGraph`` has them; a query resolves only links near the given notes."""

    def __init__(
        self,
        paths: Sequence[str],
        aliases: Sequence[Sequence[str]],
        targets: Sequence[Sequence[str]],
    ) -> None:
        """Take the nodes' paths, sorted, their other names, and their link targets as written."""
        self._paths, self._aliases, self._targets = paths, aliases, targets
        names = [(i, name) for i, path in enumerate(paths) for name in (path, *aliases[i])]
        links = [(i, target) for i, found in enumerate(targets) for target in found]
        readings = [(link, r) for link in links for r in read_link(link[1], paths[link[0]])]
        self._named: dict[str, list[int]] = {}
        for at, end in _read_ends([name for _, name in names]):
            self._named.setdefault(end, []).append(names[at][0])
        self._linked: dict[str, list[_Link]] = {}
        for at, end in _read_ends([reading for _, reading in readings]):
            self._linked.setdefault(end, []).append(readings[at][0])

    @classmethod
    @lru_cache(maxsize=2)
    def from_snapshot(cls, snapshot: Snapshot) -> NearLinks:
        """Build it of hot notes that are not private; cached by snapshot."""
        nodes = (~(snapshot.cold | snapshot.private)).nonzero()[0].tolist()
        aliases, targets = snapshot.aliases, list_links(snapshot)
        return cls(
            [snapshot.paths[node] for node in nodes],
            [(*aliases[node], snapshot.titles[node]) for node in nodes],
            [targets[node] for node in nodes],
        )

    def neighbors_of(self, paths: Iterable[str]) -> dict[str, Neighbors]:
        """Return the neighbors of each path; none for a path that is not a node."""
        out: dict[str, list[_Link]] = {}
        back: dict[str, list[_Link]] = {}
        for path in paths:
            place = bisect_left(self._paths, path)
            is_node = self._paths[place : place + 1] == [path]
            out[path] = [(place, target) for target in self._targets[place]] if is_node else []
            names = [path, *self._aliases[place]] if is_node else []
            ends = dict.fromkeys(list_ends(names))
            back[path] = [link for end in ends for link in self._linked.get(end, ())]
        meant = self._resolve(
            {link for both in (out, back) for found in both.values() for link in found}
        )
        return {
            path: Neighbors(
                tuple(
                    dict.fromkeys(p for link in out[path] if (p := meant[link]) not in ("", path))
                ),
                tuple(
                    sorted(
                        {self._paths[at] for at, to in back[path] if meant[at, to] == path} - {path}
                    )
                ),
            )
            for path in out
        }

    def _resolve(self, links: Collection[_Link]) -> dict[_Link, str]:
        """Return the path that each link resolves to; empty if none or ambiguous."""
        ends = list_ends([r for place, to in links for r in read_link(to, self._paths[place])])
        chosen = sorted({i for end in ends for i in self._named.get(end, ())})
        resolver = Resolver([self._paths[i] for i in chosen], [self._aliases[i] for i in chosen])
        meant: dict[_Link, str] = {}
        for source, target in links:
            found = resolver.resolve(target, self._paths[source])
            is_one = found.state == "resolved"
            meant[source, target] = self._paths[chosen[found.places[0]]] if is_one else ""
        return meant


def read_link(target: str, source: str) -> Iterator[str]:
    """Yield candidate paths of a link, of which the end counts; dots can change the end."""
    for part in target.split("|", 1):
        name = part.partition("#")[0]
        yield name
        if "." in name and (key := fold_target(name)).rstrip("/").endswith("."):
            yield join_path(posixpath.dirname(fold_name(source)), key) or ""


def list_links(snapshot: Snapshot) -> list[list[str]]:
    """Return the link targets of each note with their labels: see ``join_labels``."""
    pairs = zip(snapshot.link_targets, snapshot.link_names, strict=True)
    return [join_labels(targets, names) for targets, names in pairs]


def list_ends(names: Collection[str]) -> list[str]:
    """Return the last parts of names, loosened, by which notes and links are matched."""
    return [end for _, end in _read_ends(names)]


def _read_ends(names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the loosened last parts of each name, each after the position of the name."""
    keys = loosen(_BETWEEN.join(fold_names(names))).split(_BETWEEN) if names else ()
    for place, key in enumerate(keys):
        for end in loose_names(key):
            yield place, end.rpartition("/")[2]
