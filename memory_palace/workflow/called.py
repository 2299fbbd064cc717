"""Find the card or conflict that a person means by what they remember of its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import SequenceMatcher, get_close_matches

from memory_palace.errors import UsageError
from memory_palace.graph.resolve import fold_name
from memory_palace.language.tokens import UNSPACED_RUN, WORD_PART, squeeze_all
from memory_palace.language.word_lists import STOPWORDS

_ALIKE = 0.8
"""Likeness of two words, or two names, from which one is a typing error of the other."""
_NEAR = 0.4
"""Likeness from which a name is worth naming where none fits."""
_SHORTEST_PART = 3
_SHOWN = 8
_NEAREST = 3


def find_called(text: str, names: Mapping[str, set[str]], *, what: str, verb: str) -> str:
    """Return the one path that has ``text`` among its names.

    The first of these that fits any path decides: a name, whatever its case; a name without
    accents, blanks and signs; a part of a name, or its words in any order; the same with typing
    errors. Figures have to be right. Raise ``UsageError`` with all that fit where several do, and
    with the three nearest where none does. ``what`` is called so, and ``verb`` lists all of its
    kind, for the message.
    """
    exact = fold_name(text)
    wanted = exact.rpartition("/")[2]
    folded = {path: {fold_name(name) for name in names[path]} for path in names}
    bare = {path: {name.rpartition("/")[2] for name in folded[path]} for path in names}
    ways: tuple[Callable[[str], bool], ...] = (
        lambda path: exact in folded[path],
        lambda path: _squeeze(wanted) in map(_squeeze, bare[path]),
        lambda path: any(_is_part(wanted, name) for name in bare[path]),
        lambda path: any(_is_mistyped(wanted, name) for name in bare[path]),
    )
    for fits in ways if _squeeze(wanted) else ways[:1]:
        found = [path for path in names if fits(path)]
        if len(found) == 1:
            return found[0]
        if found:
            rest = f"\n  and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            listed = "".join(f"\n  {path}" for path in found[:_SHOWN])
            raise UsageError(
                f"{len(found)} {what}s are called {text!r}; give a path:{listed}{rest}"
            )
    near = list(_nearest(wanted, bare))
    listed = "one of these?\n  " + "\n  ".join(near) if len(near) > 1 else f"{''.join(near)}?"
    hint = f"; did you mean {listed}" if near else f"; see `palace {verb} list`"
    raise UsageError(f"no {what} is called {text!r}{hint}")


def _is_part(wanted: str, name: str) -> bool:
    """Whether every word begins a word of the name, in any order, or all of it stands in there."""
    words, known = _words(wanted), _words(name)
    if words and all(any(_begins(word, other) for other in known) for word in words):
        return True
    part = _squeeze(wanted)
    is_long = len(part) >= _SHORTEST_PART or UNSPACED_RUN.fullmatch(part) is not None
    return is_long and not part.isdecimal() and part in _squeeze(name)


def _begins(word: str, other: str) -> bool:
    is_long = len(word) >= _SHORTEST_PART and not word.isdecimal()
    return other.startswith(word) if is_long else other == word


def _is_mistyped(wanted: str, name: str) -> bool:
    """Whether every word is like one of the name, or all of it is like the name."""
    words, known = _words(wanted), _words(name)
    if any(word not in known for word in words if not word.isalpha()):
        return False
    if words and all(any(_is_alike(word, other) for other in known) for word in words):
        return True
    return SequenceMatcher(None, _squeeze(wanted), _squeeze(name)).ratio() >= _ALIKE


def _is_alike(word: str, other: str) -> bool:
    """Whether a word is another with a typing error; two letters may have changed places."""
    return bool(get_close_matches(word, [other], n=1, cutoff=_ALIKE)) or (
        len(word) > _SHORTEST_PART and word[0] == other[0] and sorted(word) == sorted(other)
    )


def _nearest(wanted: str, names: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield the paths with the names that are most like it, the best first."""
    paths = {_squeeze(name): path for path in names for name in names[path]}
    near = get_close_matches(_squeeze(wanted), paths, n=_SHOWN * _NEAREST, cutoff=_NEAR)
    yield from list(dict.fromkeys(paths[name] for name in near))[:_NEAREST]


def _words(name: str) -> list[str]:
    """Return the words of a name but those that say nothing, without accents."""
    words = [word for word in WORD_PART.findall(name) if word not in STOPWORDS]
    return [word for word in squeeze_all(words) if word]


def _squeeze(name: str) -> str:
    return squeeze_all([name])[0]
