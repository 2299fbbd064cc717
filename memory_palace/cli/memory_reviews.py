"""``palace memory`` on how good an image is, and when to look at it again."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

import typer

from memory_palace.cli.changes import Apply, show_outcome
from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.mnemonics.decay import Fit, half_life_days
from memory_palace.mnemonics.memory_notes import Scored, score_memory
from memory_palace.mnemonics.reviewing import plan_reviews, record_review
from memory_palace.mnemonics.reviews import FIBONACCI, Standing
from memory_palace.mnemonics.smashin import band_of
from memory_palace.mnemonics.values import BY_PERSON, BY_WORDS, Factor, Mark, Memory

_WEAK = 0.6
"""Predicted confidence below which a memory is called weak (source document 000)."""
Name = Annotated[str, typer.Argument(help="Path, file name, title, alias or anchor of a memory.")]


def score(
    ctx: typer.Context,
    memory: Name,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A factor that is there, with why: FACTOR:REASON; repeat."),
    ] = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", help="A factor that is not there; repeat.")
    ] = None,
    by: Annotated[str, typer.Option("--by", help="Who says so.")] = BY_PERSON,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Count the twelve factors of an image: eight by its words, four as they are marked.

    Example: palace memory score "the thread in the funnel" --set "humor: two neighbours laugh"
    """
    if by == BY_WORDS or not by.strip() or set(by) & set("()\n"):
        raise UsageError(f"--by is a person's or a model's name, not {by!r}")
    given = [_parse_mark(text, by, is_present=True) for text in set_ or ()]
    given += [_parse_mark(text, by, is_present=False) for text in unset or ()]
    scored = score_memory(open_palace(ctx), memory, given, apply=apply)
    if as_json:
        print_json(_score_record(scored))
        return
    band, claimed = band_of(scored.score)
    print(visible(f"{scored.score}/12 {band}  {scored.path}"))
    marks = {mark.factor: mark for mark in scored.marks}
    for factor in Factor:
        print(visible(_factor_line(factor, marks.get(factor))))
    for pattern in scored.anti_patterns:
        print(f"! {pattern}")
    say(f"claimed recall@1 of this band {claimed}, measured by nobody here")
    show_outcome(scored.outcome, as_json=False)


def review(
    ctx: typer.Context,
    memory: Name,
    recalled: Annotated[bool, typer.Option("--recalled/--forgotten", help="Whether it came back.")],
    confidence: Annotated[
        int | None, typer.Option("--confidence", min=1, max=5, help="How sure, 1 to 5.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Log one review: one line in palace/grand_hall/logs/reviews.jsonl; no note is changed.

    Example: palace memory review "the thread in the funnel" --recalled --confidence 4
    """
    share = None if confidence is None else confidence / 5
    now = datetime.now(UTC)
    standing = record_review(
        open_palace(ctx), memory, is_recalled=recalled, confidence=share, now=now
    )  # fmt: skip
    if as_json:
        print_json({"schema": SCHEMA, **_standing_record(standing)})
    else:
        print(f"next on {standing.due}, after {standing.streak} in a row")


def due(
    ctx: typer.Context,
    as_of: Annotated[str | None, typer.Option("--as-of", help="As if it were this day.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Those not due yet too.")] = False,
    schedule: Annotated[
        str, typer.Option("--schedule", help="Days to the next review, with commas.")
    ] = ",".join(map(str, FIBONACCI)),
    as_json: Json = False,
) -> None:
    """List memories to review, earliest first, with the confidence that is predicted.

    Example: palace memory due --all
    """
    today = _parse_day(as_of) if as_of else datetime.now(UTC).date()
    agenda = plan_reviews(open_palace(ctx), today=today, schedule=_parse_days(schedule))
    shown = [(m, s) for m, s in agenda.standings if everything or s.due <= today]
    if as_json:
        records = [{"path": m.id, "subject": m.subject, **_standing_record(s)} for m, s in shown]
        print_json({"schema": SCHEMA, "due": records, "fit": _fit_record(agenda.fit)})
    else:
        for memory, standing in shown:
            print(visible(_due_line(memory, standing)))
    if not shown:
        say("nothing is due")
    say(_describe(agenda.fit))


def _due_line(memory: Memory, standing: Standing) -> str:
    weak = "  weak" if standing.confidence < _WEAK else ""
    return f"{standing.due}  {standing.confidence:.2f}  {memory.id}{weak}"


def _describe(fit: Fit | None) -> str:
    if fit is None:
        return (
            "rates of forgetting are assumed: half-lives from "
            f"{half_life_days(0):.1f} to {half_life_days(12):.0f} days by score"
        )
    return (
        f"forgets {fit.factor:.2f} times as fast as assumed [{fit.low:.2f}, {fit.high:.2f}], "
        f"fitted to {fit.trials} reviews"
    )


def _factor_line(factor: Factor, mark: Mark | None) -> str:
    if mark is None:
        return f"  ?  {factor.value:<10}  not marked; words cannot show it"
    sign = "+" if mark.is_present else "-"
    reason = f"{mark.reason} ({mark.by})" if mark.reason else f"({mark.by})"
    return f"  {sign}  {factor.value:<10}  {reason}"


def _parse_mark(text: str, by: str, *, is_present: bool) -> Mark:
    name, _, reason = text.partition(":")
    wanted = name.strip().casefold().replace("colour", "color")
    if wanted not in {factor.value for factor in Factor}:
        known = ", ".join(factor.value for factor in Factor)
        raise UsageError(f"there is no factor {name.strip()!r}; the twelve are {known}")
    return Mark(Factor(wanted), is_present, " ".join(reason.split()), by)


def _parse_days(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise UsageError(f"a schedule is days with commas, 1,3,7,14,30; not {text!r}") from error


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no day; write 2026-03-01") from error


def _score_record(scored: Scored) -> dict[str, object]:
    band, claimed = band_of(scored.score)
    return {
        "schema": SCHEMA,
        "path": scored.path,
        "score": scored.score,
        "band": band,
        "claimed_recall_at_1": claimed,
        "factors": [
            {"factor": m.factor, "present": m.is_present, "reason": m.reason, "by": m.by}
            for m in scored.marks
        ],
        "anti_patterns": list(scored.anti_patterns),
        "applied": scored.outcome.identity is not None,
        "diff": scored.outcome.diff,
    }


def _standing_record(standing: Standing) -> dict[str, object]:
    return {
        "due": standing.due.isoformat(),
        "confidence": round(standing.confidence, 4),
        "reviews": standing.reviews,
        "streak": standing.streak,
    }


def _fit_record(fit: Fit | None) -> dict[str, object] | None:
    if fit is None:
        return None
    return {"factor": fit.factor, "low": fit.low, "high": fit.high, "reviews": fit.trials}


def add_commands(app: typer.Typer) -> None:
    """Add the verbs to ``palace memory``."""
    app.command("score")(score)
    app.command("review")(review)
    app.command("due")(due)
