"""``palace bench known``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench.known_items import MOST, KnownItem, measure_known
from memory_palace.cli.bench_options import EmbedderName, Seed, printing
from memory_palace.cli.options import Json
from memory_palace.cli.printing import say

_GOOD = {"typo": 5}
"""Ranks that will do, for kinds where it is not the first alone."""


def run_known(
    folder: Annotated[Path, Argument(help="Any folder of Markdown notes, as it stands.")],
    half: Annotated[
        int | None, Option("--half", min=0, max=1, help="Ask for half of the notes, 0 or 1.")
    ] = None,
    most: Annotated[int, Option("--most", min=1, help="Questions of each kind.")] = MOST,
    misses: Annotated[bool, Option("--misses", help="Name what was missed, on stderr.")] = False,
    embedder: EmbedderName = "minilm",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Ask a folder of notes for its own names, quotes and words, the worst kind first.

    Example: palace bench known ~/vault --misses
    """

    def tell(item: KnownItem, rank: int) -> None:
        if misses and not 1 <= rank <= _GOOD.get(item.kind, 1):
            say(f"{item.kind}, rank {rank or 'none'}: {item.question} -> {item.path}")

    with printing(as_json=as_json) as rows:
        for row in measure_known(
            folder, embedder=embedder, seed=seed, half=half, most=most, report=tell
        ):
            figures = f"{row.at_1:.3f} first, {row.at_5:.3f} in five, {row.answered:.3f} answered"
            line = f"{row.kind:<15} {row.system:<15} {figures} of {row.questions}"
            rows.add(row, line)
