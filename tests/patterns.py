"""Find every pattern of the package, and texts that its own source says it has to look at."""

import pkgutil
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from re import _constants as constants  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import memory_palace

KNOWN_TEXTS = (
    *("[", "[[", "]", "<!--", "-->", "<", "</", "%", "%%", "1-", "1 ", "12:00 ", "half past "),
    *("`", "``` ", " ", "\t", "\n", " \n", "\t\n", "\r\n", "1", "1,", "1.", "a", "A", "a ", "A "),
    *('"', "'", '"a" ', "|", "# ", "#", "-", "- ", "*", "**", "* ", "_", "(", ")", "$", "a.", "a_"),
    *("\\", "=", "~", ":", "://", "a:", "@", "!", "![", "\n- ", "\n\n", "\n# ", "é", "字"),
)
"""What people and FINDINGS.md A10 stopped it with."""
EXTRAS = ("llm", "mcp", "anyio", "psycopg", "pgvector")
"""Packages of extras that a module imports with itself; without them it cannot run either."""
_OPEN_ENDED = 4
"""Repeats that allow more than this are texts of their own."""


def find_patterns() -> dict[str, re.Pattern[str]]:
    """Return the patterns of text that the modules hold, by the name of the first that does.

    Patterns in tables, values and classes count, and those that a function makes when it is
    imported; what a function makes when it runs is a literal, and is found by ``find_calls``.
    """
    found: dict[tuple[str, int], tuple[str, re.Pattern[str]]] = {}
    packages = pkgutil.walk_packages(memory_palace.__path__, "memory_palace.")
    for info in sorted(packages, key=lambda one: ".features" in one.name):
        if info.name.endswith("__main__"):
            continue
        try:
            module = import_module(info.name)
        except ModuleNotFoundError as error:
            if error.name in EXTRAS:
                continue
            raise
        for name, value in list(vars(module).items()):
            for number, pattern in enumerate(_patterns_in(value, set())):
                if isinstance(pattern.pattern, str):
                    key = pattern.pattern, pattern.flags
                    found.setdefault(key, (f"{info.name[14:]}.{name}.{number}", pattern))
    return dict(found.values())


def _patterns_in(value: Any, seen: set[int]) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
        return
    if id(value) in seen or isinstance(value, str | bytes | int | float | None):
        return
    seen.add(id(value))
    if isinstance(value, dict):
        inside: list[Any] = [*value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inside = [*value]
    elif str(getattr(value, "__module__", "")).startswith("memory_palace"):
        names = [*getattr(value, "__dict__", {}), *getattr(type(value), "__slots__", ())]
        inside = [getattr(value, name, None) for name in names]
    else:
        return
    for item in inside:
        yield from _patterns_in(item, seen)


def own_texts(pattern: re.Pattern[str]) -> list[str]:
    """Return pieces that a pattern has to look at: to be repeated, each at the end of a start.

    A piece ``start\0again`` is the start once and the rest again and again.
    """
    tree = parser.parse(pattern.pattern, pattern.flags)
    pieces = [*_pieces(tree, "")]
    whole = _sample(tree)
    pieces += [f"\0{whole}", f"\0{whole[:-1]}"]
    pieces += [f"\0{piece.replace(chr(0), '')}" for piece in pieces]
    return [piece for piece in dict.fromkeys(pieces) if piece.rpartition("\0")[2]]


def _pieces(tree: Sequence[Any], before: str) -> Iterator[str]:
    """Yield, for each open repeat, what leads to it and what it repeats."""
    for kind, value in tree:
        if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            _, most, inside = value
            if most > _OPEN_ENDED:
                yield f"{before}\0{_sample(inside)}"
            yield from _pieces(inside, before)
        else:
            for inside in _children(kind, value):
                yield from _pieces(inside, before)
        if kind not in (constants.ASSERT_NOT, constants.ASSERT):
            before += _sample([(kind, value)])


def _children(kind: Any, value: Any) -> list[Any]:
    if kind == constants.SUBPATTERN:
        return [value[3]]
    if kind == constants.BRANCH:
        return list(value[1])
    if kind == constants.ATOMIC_GROUP:
        return [value]
    return []


def _sample(tree: Sequence[Any]) -> str:
    """Return a short text that a part of a pattern matches, or nearly."""
    return "".join(_sample_of(kind, value) for kind, value in tree)


def _sample_of(kind: Any, value: Any) -> str:
    if kind == constants.LITERAL:
        return chr(value)
    if kind == constants.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if kind == constants.ANY:
        return "a"
    if kind == constants.IN:
        return _sample_of_set(value)
    if kind in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
        least, _, inside = value
        return _sample(inside) * max(least, 1) if least < 100 else ""
    if kind == constants.CATEGORY:
        return _OF_CATEGORY.get(value, "a")
    inside = _children(kind, value)
    return _sample(inside[0]) if inside else ""


_OF_CATEGORY = {
    constants.CATEGORY_DIGIT: "1",
    constants.CATEGORY_NOT_DIGIT: "a",
    constants.CATEGORY_SPACE: " ",
    constants.CATEGORY_NOT_SPACE: "a",
    constants.CATEGORY_WORD: "a",
    constants.CATEGORY_NOT_WORD: " ",
}


def _sample_of_set(items: Sequence[Any]) -> str:
    kinds = {kind for kind, _ in items}
    if constants.NEGATE in kinds:
        pattern = re.compile(_set_source(items))
        return next((char for char in "aA1 -.\n" if pattern.match(char)), "\u4e00")
    kind, value = items[0]
    if kind == constants.RANGE:
        return chr(value[0])
    return _sample_of(kind, value)


_CATEGORY_SOURCE = {
    constants.CATEGORY_DIGIT: r"\d",
    constants.CATEGORY_NOT_DIGIT: r"\D",
    constants.CATEGORY_SPACE: r"\s",
    constants.CATEGORY_NOT_SPACE: r"\S",
    constants.CATEGORY_WORD: r"\w",
    constants.CATEGORY_NOT_WORD: r"\W",
}


def _set_source(items: Sequence[Any]) -> str:
    source = ""
    for kind, value in items:
        if kind == constants.NEGATE:
            source += "^"
        elif kind == constants.LITERAL:
            source += re.escape(chr(value))
        elif kind == constants.RANGE:
            source += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        else:
            source += _CATEGORY_SOURCE[value]
    return f"[{source}]"
