"""``palace bench seek``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench import seeking
from memory_palace.bench.first_steps import FirstStep, measure_first_steps
from memory_palace.bench.given import Given
from memory_palace.bench.house import GOALS, Finds, measure_house
from memory_palace.bench.robot import measure_robot
from memory_palace.cli.bench_options import Cache, EmbedderName, Seed, add_measured, printing
from memory_palace.cli.bench_sets import cache_of
from memory_palace.cli.options import Json
from memory_palace.embedding.registry import get_embedder


def run_seek(
    table: Annotated[Path, Argument(help="Markdown table of goal, summary and kind.")],
    embedder: EmbedderName = "minilm",
    stores: Annotated[
        int, Option("--stores", min=1, help="Number of random stores.")
    ] = seeking.STORES,
    goals: Annotated[int, Option("--goals", min=0, help="Number of targets to look for.")] = GOALS,
    nodes: Annotated[
        int, Option("--nodes", min=0, help="Nodes for the timing; 0 skips it.")
    ] = 100_000,
    data: Annotated[
        Path | None,
        Option("--data", help="Folder of question sets: candidates among notes beside a query."),
    ] = None,
    runs: Annotated[
        int, Option("--runs", min=0, help="Runs of a step, served and not; 0 skips it.")
    ] = 0,
    seed: Seed = seeking.SEED,
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Measure what a search promotes by chance, what it finds, its looks and its time.

    Example: palace bench seek tests/navigation/paraphrases.md
    """
    errands, model = seeking.read_errands(table), get_embedder(embedder)
    with printing("shares", "finds", "candidates", "figures", as_json=as_json) as rows:
        for share in seeking.measure_promotion(errands, model, stores=stores, seed=seed):
            rows.add(share, _share_line(share), to="shares")
        for finds in measure_house(errands, embedder, goals=goals, seed=seed) if goals else []:
            rows.add(finds, _finds_line(finds), to="finds")
        if data is not None:
            given = Given(data, None, cache_of(cache))
            for first in measure_first_steps(given, model):
                rows.add(first, _first_line(first), to="candidates")
        if nodes:
            add_measured(rows, seeking.measure_retrieval(nodes, seed=seed))
        if runs:
            add_measured(rows, measure_robot(embedder, runs=runs, seed=seed))


def _share_line(share: seeking.Share) -> str:
    limit = f"  [{share.limit}]" if share.limit else ""
    return f"{share.what:<52} {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]{limit}"


def _finds_line(finds: Finds) -> str:
    way = f"{finds.embedder}, an eye that errs in {finds.errs:.0%} of looks"
    found = f"{finds.found} of {finds.goals} found [{finds.low:.2f}, {finds.high:.2f}]"
    looks = f"{finds.looks:.1f} looks, median {finds.median_looks:.0f}"
    return f"{way:<52} {found}; {looks}; {finds.metres:.0f} m"


def _first_line(first: FirstStep) -> str:
    return (
        f"{first.set:<18} {first.goals:>4} goals   query @1 {first.query_at_1:.3f} "
        f"@5 {first.query_at_5:.3f}   candidates @1 {first.candidates_at_1:.3f} "
        f"@5 {first.candidates_at_5:.3f}   @5 {first.difference:+.3f} "
        f"[{first.low:+.3f}, {first.high:+.3f}]"
    )
