"""``palace bench`` on memories: verification, two hops, and overlap of answers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

import typer

from memory_palace.bench.verification import CLAIMED_F1, Row, measure_verification
from memory_palace.cli.options import SCHEMA, Json
from memory_palace.cli.printing import print_json, say
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.mnemonics.support import MEASURED_EMBEDDER


def run_verify(
    half: Annotated[
        Literal["dev", "test"], typer.Option("--half", help="Rules were made on dev.")
    ] = "dev",
    words: Annotated[
        bool, typer.Option("--words", help="Compare words alone, without a model.")
    ] = False,
    kinds: Annotated[bool, typer.Option("--kinds", help="A row for each kind too.")] = False,
    as_json: Json = False,
) -> None:
    """Measure verification on 420 hand-written answers of each half.

    Example: palace bench verify --half test --kinds
    """
    by_meaning = not words and is_available(MEASURED_EMBEDDER)
    embed = get_embedder(MEASURED_EMBEDDER).embed_passages if by_meaning else None
    for row in measure_verification(half, embed=embed):
        if as_json:
            print_json({"schema": SCHEMA, "by_meaning": by_meaning, **asdict(row)})
        elif kinds or row.kind == "all":
            print(_line(row))
    say(f"claims compared by {'meaning' if by_meaning else 'words alone'}; claimed F1 {CLAIMED_F1}")


def _line(row: Row) -> str:
    return (
        f"{row.split:<4} {row.check:<13} judged by {row.judged_by:<6} {row.kind:<19} "
        f"n {row.cases:<3} precision {row.precision:.3f}  recall {row.recall:.3f}  "
        f"F1 {row.f1:.3f}  false positives {row.false_positive_rate:.3f}  "
        f"correct {row.correct:.3f}"
    )


def add_commands(app: typer.Typer) -> None:
    """Add the verbs to ``palace bench``."""
    app.command("verify")(run_verify)
