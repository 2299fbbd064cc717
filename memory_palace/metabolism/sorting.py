"""To which part of a telegraph each statement of a card belongs.

A heading or a label decides. Elsewhere words speak for a part, and so does the place: people tell
what was wrong, what they tried, what worked and what they learned in this order. The most likely
sequence is found as in a hidden Markov model (Viterbi 1967); the weights are round numbers that
say which evidence outweighs which, not fitted ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import drop_stop_stems
from memory_palace.metabolism.phrasing import Phrasing, TelegraphPart
from memory_palace.metabolism.statements import Statement

PARTS: tuple[TelegraphPart, ...] = ("background", "failed", "solution", "principle")
_GIVEN = 9.0
"""What a heading or label is worth: more than all words together."""
_ELSEWHERE: Mapping[TelegraphPart, float] = {
    "background": 0.0, "failed": 1.0, "solution": 1.5, "principle": 3.0, "left_out": 0.0,
}  # fmt: skip
"""What counts against a part that has a heading or label of its own in the card."""
_STEPS: Mapping[TelegraphPart, Mapping[TelegraphPart, float]] = {
    "background": {"failed": -0.4, "solution": -0.6, "principle": -1.5},
    "failed": {"background": -0.8, "solution": -0.4, "principle": -1.2},
    "solution": {"background": -1.6, "failed": -1.0, "principle": -0.4},
    "principle": {"background": -2.5, "failed": -2.5, "solution": -2.5},
}
"""What it costs to go on with another part."""
_INSIDE, _IN_ITEM, _POINTING = -0.6, -2.0, -1.5
"""What it costs besides, inside of a paragraph, of an item, and where a sentence points back."""
_AT_THE_END = 1.2
"""What the last of several paragraphs is worth for what was learned."""
_UNSAID = 3.0
"""What counts against a principle that no word of the sentence says to be one."""
_LABELLED = 30
"""Characters within which a colon ends a label that no list has."""
_FEW = 3
"""Paragraphs below which their borders say nothing; words that a repetition has at least."""
_AGAIN = 0.5
"""Share of the words of a statement that the solution has as well, where it is the answer."""


def sort_statements(statements: Sequence[Statement], phrasing: Phrasing) -> list[TelegraphPart]:
    """Return the part of each statement; ``left_out`` for checks, links and next steps."""
    given = [given_part(statement, phrasing) for statement in statements]
    for n in _answers_first(statements, given):
        given[n] = "solution"
    named = [part for part in PARTS if part in given]
    asides = _asides(statements, given, phrasing)
    free = [n for n, part in enumerate(given) if part != "left_out" and n not in asides]
    past = sum(phrasing.count("past", statements[n].text) > 0 for n in free)
    scores: list[dict[TelegraphPart, float]] = []
    for place, n in enumerate(free):
        told = given[n]
        late = place / max(1, len(free) - 1)
        score = _score(statements[n].text, late, phrasing, is_past=2 * past >= len(free))
        if statements[n].block == statements[free[-1]].block and statements[n].block >= _FEW:
            score["principle"] += _AT_THE_END
        if told is None:
            _doubt(score, named, statements[n].text, phrasing)
        for part in (told,) if told is not None else _of_two(n, statements, phrasing):
            score[part] += _GIVEN
        scores.append(score)
    path = _decode([statements[n] for n in free], scores, phrasing)
    chosen = dict(zip(free, path, strict=True))
    if not named and "solution" not in path:
        done = [n for n in free if chosen[n] == "background"]
        if done and not phrasing.count("trouble", statements[done[-1]].text):
            chosen[done[-1]] = "solution"  # a completed card says what was done
    return [chosen.get(n, "left_out") for n in range(len(statements))]


def given_part(statement: Statement, phrasing: Phrasing) -> TelegraphPart | None:
    """Return the part that a label or heading says, unless the words say plainly otherwise."""
    part = statement.label
    if part is None and phrasing.two_parts_of(statement.heading) is None:
        part = phrasing.part_of(statement.heading)
    if part is None and statement.head:
        cells = (cell.strip(" *_") for cell in statement.head.split("\n")[0].strip("|").split("|"))
        part = next((found for cell in cells if (found := phrasing.part_of(cell))), None)
    if statement.is_check and part is None:
        return "left_out"
    if part in (None, "background") and statement.mark == "| " and _is_measured(statement.text):
        return "left_out"
    text = statement.text
    failed, worked = phrasing.failed(text), phrasing.count("success", text) > 0
    if part == "failed" and worked and not failed and statement.mark:
        return "failed" if phrasing.count("adverse", text) else "solution"
    if part in ("background", "solution") and failed and phrasing.count("attempt", text):
        return "failed"
    return part


def _has_label(statement: Statement) -> bool:
    return any(mark in statement.text[:_LABELLED] for mark in ":：")


def _is_measured(row: str) -> bool:
    cells = [cell for cell in row.split("|") if cell.strip()]
    return 2 * sum(any(map(str.isdigit, c)) and len(c.split()) < _FEW for c in cells) >= len(cells)


def _of_two(
    n: int, statements: Sequence[Statement], phrasing: Phrasing
) -> tuple[TelegraphPart, ...]:
    """Return the parts that a statement below "Cause and fix" may be: first one, then the other."""
    statement = statements[n]
    parts = phrasing.two_parts_of(statement.heading)
    if parts is None or statement.label is not None:
        return ()
    near = statements[max(0, n - 1) : n + 2]
    same = [other for other in near if other.heading == statement.heading]
    if same[0] is statement is not same[-1]:
        return parts[:1]
    return parts[1:] if same[-1] is statement is not same[0] else parts


def _answers_first(
    statements: Sequence[Statement], given: Sequence[TelegraphPart | None]
) -> list[int]:
    """Return the statements above all headings that say what the solution below says again."""
    told = [
        words_of(s.text) for s, part in zip(statements, given, strict=True) if part == "solution"
    ]
    done = frozenset[str]().union(*told)
    found = []
    for n, part in enumerate(given):
        if part is not None or not done:
            break
        words = words_of(statements[n].text)
        found += [n] * (len(words & done) >= max(_FEW, _AGAIN * len(words)))
    return found


def _asides(
    statements: Sequence[Statement], given: Sequence[TelegraphPart | None], phrasing: Phrasing
) -> frozenset[int]:
    """Return openings and closing words outside of the headings or labels of a card that has them.

    Elsewhere a question, or a word or two.
    """
    named = [n for n, part in enumerate(given) if part in PARTS]
    has = {given[n] for n in named}
    is_named = "solution" in has and len(has) > 1
    is_taught = "principle" in has and 2 * named[-1] >= len(given)
    found = set()
    for n, statement in enumerate(statements):
        is_lesson = "principle" not in has and phrasing.count("lesson", statement.text) > 0
        if not is_named:
            is_word = len(given) >= 2 * _FEW and len(words_of(statement.text)) < _FEW
            is_aside = is_word
        elif n < named[0]:
            is_aside = "background" in has and not statement.heading and not _has_label(statement)
        else:
            is_aside = n > named[-1] and not is_lesson
        is_aside = is_aside or (is_taught and n > named[-1])
        is_asked = statement.text[-1] in "?？" and statement.label is None and len(given) > 1
        if is_asked or (is_aside and given[n] is None):
            found.add(n)
    return frozenset(found)


def words_of(text: str) -> frozenset[str]:
    """Return the stems of a text that carry meaning."""
    return frozenset(drop_stop_stems(tokenize(text)))


def _doubt(
    score: dict[TelegraphPart, float],
    named: Sequence[TelegraphPart],
    text: str,
    phrasing: Phrasing,
) -> None:
    """Lower the parts that stand elsewhere, and a principle that no word says to be one."""
    for part in named:
        score[part] -= _ELSEWHERE[part]
    if phrasing.count("lesson", text) + phrasing.count("general", text) == 0:
        score["principle"] -= _UNSAID


def _score(
    text: str, late: float, phrasing: Phrasing, *, is_past: bool
) -> dict[TelegraphPart, float]:
    """Return what the words and the place of a statement say for each part.

    ``late`` is its place among the others, from 0 to 1; ``is_past``: most others tell what was.
    """
    failed = phrasing.failed(text)
    tried = phrasing.count("attempt", text) > 0
    adverse = phrasing.count("adverse", text) > 0
    worked = 2.0 * (phrasing.count("success", text) > 0) + (phrasing.count("turn", text) > 0)
    trouble = phrasing.count("trouble", text) > 0 and not failed and not worked
    lessons = 3.0 * min(phrasing.count("lesson", text), 2) + min(phrasing.count("general", text), 2)
    holds_now = 1.2 if is_past and phrasing.count("past", text) == 0 else -0.8
    return {
        "background": 0.7 - 1.5 * late + 0.8 * trouble + (late == 0),
        "failed": -0.3 + 2.5 * failed + 1.2 * tried + 0.8 * adverse * (1 + tried),
        "solution": 0.8 * late - 0.3 + worked * (0.3 if failed else 1.0) - 0.8 * adverse,
        "principle": -2.2 + 2.0 * late + (lessons + holds_now) * (0.4 + 0.6 * (late > 0.5)),
    }


def _decode(
    statements: Sequence[Statement],
    scores: Sequence[Mapping[TelegraphPart, float]],
    phrasing: Phrasing,
) -> list[TelegraphPart]:
    totals: dict[TelegraphPart, float] = {}
    inside = _INSIDE * (len({statement.block for statement in statements}) >= _FEW)
    came_from: list[dict[TelegraphPart, TelegraphPart]] = []
    for n, score in enumerate(scores):
        extra, share = 0.0, 1.0
        if n:
            share = 0.5 if statements[n].heading != statements[n - 1].heading else 1.0
            if statements[n].block == statements[n - 1].block:
                extra += _IN_ITEM if statements[n].mark else inside
            if max(score.values()) < _GIVEN / 2:
                extra += _POINTING * phrasing.points_back(statements[n].text)

        came: dict[TelegraphPart, TelegraphPart] = {}
        reached: dict[TelegraphPart, float] = {}
        for part in PARTS:
            ways = {was: totals[was] + (share * _STEPS[was].get(part, 0.0)) for was in totals}
            ways |= {was: way + extra for was, way in ways.items() if was != part}
            came[part] = max(ways, key=ways.__getitem__, default=part)
            reached[part] = score[part] + ways.get(came[part], 0.0)
        totals = reached
        came_from.append(came)
    path = [max(totals, key=totals.__getitem__)] if totals else []
    for came in reversed(came_from[1:]):
        path.append(came[path[-1]])
    return path[::-1]
