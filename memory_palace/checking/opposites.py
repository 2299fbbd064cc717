"""Words of opposite meaning, as ``opposites.txt`` lists them."""

from __future__ import annotations

from importlib.resources import files
from itertools import permutations

from memory_palace.language.tokens import stem_word


def find_opposites(stem: str) -> frozenset[str]:
    """Return the stems of the opposites of a stemmed word; most words have none."""
    return _OPPOSITES.get(stem, frozenset())


def find_allies(stem: str) -> frozenset[str]:
    """Return the stems that stand on the same side as a stemmed word, itself included."""
    return _ALLIES.get(stem, frozenset({stem}))


def _read_lines() -> list[str]:
    text = files("memory_palace.checking").joinpath("opposites.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _read_groups() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    opposites: dict[str, set[str]] = {}
    allies: dict[str, set[str]] = {}
    for group in _read_lines():
        sides = [
            {stem_word(form) for word in side.split() for form in _compare(word)}
            for side in group.split("/")
        ]
        for mine, theirs in permutations(sides, 2):
            for word in mine:
                opposites.setdefault(word, set()).update(theirs)
                allies.setdefault(word, set()).update(mine)
    return _freeze(opposites), _freeze(allies)


def _compare(word: str) -> tuple[str, ...]:
    """Return a word with what may be its comparative and superlative: sick, sicker, sickest."""
    base = word.removesuffix("e")
    base = f"{base[:-1]}i" if base.endswith("y") else base
    return word, f"{base}er", f"{base}est"


def _freeze(found: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(words) for word, words in found.items()}


_OPPOSITES, _ALLIES = _read_groups()
