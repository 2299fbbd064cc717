"""Find the note, card, conflict or project that a typed name refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches

from memory_palace.errors import UsageError
from memory_palace.graph.resolve import Resolver, fold_name
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.words import STOPWORDS, UNSPACED_RUN, WORD_PART, squeeze_all
from memory_palace.notes.note import split_line_range, stem_of

_ALIKE = 0.8
"""Similarity from which one word counts as a typing error of the other."""
_NEAR = 0.7
"""Similarity from which a name is suggested where none matches."""
_SHORTEST_PART = 3
_SHOWN = 8
_NEAREST = 3
_DATED = re.compile(r"\A\d{4}-\d{2}-\d{2}_")


class NoteNames:
    """Look-up of notes by any of their names, ignoring letter case and Unicode form."""

    def __init__(
        self, paths: Sequence[str], titles: Sequence[str], aliases: Sequence[Sequence[str]]
    ) -> None:
        self._paths = paths
        self._titles = titles
        self._aliases = aliases
        self._resolver = Resolver(paths, aliases)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> NoteNames:
        """Build it from all notes of a snapshot, cold ones included if it has them."""
        return cls(snapshot.paths, snapshot.titles, snapshot.aliases)

    def find(self, text: str) -> str:
        """Return the path of the note named ``text``; the first kind of name that matches decides.

        In order: path or its end, title, alias, slug. If none matches, a line range at the end of
        the text, as in ``name:10-20``, is ignored. Raise ``UsageError`` with the candidates if
        several notes match, and with the nearest names if none does.
        """
        found = self._resolver.by_path(text) or self._titled(text) or self._resolver.by_alias(text)
        found = found or self._slugged(text)
        if len(found) == 1:
            return self._paths[found[0]]
        if found:
            listed = _list_some([self._paths[place] for place in found])
            raise UsageError(f"{len(found)} notes match {text!r}; give a path:{listed}")
        name, line, _ = split_line_range(text)
        if line is not None:
            return self.find(name)
        near = self._nearest(text)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"no note matches {text!r}. {hint}`palace list` prints every note.")

    def _titled(self, text: str) -> list[int]:
        wanted = fold_name(text)
        return [i for i, title in enumerate(self._titles) if fold_name(title) == wanted]

    def _slugged(self, text: str) -> list[int]:
        wanted = fold_name(text)
        dated = [i for i, path in enumerate(self._paths) if _DATED.match(stem_of(path))]
        return [i for i in dated if fold_name(slug_of(stem_of(self._paths[i]))) == wanted]

    def _nearest(self, text: str) -> list[str]:
        """Return the nearest notes' paths, with a title where it differs from the stem."""
        titles = dict(zip(self._paths, self._titles, strict=True))
        names = {
            path: {fold_name(name) for name in (stem_of(path), title, *others)}
            for (path, title), others in zip(titles.items(), self._aliases, strict=True)
        }
        return [
            path if fold_name(titles[path]) == fold_name(stem_of(path)) else f"{path} ({title})"
            for path in find_nearest(fold_name(stem_of(text)), names)
            if (title := titles[path])
        ]


def slug_of(stem: str) -> str:
    """Return a file stem without its leading date; all of it if it has none."""
    return _DATED.sub("", stem)


def find_called(text: str, names: Mapping[str, set[str]], *, what: str, verb: str) -> str:
    """Return the one path that has ``text`` among its names.

    The first of these that matches any path decides: a whole name, ignoring case; ignoring accents,
    blanks and punctuation as well; a part of a name, or its words in any order. Raise
    ``UsageError`` with the matches if several match, and with the three nearest if none does.
    ``what`` is the noun of the paths and ``verb`` the command that lists them, for the message.
    """
    exact = fold_name(text)
    wanted = exact.rpartition("/")[2]
    folded = {path: {fold_name(name) for name in names[path]} for path in names}
    bare = {path: {name.rpartition("/")[2] for name in folded[path]} for path in names}
    ways: tuple[Callable[[str], bool], ...] = (
        lambda path: exact in folded[path],
        lambda path: _squeeze(wanted) in map(_squeeze, bare[path]),
        lambda path: any(_is_part(wanted, name) for name in bare[path]),
    )
    for fits in ways if _squeeze(wanted) else ways[:1]:
        found = [path for path in names if fits(path)]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(
                f"{len(found)} {what}s are called {text!r}; give a path:{_list_some(found)}"
            )
    near = find_nearest(wanted, bare)
    listed = "one of these?\n  " + "\n  ".join(near) if len(near) > 1 else f"{''.join(near)}?"
    hint = f"; did you mean {listed}" if near else f"; see `palace {verb} list`"
    raise UsageError(f"no {what} is called {text!r}{hint}")


def find_nearest(wanted: str, names: Mapping[str, Collection[str]]) -> list[str]:
    """Return at most three paths with the names nearest to a text, the best first.

    Names with all its words, allowing typing errors; if there are none, names of similar spelling,
    then those with at least half of its words.
    """
    words = _words(wanted)
    shares = {path: max(_share_words(words, name) for name in names[path]) for path in names}
    ranked = sorted(names, key=lambda path: (*(-share for share in shares[path]), path))
    near = [path for path in ranked if shares[path][0] >= 0.5]
    if not near or shares[near[0]][0] < 1:
        paths = {_squeeze(name): path for path in names for name in names[path]}
        alike = get_close_matches(_squeeze(wanted), paths, n=_SHOWN * _NEAREST, cutoff=_NEAR)
        near = [*(paths[name] for name in alike), *near]
    else:
        near = [path for path in near if shares[path][0] == 1]
    return list(dict.fromkeys(near))[:_NEAREST]


def _share_words(words: Sequence[str], name: str) -> tuple[float, float]:
    """Return the share of the words that a name has, and their share of the name's words."""
    known = _words(name)
    found = 0
    for word in words:
        near = [other for other in known if other[0] == word[0]]
        is_there = any(_begins(word, other) for other in near)
        found += is_there or bool(get_close_matches(word, near, n=1, cutoff=_ALIKE))
    return found / max(len(words), 1), found / max(len(known), 1)


def _list_some(paths: Sequence[str]) -> str:
    rest = f"\n  and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return "".join(f"\n  {path}" for path in paths[:_SHOWN]) + rest


def _is_part(wanted: str, name: str) -> bool:
    """Whether every word is a prefix of a word of the name, or the whole a substring of it."""
    words, known = _words(wanted), _words(name)
    if words and all(any(_begins(word, other) for other in known) for word in words):
        return True
    part = _squeeze(wanted)
    is_long = len(part) >= _SHORTEST_PART or UNSPACED_RUN.fullmatch(part) is not None
    return is_long and not part.isdecimal() and part in _squeeze(name)


def _begins(word: str, other: str) -> bool:
    is_long = len(word) >= _SHORTEST_PART and not word.isdecimal()
    return other.startswith(word) if is_long else other == word


def _words(name: str) -> list[str]:
    """Return the words of a name, without stop words and accents."""
    words = [word for word in WORD_PART.findall(name) if word not in STOPWORDS]
    return [word for word in squeeze_all(words) if word]


def _squeeze(name: str) -> str:
    return squeeze_all([name])[0]


# --- The current project, where none is named ---------------------------------------------------

_PROJECTS = "project_rooms"
_CARDS = ("dispatch_corridor/active/", "dispatch_corridor/blocked/")


def active_projects(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the project folders that open task cards link into, in path order.

    If no card links into any, return the folder with the newest note.
    """
    folders: dict[str, list[int]] = {}
    for place, path in enumerate(snapshot.paths):
        below = snapshot.room_map.place_of(path).split("/")
        if below[0] == _PROJECTS and len(below) > 2 and not snapshot.cold[place]:
            folder = "/".join(path.split("/")[: 2 - len(below)]) + "/"
            folders.setdefault(folder, []).append(place)
    home = {
        stem_of(snapshot.paths[place]).casefold(): folder
        for folder, places in folders.items()
        for place in places
    }
    targets = snapshot.link_targets
    named: set[str] = set()
    for place, path in enumerate(snapshot.paths):
        if not snapshot.room_map.place_of(path).startswith(_CARDS):
            continue
        stems = {stem_of(target).casefold() for target in targets[place]}
        named |= {home[stem] for stem in stems & home.keys()}
    if named or not folders:
        return tuple(sorted(named))
    dates = snapshot.told_dates
    newest = {folder: dates[places].max() for folder, places in folders.items()}
    return (min(newest, key=lambda folder: (-newest[folder], folder)),)
