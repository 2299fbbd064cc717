"""``palace memory`` on how good an image is, and when to look at it again."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.changes import change_record, show_change
from memory_palace.cli.options import Apply, Json, Prices, completed, open_palace
from memory_palace.cli.printing import print_answer, say, to_record
from memory_palace.dialogue import open_dialogue
from memory_palace.errors import UsageError
from memory_palace.mnemonics.decay import Fit, half_life_days
from memory_palace.mnemonics.memory_notes import ScoredMemory
from memory_palace.mnemonics.memory_values import BY_PERSON, BY_WORDS, Factor, Mark, Memory
from memory_palace.mnemonics.reviews import FIBONACCI, Standing
from memory_palace.mnemonics.smashin import band_of

WEAK = 0.6
"""Predicted confidence below which a memory is called weak (source document 000)."""

Name = Annotated[
    str,
    Argument(
        help="Path, file name, slug, title, alias or anchor of a memory.",
        autocompletion=completed("notes"),
    ),
]


def score(
    ctx: Context,
    memory: Name,
    set_: Annotated[
        list[str] | None,
        Option("--set", help="A factor the image has, as FACTOR:REASON; repeatable."),
    ] = None,
    unset: Annotated[
        list[str] | None, Option("--unset", help="A factor the image does not have; repeatable.")
    ] = None,
    by: Annotated[str, Option("--by", help="Who makes the judgement.")] = BY_PERSON,
    model: Annotated[
        str | None, Option("--model", help="Model of the llm library that judges all twelve.")
    ] = None,
    prices: Prices = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Count the twelve factors of an image: eight from its words, four from marks that are given.

    Marks of people stay, whatever a model says.

    Example: palace memory score "the thread in the funnel" --set "humor: two neighbours laugh"
    """
    if by == BY_WORDS or not by.strip() or set(by) & set("()\n"):
        raise UsageError(f"--by takes the name of a person or a model, not {by!r}")
    given = [_parse_mark(text, by, is_present=True) for text in set_ or ()]
    given += [_parse_mark(text, by, is_present=False) for text in unset or ()]
    palace = open_palace(ctx)
    dialogue = open_dialogue(model, prices=prices) if model is not None else None
    scored = palace.memories.score(memory, given, dialogue=dialogue, apply=apply)
    if dialogue is not None:
        say(dialogue.spent())
    if as_json:
        print_answer(_score_record(scored), as_json=True)
        return
    band, claimed = band_of(scored.score)
    marks = {mark.factor: mark for mark in scored.marks}
    lines = [f"{scored.score}/12 {band}  {scored.path}"]
    lines += [_factor_line(factor, marks.get(factor)) for factor in Factor]
    lines += [f"! {pattern}" for pattern in scored.anti_patterns]
    print_answer({}, lines, as_json=False)
    say(f"claimed recall@1 of this band: {claimed}; not measured here")
    show_change(scored.outcome, as_json=False)


def review(
    ctx: Context,
    memory: Name,
    recalled: Annotated[bool, Option("--recalled/--forgotten", help="Whether you recalled it.")],
    confidence: Annotated[
        int | None, Option("--confidence", min=1, max=5, help="How sure you were, 1 to 5.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Log one review: one line in reviews.jsonl; no note is changed.

    Example: palace memory review "the thread in the funnel" --recalled --confidence 4
    """
    share = None if confidence is None else confidence / 5
    standing = open_palace(ctx).memories.review(memory, is_recalled=recalled, confidence=share)
    line = f"next review on {standing.due}, after {standing.streak} in a row"
    print_answer(to_record(standing), [line], as_json=as_json)


def due(
    ctx: Context,
    as_of: Annotated[
        str | None, Option("--as-of", help="Answer as if today were this date.")
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="Include memories that are not due yet.")
    ] = False,
    schedule: Annotated[
        str, Option("--schedule", help="Days between reviews, separated by commas.")
    ] = ",".join(map(str, FIBONACCI)),
    as_json: Json = False,
) -> None:
    """List the memories to review, earliest first, with the predicted confidence.

    Example: palace memory due --all
    """
    today = _parse_day(as_of) if as_of else datetime.now(UTC).date()
    agenda = open_palace(ctx).memories.due(today=today, schedule=_parse_days(schedule))
    shown = [(m, s) for m, s in agenda.standings if everything or s.due <= today]
    records = [{"path": m.id, "title": m.subject, **to_record(s)} for m, s in shown]
    lines = [_due_line(memory, standing) for memory, standing in shown]
    print_answer({"due": records, "fit": to_record(agenda.fit)}, lines, as_json=as_json)
    if not shown:
        say("no review is due")
    say(_describe(agenda.fit))


def _due_line(memory: Memory, standing: Standing) -> str:
    weak = "  weak" if standing.confidence < WEAK else ""
    return f"{standing.due}  {standing.confidence:.2f}  {memory.id}{weak}"


def _describe(fit: Fit | None) -> str:
    if fit is None:
        return (
            "forgetting is assumed, not measured: half-lives from "
            f"{half_life_days(0):.1f} to {half_life_days(12):.0f} days by score"
        )
    return (
        f"you forget {fit.factor:.2f} times as fast as assumed [{fit.low:.2f}, {fit.high:.2f}], "
        f"fitted to {fit.trials} reviews"
    )


def _factor_line(factor: Factor, mark: Mark | None) -> str:
    if mark is None:
        return f"  ?  {factor.value:<10}  not judged; words cannot show it"
    sign = "+" if mark.is_present else "-"
    reason = f"{mark.reason} ({mark.by})" if mark.reason else f"({mark.by})"
    return f"  {sign}  {factor.value:<10}  {reason}"


def _parse_mark(text: str, by: str, *, is_present: bool) -> Mark:
    name, _, reason = text.partition(":")
    wanted = name.strip().casefold().replace("colour", "color")
    if wanted not in {factor.value for factor in Factor}:
        known = ", ".join(factor.value for factor in Factor)
        raise UsageError(f"there is no factor {name.strip()!r}; the factors are {known}")
    return Mark(Factor(wanted), is_present, " ".join(reason.split()), by)


def _parse_days(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"write a schedule as days: 1,3,7,14,30, not {text!r}") from error


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a date; write 2026-03-01") from error


def _score_record(scored: ScoredMemory) -> dict[str, Any]:
    band, claimed = band_of(scored.score)
    return {
        "path": scored.path,
        "score": scored.score,
        "band": band,
        "claimed_recall_at_1": claimed,
        "factors": to_record(scored.marks),
        "anti_patterns": list(scored.anti_patterns),
        "change": change_record(scored.outcome),
    }
