"""``palace bench tune``: weights that are judged by conversations they were not fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.fitting import judge, variations
from memory_palace.bench.runs import Answer
from memory_palace.bench.signal_tables import measure_collections
from memory_palace.bench.weighing import (
    EVIDENCE,
    Ask,
    HeldOut,
    fit_weights,
    hold_out_each,
    judge_held_out,
)
from memory_palace.cli.bench_sets import Cache, EmbedderName, Gold, Unit, ask_all, cache_of
from memory_palace.cli.options import SCHEMA, Json
from memory_palace.cli.printing import print_json, say
from memory_palace.embedding.registry import get_embedder
from memory_palace.retrieval.profiles import Profile

Sets = Mapping[str, Sequence[Collection]]
"""Collections by the unit that is ranked in them."""


def tune(
    file: Annotated[Path, typer.Argument(help="LoCoMo, official JSON.")],
    gold: Gold = None,
    vary: Annotated[
        int | None,
        typer.Option(
            "--vary", min=1, help="Instead try that many random changes of the shipped weights."
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the changes.")] = 1,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Fit weights on all conversations but one, from equal weights, and judge on that one.

    One profile is fitted for turns and sessions together. --vary says how much hangs on the
    shipped weights, and is no held-out figure: those were chosen on every conversation.

    Example: palace bench tune locomo10.json
    """
    found = {unit.value: list(load_locomo(file, unit=unit.value, gold=gold)) for unit in Unit}
    if vary is not None:
        _vary(found, vary, seed, embedder, cache, as_json=as_json)
        return
    model = get_embedder(embedder)
    tables = [
        measure_collections(part, EVIDENCE, embedder=model, cache=cache_of(cache))
        for part in found.values()
    ]
    profiles = dict(hold_out_each(tables))
    for unit, part in found.items():
        ask = _asker(f"tune-{unit}", embedder, cache)
        _print(unit, judge_held_out(part, profiles, ask), as_json=as_json)
    refitted = fit_weights([list(part.values()) for part in tables])
    if as_json:
        print_json({"schema": SCHEMA, "refitted": refitted})
    else:
        weights = ", ".join(f"{signal} {weight:g}" for signal, weight in refitted.items())
        print(f"refitted on all: {weights}")


def _asker(name: str, embedder: str, cache: Path | None) -> Ask:
    def ask(collections: Sequence[Collection], profile: Profile) -> Sequence[Answer]:
        return ask_all(name, collections, profile, embedder, cache).answers

    return ask


def _print(unit: str, held_out: HeldOut, *, as_json: bool) -> None:
    if as_json:
        print_json({"schema": SCHEMA, "unit": unit, **asdict(held_out)})
        return
    for group, mean in held_out.groups.items():
        print(f"{unit:<8} {group:<12} any@5 {mean:.4f}")
    print(
        f"{unit:<8} {'held out':<12} any@5 {held_out.mean:.4f} "
        f"[{held_out.low:.4f}, {held_out.high:.4f}], spread {held_out.spread:.4f}"
    )


def _vary(
    found: Sets, count: int, seed: int, embedder: str, cache: Path | None, *, as_json: bool
) -> None:
    for unit, part in found.items():
        ask = _asker(f"vary-{unit}", embedder, cache)
        choice = judge(list(variations(count, seed=seed)), part, ask)
        if as_json:
            print_json(
                {"schema": SCHEMA, "unit": unit, "is_held_out": False, "groups": choice.held_out,
                 "chosen": choice.chosen, "mean": choice.mean, "spread": choice.spread}
            )  # fmt: skip
            continue
        for group, mean in choice.held_out.items():
            print(f"{unit:<8} {group:<12} any@5 {mean:.4f} with {choice.chosen[group]}")
        print(f"{unit:<8} {'varied':<12} any@5 {choice.mean:.4f}, spread {choice.spread:.4f}")
    if not as_json:
        say("not held out: the weights that were varied had been chosen on every conversation")
