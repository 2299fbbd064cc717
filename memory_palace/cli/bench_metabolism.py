"""``palace bench metabolism``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Context, Option

from memory_palace.bench.golden import read_questions
from memory_palace.bench.year import Month, Opening, live_through
from memory_palace.cli.bench_options import EmbedderName, Seed
from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.printing import print_answer, say, to_record
from memory_palace.cli.progress import progress_line


def run_metabolism(
    ctx: Context,
    golden: Annotated[
        Path, Option("--golden", help="Golden questions that the palace is given: JSONL or tables.")
    ],
    held: Annotated[Path, Option("--held", help="Golden questions that it never sees.")],
    days: Annotated[int, Option("--days", min=1, help="Days to live through.")] = 365,
    opening: Annotated[Opening, Option("--opening", help="What is opened each day.")] = "first",
    is_logged: Annotated[bool, Option("--log/--no-log", help="Whether use is logged.")] = True,
    embedder: EmbedderName = "minilm",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Live through a year in a copy of the palace, by daily questions and the weekly run.

    Counts month by month the questions that find a note of theirs among the first five, beside a
    copy of which nobody takes care.

    Example: palace bench metabolism --golden golden.jsonl --held held.jsonl
    """
    guard, unseen = read_questions(golden), read_questions(held)
    with progress_line("metabolism") as progress:
        year = live_through(
            open_palace(ctx).paths.root,
            guard,
            unseen,
            start=datetime.now(UTC).date(),
            days=days,
            opening=opening,
            is_logged=is_logged,
            embedder=embedder,
            seed=seed,
            progress=progress,
        )
    lines = [
        *(_line(month, len(guard), len(unseen)) for month in year.months),
        *(f"archived  {path}" for path in year.left),
        *(f"archived within 90 days of being opened  {path}" for path in year.left_in_use),
    ]
    record = to_record(year) | {"held_back": list(year.held_back)}
    print_answer(record, lines, as_json=as_json)
    if not as_json:
        say(f"{len(year.held_back)} steps were held back")


def _line(month: Month, guard: int, held: int) -> str:
    return (
        f"day {month.day:>4}  golden {month.guard}/{guard}, alone {month.guard_alone}/{guard}  "
        f"held out {month.held}/{held}, alone {month.held_alone}/{held}  "
        f"hot {month.hot}, stale {month.stale}, archived {month.archived}"
    )
