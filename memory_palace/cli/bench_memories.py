"""``palace bench`` on memories: two hops, and overlap of answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench.memory_sets import make_memories, read_written
from memory_palace.bench.plots import draw_hierarchy
from memory_palace.bench.trace import MEASURES, agree, read_items, trace
from memory_palace.bench.two_hops import CLAIMED_SAVING, HierarchyRow, measure_hierarchy
from memory_palace.cli.bench_options import Seed, printing
from memory_palace.cli.drawing import Plots, save_pictures
from memory_palace.cli.options import Json
from memory_palace.cli.printing import print_answer, say
from memory_palace.embedding.base import embed_query
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError


def run_hierarchy(
    size: Annotated[
        list[int] | None,
        Option("--size", min=10, help="Number of memories to generate; repeatable."),
    ] = None,
    count: Annotated[int, Option("-k", "--top-k", min=1, help="Memories to find.")] = 3,
    embedder: Annotated[
        str, Option("--embedder", help="Name of the embedder, or none to compare words only.")
    ] = "none",
    seed: Seed = 2,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Measure the hierarchical index beside flat top-k: recall, and bytes that are read.

    Example: palace bench hierarchy --size 1000 --embedder hashing
    """
    chosen = None if embedder == "none" else get_embedder(embedder)
    sets = [read_written()]
    sets += [make_memories(at, seed=seed) for at in size or (100, 1_000, 10_000)]
    rows = []
    with printing(as_json=as_json) as printed:
        for found in sets:
            row = measure_hierarchy(
                found,
                k=count,
                embed=None if chosen is None else chosen.embed_passages,
                embed_query=None if chosen is None else partial(embed_query, chosen),
            )
            rows.append(row)
            printed.add(row, _hierarchy_lines(row), index_share=row.index_share)
    save_pictures([draw_hierarchy(rows[1:])], plots)
    say(f"claimed: {CLAIMED_SAVING:.0%} less than the whole corpus, the root not counted")


def _hierarchy_lines(row: HierarchyRow) -> Iterator[str]:
    yield (
        f"{row.name:<12} {row.domains} domains, {row.questions} questions: recall@{row.k} "
        f"{row.recall:.3f}, flat {row.flat_recall:.3f}, {row.difference:+.3f} "
        f"[{row.low:+.3f}, {row.high:+.3f}]; asked everywhere {row.asked_everywhere:.0%}"
    )
    yield (
        f"{'':<12} index {row.index_bytes:,.0f} bytes, {row.index_share:.1%} of a listing of "
        f"{row.listing_bytes:,} (root {row.root_bytes}); most under 2 KB: {row.most_under_budget}"
    )
    yield (
        f"{'':<12} all {row.total_bytes:,.0f} bytes, about {row.total_tokens:,.0f} tokens; listing "
        f"and top-{row.k} {row.flat_bytes:,.0f}, top-{row.k} alone {row.top_k_bytes:,.0f}, corpus "
        f"{row.corpus_bytes:,}: {1 - row.total_bytes / row.corpus_bytes:.1%} less"
    )


def run_ragbench(
    file: Annotated[Path, Argument(help="JSON lines with question, documents and response.")],
    as_json: Json = False,
) -> None:
    """Measure answers from documents: TRACe by overlap of words, no model asked.

    Marks in the file (relevance_score, utilization_score, completeness_score, adherence_score) are
    compared with it.

    Example: palace bench ragbench covidqa.jsonl
    """
    items = read_items(file)
    if not items:
        raise UsageError(f"{file} has no line")
    traces = [trace(item) for item in items]
    means = {name: sum(getattr(t, name) for t in traces) / len(traces) for name in MEASURES}
    agreements = list(agree(items, traces))
    marked = {name: {"items": count, "value": value} for name, count, value in agreements}
    record = {"measure": "TRACe by overlap", "items": len(items), **means, "against_marks": marked}
    lines = [f"TRACe by overlap, {len(items)} items"]
    lines += [f"{name:<12} {mean:.3f}" for name, mean in means.items()]
    for name, count, value in agreements:
        what = "area under ROC" if name == "adherence" else "RMSE"
        lines.append(f"against marks: {name:<12} {what} {value:.3f}, {count} items")
    print_answer(record, lines, as_json=as_json)
