"""Which statements of a card a telegraph keeps: no foam, nothing twice, the most telling half."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product

from memory_palace.embedding.llm_models import estimate_tokens
from memory_palace.metabolism.phrasing import Phrasing, TelegraphPart
from memory_palace.metabolism.sorting import PARTS, words_of
from memory_palace.metabolism.statements import Statement

_LINES = files("memory_palace.metabolism").joinpath("foam.txt").read_text("utf-8").splitlines()
_SAME = 0.8
"""Share of the words of the shorter of two statements from which they say the same."""
_BACK = 200
"""Statements before one that it is compared with."""
_SHARES: Mapping[TelegraphPart, float] = {
    "background": 0.25, "failed": 0.25, "solution": 0.3, "principle": 0.3,
}  # fmt: skip
"""Of the length; beyond it a part's statements count less."""
_BASES: Mapping[TelegraphPart, float] = {
    "background": 0.6, "failed": 0.8, "solution": 1.0, "principle": 1.4,
}  # fmt: skip
_EACH_WORD, _MOST_WORDS = 0.08, 10
"""What each word that carries meaning is worth, and how many of them count."""
_LEAST = 0.95
"""What a statement must be worth, where its part has one already."""
_OPTIONS, _PRESENT = 4, 2.0
"""Statements of a part that are tried with those of others; what it is worth to have the part."""
_WEIGHTS: Mapping[TelegraphPart, float] = {"solution": 3.0}
"""Somebody acts on what worked: rather another part is left out than its best statement."""
_LONGEST_CHAIN = 3
_QUOTED = re.compile(r"`[^`\n]{1,80}`|[\"“„«「][^\"“”»」\n]{2,80}[\"”“»」]")


def is_foam(statement: str) -> bool:
    """Say whether a statement is thanks, a mere status, encouragement or small talk."""
    text = statement.strip(" -*_>").casefold()
    return any(foam.search(text) for foam in _foam())


def drop_repeated(statements: Sequence[Statement]) -> list[Statement]:
    """Leave out foam, and what was said before in the same or nearly the same words."""
    kept: list[Statement] = []
    said: list[frozenset[str]] = []
    last = closed = -1
    for statement in statements:
        if is_foam(statement.text):
            # A closing paragraph that begins with thanks says no more than that.
            closed = statement.block if statement.block != last and said else closed
            last = statement.block
            continue
        last = statement.block
        if last == closed and not statement.mark and statement.label is None:
            continue
        words = words_of(statement.text)
        same = (n for n in range(max(0, len(said) - _BACK), len(said)) if _is_same(words, said[n]))
        before = next(same, None)
        if before is not None and not kept[before].heading and kept[before].label is None:
            kept[before] = statement  # rather where a heading says what it is
        if before is not None:
            continue
        said.append(words)
        kept.append(statement)
    return kept


def choose(
    sorted_: Sequence[tuple[Statement, TelegraphPart]], phrasing: Phrasing, *, most: int
) -> list[tuple[Statement, TelegraphPart]]:
    """Return the most telling statements in their order, at most ``most`` tokens with their marks.

    Every part keeps something. What hangs on the statement before it comes with that one or not
    at all.
    """
    common = _commonness([words_of(statement.text) for statement, _ in sorted_])
    values = [_value(n, sorted_, phrasing) + common[n] for n in range(len(sorted_))]
    chains = [frozenset(_chain(n, sorted_, phrasing)) for n in range(len(sorted_))]
    costs = [cost(statement) for statement, _ in sorted_]

    def cost_of(places: Iterable[int]) -> int:
        return sum(costs[n] for n in places)

    chosen = _choose_first(sorted_, values, chains, costs, most)
    left = [n for n in range(len(sorted_)) if n not in chosen]
    while left:
        spent = {part: cost_of(n for n in chosen if sorted_[n][1] == part) for part in PARTS}
        room = most - sum(spent.values())

        def worth(n: int, spent: Mapping[TelegraphPart, int] = spent) -> float:
            more = spent[sorted_[n][1]] + cost_of(chains[n])
            over = more / most - _SHARES[sorted_[n][1]]
            return values[n] - 4.0 * max(0.0, over)

        left = [n for n in left if cost_of(chains[n] - chosen) <= room and worth(n) > _LEAST]
        if left:
            chosen |= chains[max(left, key=lambda n: (worth(n), -n))]
        left = [n for n in left if n not in chosen]
    return [sorted_[n] for n in sorted(chosen)]


def _choose_first(
    sorted_: Sequence[tuple[Statement, TelegraphPart]],
    values: Sequence[float],
    chains: Sequence[frozenset[int]],
    costs: Sequence[int],
    most: int,
) -> frozenset[int]:
    """Return the best statement of every part that fit together; of few parts where all do not."""
    options: list[list[int | None]] = []
    for part in PARTS:
        own = [n for n in range(len(sorted_)) if sorted_[n][1] == part]
        best = sorted(own, key=lambda n: (-values[n], n))[:_OPTIONS]
        least = sorted(own, key=lambda n: (sum(costs[m] for m in chains[n]), n))[:1]
        options.append([*dict.fromkeys([*best, *least]), None])
    found, worth = frozenset[int](), -1.0
    for choice in product(*options):
        picked = [n for n in choice if n is not None]
        places = frozenset(place for n in picked for place in chains[n])
        value = sum(_PRESENT + values[n] * _WEIGHTS.get(sorted_[n][1], 1.0) for n in picked)
        if value > worth and sum(costs[n] for n in places) <= most:
            found, worth = places, value
    return found


def cost(statement: Statement) -> int:
    """Estimate the tokens that a statement takes, its mark and a table's bars included."""
    return estimate_tokens(statement.text) + bool(statement.mark) + estimate_tokens(statement.head)


def _value(n: int, sorted_: Sequence[tuple[Statement, TelegraphPart]], phrasing: Phrasing) -> float:
    """Return how much a reader would miss a statement: round numbers, not fitted ones."""
    statement, part = sorted_[n]
    text = statement.text
    value = _BASES[part] + _EACH_WORD * (min(len(words_of(text)), _MOST_WORDS) - _MOST_WORDS)
    value += 0.4 * any(map(str.isdigit, text)) + 0.6 * (phrasing.count("reason", text) > 0)
    if part == "principle":
        value += 0.6 * (phrasing.count("lesson", text) + phrasing.count("general", text) > 0)
    value += 0.3 * (_QUOTED.search(text) is not None)
    value += _lead(n, sorted_, phrasing)
    if part == "failed":
        value += 0.6 if phrasing.failed(text) else -0.3
    elif part == "solution":
        value += 1.0 * (phrasing.count("success", text) > 0)
        value += 0.4 * (phrasing.count("turn", text) > 0)
    elif part == "background":
        value += 0.4 * (phrasing.count("trouble", text) > 0)
        heading = statement.label_text or statement.heading
        value -= 0.8 * phrasing.is_kind("goals", heading)
        value += 0.7 * phrasing.is_kind("causes", heading)
    return value - 0.6 * ("!" in text or "！" in text)


def _commonness(words: Sequence[frozenset[str]]) -> list[float]:
    """Return from 0 to 1 how much of what each statement speaks of others speak of as well.

    Words of more than two fifths of them say nothing.
    """
    counts = Counter(word for own in words for word in own)
    most = max(2.0, 0.4 * len(words))
    told = [
        sum(min(counts[word] - 1, 3) for word in own if counts[word] <= most) / (len(own) + 3)
        for own in words
    ]
    return [value / max(told) if value else 0.0 for value in told]


def _lead(n: int, sorted_: Sequence[tuple[Statement, TelegraphPart]], phrasing: Phrasing) -> float:
    """Return what it is worth to be the first below what names its part, or the first of it."""
    statement, part = sorted_[n]
    before = sorted_[n - 1][0] if n else None
    is_first = all(own != part for _, own in sorted_[max(0, n - _BACK) : n])
    if statement.label is not None:
        is_named = before is None or before.block != statement.block
    else:
        is_new = before is None or statement.heading != before.heading
        is_named = is_new and (n == 0 or phrasing.part_of(statement.heading) is not None)
    if is_named:
        return 2.2 if is_first else 1.4
    return 0.5 * is_first


def _chain(
    n: int, sorted_: Sequence[tuple[Statement, TelegraphPart]], phrasing: Phrasing
) -> set[int]:
    """Return a statement with those before it that it hangs on, and an attempt with its outcome."""
    chain = {n}
    if n + 1 < len(sorted_) and _is_outcome(n + 1, sorted_, phrasing):
        chain.add(n + 1)
    while n and len(chain) <= _LONGEST_CHAIN and _hangs(n, sorted_, phrasing):
        n -= 1
        chain.add(n)
    return chain


def _hangs(n: int, sorted_: Sequence[tuple[Statement, TelegraphPart]], phrasing: Phrasing) -> bool:
    """Say whether a statement needs the one before: it points there, or is its outcome."""
    before, statement = sorted_[n - 1][0], sorted_[n][0]
    if statement.heading != before.heading or statement.mark == "| ":
        return False
    if statement.label is not None and statement.block != before.block:
        return False
    return _is_outcome(n, sorted_, phrasing) or phrasing.points_back(statement.text, 3)


def _is_outcome(
    n: int, sorted_: Sequence[tuple[Statement, TelegraphPart]], phrasing: Phrasing
) -> bool:
    """Say whether a statement tells what became of the attempt before it."""
    (before, was), (statement, part) = sorted_[n - 1], sorted_[n]
    if n == 0 or not part == was == "failed" or statement.block != before.block:
        return False
    if statement.mark:  # an item is one attempt
        return True
    if phrasing.count("attempt", statement.text):  # another one
        return False
    is_told = phrasing.failed(before.text) or phrasing.count("adverse", before.text) > 0
    tells = phrasing.failed(statement.text) or phrasing.points_back(statement.text)
    return tells and not is_told


def _is_same(words: frozenset[str], other: frozenset[str]) -> bool:
    least = min(len(words), len(other))
    if least < 3:
        return words == other
    return len(words & other) >= _SAME * max(len(words), len(other)) or words <= other


@cache
def _foam() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(line) for line in _LINES if line and not line.startswith("#"))
