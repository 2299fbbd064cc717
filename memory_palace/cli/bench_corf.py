"""``palace bench corf``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from memory_palace.bench.anchor_scale import measure_anchor_scale
from memory_palace.bench.corf import CorfRow, measure_corf
from memory_palace.bench.corf_data import SEED, Item, generate_corf, read_items, write_items
from memory_palace.bench.corf_fresh import PROBES, with_fresh_notes
from memory_palace.bench.plots import draw_corf
from memory_palace.cli.bench_options import Plots, Seed, print_measured, print_row
from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.printing import say
from memory_palace.palace import Palace

Half: TypeAlias = Literal["dev", "held-out", "all"]


def run_corf(
    ctx: typer.Context,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="JSONL of questions; else they are made.")
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", help="Keep the questions in this file.")
    ] = None,
    per_mode: Annotated[int, typer.Option("--per-mode", min=1, help="Made per mode.")] = 100,
    seed: Seed = SEED,
    half: Annotated[Half, typer.Option("--half", help="Which questions are asked.")] = "dev",
    system: Annotated[
        list[str] | None, typer.Option("--system", help="Only this one, beside anchors; repeat.")
    ] = None,
    fresh: Annotated[
        float, typer.Option("--fresh", min=0, max=1, help="Share of notes written after the build.")
    ] = 0.0,
    plots: Plots = None,
    as_json: Json = False,
) -> None:
    """Measure whether anchors find what is stored, beside dense search, BM25 and hybrid.

    The questions are synthetic unless you bring your own. Build the anchors first. With --fresh a
    copy of the palace is measured, some of whose notes came after its anchors were built.

    Example: palace bench corf --half held-out --fresh 0.1
    """
    palace = open_palace(ctx)
    items = (
        read_items(questions) if questions else generate_corf(palace, per_mode=per_mode, seed=seed)
    )
    if write:
        write_items(write, items)
    chosen = [i for i in items if half == "all" or i.is_held_out == (half == "held-out")]
    if not chosen:
        say("no questions are left in that half")
        return
    figures = _measure(palace, chosen, system or (), share=fresh, seed=seed)
    for row in figures:
        print_row(row, _line(row), as_json=as_json)
    if plots:
        say(f"drew {draw_corf(figures, plots)}")


def _measure(
    palace: Palace, items: Sequence[Item], systems: Sequence[str], *, share: float, seed: int
) -> list[CorfRow]:
    """Measure the palace, or a copy of which a share of the notes came after the build."""
    if not share:
        return measure_corf(palace, items, systems)
    with with_fresh_notes(palace, items, share=share, seed=seed) as late:
        figures = measure_corf(late.palace, late.items, systems)
    say(
        f"{late.withheld} notes came after the build; of {min(late.withheld, PROBES)} timed, "
        f"{late.reached} were found at once, {late.lag_seconds:.2f} s after they were written"
    )
    return figures


def _line(row: CorfRow) -> str:
    against = f"  {row.only_here:+d}/-{row.only_anchors} p {row.p_value:.3f}"
    return (
        f"{row.mode:<8} {row.system:<17} n {row.questions:<4} recall@20 {row.recall:.3f} "
        f"[{row.low:.3f}, {row.high:.3f}]  irrelevant {row.irrelevant:.3f}  "
        f"P@R {row.precision_at_r:.3f}  returned {row.returned:4.1f}  "
        f"sources {row.scr_hit:.2f} of {row.scr_eligible:.2f}  "
        f"p95 {row.p95_ms:.2f} ms{against if row.system != 'anchors' else ''}"
    )


def run_anchor_scale(
    notes: Annotated[int, typer.Option("--notes", min=100, help="Generated notes.")] = 17_000,
    as_json: Json = False,
) -> None:
    """Measure lookup, build and update of 400 anchors on generated notes.

    Example: palace bench anchors --notes 17000
    """
    print_measured(measure_anchor_scale(notes), as_json=as_json)
