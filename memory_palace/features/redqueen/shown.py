"""A round of the Red Queen as a page and as a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from memory_palace.cli.old_changes import change_record
from memory_palace.features.redqueen.askings import AskingResult
from memory_palace.features.redqueen.findings import Confusion, RoundReport
from memory_palace.features.redqueen.round_values import RoundProposal
from memory_palace.features.redqueen.rounds import Round
from memory_palace.features.redqueen.session import RoundFindings
from memory_palace.shown import plural, to_record

_SHOWN = 5
"""Findings of a kind on a page: the record has all."""


def round_lines(played: Round) -> Iterator[str]:
    """Yield the page: what was found, most useful first, each kind with what to run next."""
    for evaluation in played.session.evaluations if played.session else ():
        yield f"{evaluation.score:.2f}  {evaluation.memory_id}"
        yield f"      asked: {evaluation.question}"
        yield from (f"      gap: {gap}" for gap in evaluation.gaps)
    report = played.report
    if report.confused:
        yield from _part("taken for another note", [_confused(c, report) for c in report.confused])
        yield f'  next: palace query "{report.confused[0].asked[0].asking.text}"'
    if report.missed:
        yield from _part("not found by the words of others", [_missed(f) for f in report.missed])
        yield f'  next: palace query "{report.missed[0].asking.text}"'
    if report.unreviewed:
        counts = Counter(one.state for one in report.unreviewed)
        yield f"memories: {', '.join(f'{count} {state}' for state, count in counts.items())}"
        yield "  next: palace memory due"
    if played.shared:
        lines = [f"{name}: {', '.join(paths)}" for name, paths in played.shared.items()]
        yield from _part("names that notes share", lines)
    if played.proposals:
        yield from _part("proposed", [*map(_proposal, played.proposals)])
        if played.outcome.identity is None:
            shown = plural(len(played.outcome.paths), "note")
            yield f"  next: palace redqueen run --apply  ({shown}, see below)"


def round_remarks(played: Round) -> Iterator[str]:
    """Yield what a reader of the page should know besides."""
    asked = played.report.asked
    if played.session is not None:
        count = plural(len(played.session.evaluations), "question")
        yield f"{count}, score {played.score:.2f}"
    elif not asked:
        yield "no note is spoken of in words that make a question"
    else:
        found = round(played.score * len(asked))
        yield f"{found} found of {plural(len(asked), 'question')} in people's words"
        if len(asked) < played.askings:
            yield f"there are {played.askings}; --questions asks more of them"
    for path in played.resting:
        yield f"{path} was changed within the last day and is left alone"
    for path in played.uncommitted:
        yield f"{path} has edits that are not committed to git and is left alone"


def round_record(played: Round, spent: str | None) -> dict[str, Any]:
    """Return a round as JSON has it."""
    report, session = played.report, played.session
    return {
        "strategy": played.strategy.value,
        "questions": len(session.questions if session else report.asked),
        "known_questions": played.askings,
        "score": round(played.score, 6),
        "missed": [_asked_record(found, report) for found in report.missed],
        "confused": [
            {
                "path": pair.path,
                "title": report.titles[pair.path],
                "rival": pair.rival,
                "rival_title": report.titles.get(pair.rival, pair.rival),
                "named": pair.is_named,
                "questions": [_asked_record(found, report) for found in pair.asked],
            }
            for pair in report.confused
        ],
        "unreviewed": to_record(report.unreviewed),
        "shared": [{"name": name, "paths": list(paths)} for name, paths in played.shared.items()],
        "evaluations": list(_evaluation_records(session)) if session else [],
        "proposals": to_record(played.proposals),
        "resting": list(played.resting),
        "uncommitted": list(played.uncommitted),
        "by_meaning": played.uses_vectors,
        "spent": spent,
        "change": change_record(played.outcome),
    }


def _part(name: str, lines: list[str]) -> Iterator[str]:
    yield f"{name}: {len(lines)}"
    yield from (f"  {line}" for line in lines[:_SHOWN])
    if len(lines) > _SHOWN:
        yield f"  and {len(lines) - _SHOWN} more; --json has all"


def _missed(found: AskingResult) -> str:
    came = found.found[0] if found.found else "nothing"
    return f'{found.asking.answers[0]}: "{found.asking.text}"{_where(found)}; first comes {came}'


def _confused(pair: Confusion, report: RoundReport) -> str:
    found = pair.asked[0]
    more = f" and {len(pair.asked) - 1} more" if len(pair.asked) > 1 else ""
    if pair.is_named:
        title = report.titles[pair.path]
        rival = report.titles.get(pair.rival, pair.rival)
        return f'{title} is linked as "{found.asking.text}"{_where(found)}, which is {rival}{more}'
    return f'{pair.path} comes after {pair.rival}: "{found.asking.text}"{_where(found)}{more}'


def _where(found: AskingResult) -> str:
    asking = found.asking
    place = asking.said_in or (asking.answers[0] if asking.line else "")
    return f" ({place}:{asking.line})" if place else ""


def _proposal(proposal: RoundProposal) -> str:
    place = f"{proposal.path}:{proposal.line}" if proposal.line else proposal.path
    target = f" -> {proposal.target}" if proposal.target else ""
    return f"{place}  {proposal.kind} {proposal.text}{target} ({proposal.reason})"


def _asked_record(found: AskingResult, report: RoundReport) -> dict[str, Any]:
    asking = found.asking
    return {
        "question": asking.text,
        "kind": asking.kind,
        "path": asking.answers[0],
        "title": report.titles[asking.answers[0]],
        "said_in": asking.said_in or None,
        "line": asking.line or None,
        "rank": found.rank or None,
        "found": list(found.found),
    }


def _evaluation_records(session: RoundFindings) -> Iterator[dict[str, Any]]:
    triples = zip(session.questions, session.answers, session.evaluations, strict=True)
    for question, answer, evaluation in triples:
        yield {
            "path": evaluation.memory_id,
            "question": question.question_text,
            "difficulty": question.difficulty,
            "expected": list(question.expected_elements),
            "score": evaluation.score,
            "gaps": list(evaluation.gaps),
            "should_evolve": evaluation.should_evolve,
            "recalled": list(answer.recalled),
            "confidence": answer.confidence,
        }
