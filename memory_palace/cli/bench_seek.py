"""``palace bench seek``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench import seeking
from memory_palace.bench.house import Steps, measure_house
from memory_palace.cli.bench_options import EmbedderName, Seed, add_measured, printing
from memory_palace.cli.options import Json
from memory_palace.embedding.registry import get_embedder

Stores = Annotated[int, Option("--stores", min=1, help="Number of random stores.")]


def run_seek(
    table: Annotated[Path, Argument(help="Markdown table of goal, summary and kind.")],
    embedder: EmbedderName = "minilm",
    stores: Annotated[
        int, Option("--stores", min=1, help="Number of random stores.")
    ] = seeking.STORES,
    goals: Annotated[int, Option("--goals", min=0, help="Number of houses to search.")] = 200,
    nodes: Annotated[
        int, Option("--nodes", min=0, help="Nodes for the timing; 0 skips it.")
    ] = 100_000,
    seed: Seed = seeking.SEED,
    as_json: Json = False,
) -> None:
    """Measure what a search promotes by chance, what it finds, its steps and its time.

    Example: palace bench seek tests/navigation/paraphrases.md
    """
    errands, model = seeking.read_errands(table), get_embedder(embedder)
    with printing("shares", "steps", "figures", as_json=as_json) as rows:
        for share in seeking.measure_promotion(errands, model, stores=stores, seed=seed):
            rows.add(share, _share_line(share), to="shares")
        for steps in measure_house(errands, model, goals=goals, seed=seed) if goals else []:
            rows.add(steps, _steps_line(steps), to="steps")
        if nodes:
            add_measured(rows, seeking.measure_retrieval(nodes, seed=seed))


def _share_line(share: seeking.Share) -> str:
    limit = f"  [{share.limit}]" if share.limit else ""
    return f"{share.what:<52} {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]{limit}"


def _steps_line(steps: Steps) -> str:
    line = f"steps, {steps.way:<45} {steps.mean:.1f}, median {steps.median:.0f}"
    if not steps.beside:
        return line
    return f"{line}; {steps.beside} {steps.ratio:.2f} [{steps.low:.2f}, {steps.high:.2f}]"
