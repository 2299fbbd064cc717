"""How an answer that was checked is shown, in words that claim no more than was found."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypedDict

from memory_palace.features.checking.verdicts import (
    Difference,
    Passage,
    SentenceCheck,
    Verdict,
    write_place,
)
from memory_palace.features.checking.verify import Verified
from memory_palace.kinds import TokenVerdict
from memory_palace.language.visible import visible

MARKS = {
    Verdict.CONTRADICTED: "x",
    Verdict.NOT_FOUND: "?",
    Verdict.SUPPORTED: "~",
    Verdict.QUOTED: "=",
    Verdict.NOT_APPLICABLE: "-",
}
"""Before each sentence."""
_STYLES = {
    MARKS[Verdict.CONTRADICTED]: "bold red",
    MARKS[Verdict.NOT_FOUND]: "bold yellow",
    MARKS[Verdict.SUPPORTED]: "bold cyan",
    MARKS[Verdict.QUOTED]: "bold green",
}
_LONGEST = 160
"""Characters of a passage that are shown."""
_SHORT = 80
"""Characters of what differs, on both sides, up to which both are shown beside the passage."""


class ReportLine(NamedTuple):
    """One line of a report."""

    text: str
    mark: str = ""
    """Of the verdict, before a sentence."""
    places: tuple[Passage, ...] = ()
    """What a finding below a sentence cites."""
    is_finding: bool = False


def write_lines(done: Verified) -> Iterator[str]:
    """Yield the whole report in plain lines."""
    for line in write_report(done):
        start = f"{line.mark}  " if line.mark else "   " * line.is_finding
        yield f"{start}{line.text}"


def write_report(done: Verified) -> Iterator[ReportLine]:
    """Yield the verdict on the answer, its tokens, and each sentence with what was found."""
    yield ReportLine(_say_verdict(done))
    for token in done.tokens:
        near = token.near if token.outcome == TokenVerdict.MISSING else ()
        remark = f", nearly: {', '.join(f'“{phrase}”' for phrase in near)}" if near else ""
        if token.outcome != TokenVerdict.NOT_APPLICABLE:
            yield ReportLine(f"token {token.outcome}: {token.path}{remark}")
    for check in done.sentences:
        yield ReportLine(" ".join(check.text.split()), MARKS[check.verdict])
        is_unsure = check.verdict in (Verdict.SUPPORTED, Verdict.NOT_FOUND)
        others = check.compared if is_unsure else ()
        places = tuple(each for each in (check.passage, *others) if each)
        for finding in _write_findings(check, others):
            yield ReportLine(finding, places=places, is_finding=True)


def _say_verdict(done: Verified) -> str:
    verdicts = [each.verdict for each in done.sentences]
    checked = [verdict for verdict in verdicts if verdict != Verdict.NOT_APPLICABLE]
    wrong, missing = verdicts.count(Verdict.CONTRADICTED), verdicts.count(Verdict.NOT_FOUND)
    of = f"of {len(checked)} sentence{'s' * (len(checked) != 1)}"
    match done.verdict:
        case Verdict.CONTRADICTED:
            rest = f", {missing} not found" if missing else ""
            return f"contradicted: {wrong} {of} against the notes{rest}"
        case Verdict.NOT_FOUND:
            return f"not found: {missing} {of} not in the notes that were compared"
        case Verdict.QUOTED:
            return "quoted: the notes have all of it in nearly the same words"
        case Verdict.NOT_APPLICABLE:
            return "nothing to check: the answer states nothing that notes could bear out"
    return "not contradicted: the notes have it in other words, and no difference was found"


def _write_findings(check: SentenceCheck, others: tuple[Passage, ...]) -> Iterator[str]:
    yield _say(check)
    if check.verdict in (Verdict.CONTRADICTED, Verdict.SUPPORTED) and check.passage is not None:
        line = " ".join(check.passage.text.split())
        yield f"“{line if len(line) <= _LONGEST else f'{line[:_LONGEST]}…'}”"
    if others:
        yield f"compared with {', '.join(map(write_place, others))} too"


def _say(check: SentenceCheck) -> str:
    place = write_place(check.passage) if check.passage else ""
    match check.verdict:
        case Verdict.QUOTED:
            return f"quoted from {place}"
        case Verdict.SUPPORTED:
            return f"not contradicted by {place}"
        case Verdict.CONTRADICTED:
            return f"contradicted by {place}: {_say_difference(check)}"
        case Verdict.NOT_FOUND:
            said = f"not found: {check.reason}" if check.reason.startswith("“") else "not found"
            return f"{said}; the nearest is {place}" if place else said
    return "nothing to check"


def _say_difference(check: SentenceCheck) -> str:
    """Return what differs first, in the words of both sides where they are few."""
    if not check.differences:
        return check.reason
    first = check.differences[0]
    if len(first.mine) + len(first.theirs) > _SHORT:  # the passage is shown below
        return first.kind
    return f"{first.kind}, the answer has “{first.mine}”, the note “{first.theirs}”"


def show_verified(done: Verified, root: Path, environ: Mapping[str, str]) -> None:
    """Print an answer that was checked on this terminal; a click on a place opens it."""
    from rich.style import Style  # delayed: a pipe needs no rich
    from rich.text import Text

    from memory_palace.cli.screen import INDENT, NARROWEST, WIDEST, link_to, print_rows, wrap

    width = max(NARROWEST, min(shutil.get_terminal_size().columns, WIDEST)) - INDENT
    rows = list[Text]()
    for line in write_report(done):
        text = Text(visible(line.text), "dim" if line.is_finding else "" if line.mark else "bold")
        for place in line.places:
            where = visible(write_place(place))
            if (start := text.plain.find(where)) >= 0:
                address = link_to(root / place.note, place.first_line, environ)
                text.stylize(Style(link=address), start, start + len(where))
        mark = Text(f"{line.mark:<{INDENT}}", _STYLES.get(line.mark, "dim"))
        is_below = bool(line.mark or line.is_finding)
        for row in wrap(text, width):
            rows.append(Text.assemble(mark, row) if is_below else row)
            mark = Text(" " * INDENT)
    print_rows(rows, environ)


class PlaceRecord(TypedDict):
    """The lines of a passage; null where there is none."""

    note: str | None
    first_line: int | None
    last_line: int | None


class SentenceRecord(PlaceRecord):
    """A sentence of an answer, and the passage that bears it out or contradicts it."""

    text: str
    verdict: Verdict
    reason: str
    score: float
    passage: str | None
    differences: tuple[Difference, ...]
    compared: tuple[PlaceRecord, ...]


def read_sentence(check: SentenceCheck) -> SentenceRecord:
    """Return a sentence as JSON has it."""
    return {
        "text": check.text,
        "verdict": check.verdict,
        "reason": check.reason,
        "score": check.score,
        **_place(check.passage),
        "passage": check.passage.text if check.passage else None,
        "differences": check.differences,
        "compared": tuple(map(_place, check.compared)),
    }


def _place(passage: Passage | None) -> PlaceRecord:
    if passage is None:
        return {"note": None, "first_line": None, "last_line": None}
    first, last = passage.first_line, passage.last_line
    return {"note": passage.note, "first_line": first, "last_line": last}
