"""Words of opposite meaning and things of one kind, as ``opposites.txt`` lists them."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from itertools import permutations
from typing import cast

from memory_palace.checking.verdicts import DifferenceKind
from memory_palace.language.tokens import stem_word

_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis", "a", "anti")
_SHORTEST = 4
"""Letters of a word whose opposite has a prefix before it."""
_ENDINGS = (("ful", "less"), ("over", "under"), ("hyper", "hypo"), ("up", "down"), ("pre", "post"))


def find_opposites(stem: str) -> frozenset[str]:
    """Return the stems of the opposites of a stemmed word; most words have none."""
    return frozenset(_OPPOSITES.get(stem, ()))


def find_allies(stem: str) -> frozenset[str]:
    """Return the stems that stand on the same side as a stemmed word, itself included."""
    return frozenset({stem, *_ALLIES.get(stem, ())})


def find_opposition(mine: str, theirs: str) -> DifferenceKind | None:
    """Return the kind of difference that two stems make if they exclude each other.

    Beside the listed ones those are opposite that a negating prefix tells apart.
    """
    listed = _OPPOSITES.get(mine, {}).get(theirs)
    return listed or ("negation" if _is_prefixed(mine, theirs) else None)


@lru_cache(maxsize=1 << 14)
def _is_prefixed(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < _SHORTEST:
        return False
    return any(prefix + short == long for prefix in _PREFIXES) or any(
        one.startswith(a) and other.startswith(b) and one[len(a) :] == other[len(b) :]
        for pair in _ENDINGS
        for a, b in permutations(pair)
    )


def _read_groups() -> tuple[dict[str, dict[str, DifferenceKind]], dict[str, set[str]]]:
    opposites: dict[str, dict[str, DifferenceKind]] = {}
    allies: dict[str, set[str]] = {}
    text = files("memory_palace.checking").joinpath("opposites.txt").read_text("utf-8")
    kind: DifferenceKind = "negation"
    for line in text.splitlines():
        if line.startswith("## "):
            kind = cast(DifferenceKind, line.removeprefix("## "))
        elif line and not line.startswith("#"):
            sides = [
                {stem_word(form) for word in side.split() for form in _compare(word)}
                for side in line.split("/")
            ]
            for mine, theirs in permutations(sides, 2):
                for word in mine:
                    known = opposites.setdefault(word, {})
                    known |= {other: kind for other in theirs - mine if other not in known}
                    allies.setdefault(word, set()).update(mine)
    return opposites, allies


def _compare(word: str) -> tuple[str, ...]:
    """Return a word with what may be its comparative and superlative: sick, sicker, sickest."""
    base = word.removesuffix("e")
    base = f"{base[:-1]}i" if base.endswith("y") else base
    return word, f"{base}er", f"{base}est"


_OPPOSITES, _ALLIES = _read_groups()
