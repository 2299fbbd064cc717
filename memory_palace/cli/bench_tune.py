"""``palace bench tune``: weights that are judged by conversations they were not fitted to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

from typer import Argument

from memory_palace.bench import weighing
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.runs import Answer
from memory_palace.bench.signal_tables import measure_collections
from memory_palace.cli.bench_options import Cache, EmbedderName, Gold, Unit, printing
from memory_palace.cli.bench_sets import ask_all, cache_of
from memory_palace.cli.options import Json
from memory_palace.embedding.registry import get_embedder
from memory_palace.retrieval.profiles import Profile


def tune(
    file: Annotated[Path, Argument(help="The official JSON file of LoCoMo.")],
    gold: Gold = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Fit weights on all conversations but one, from equal weights, and judge on that one.

    One profile is fitted for turns and sessions together.

    Example: palace bench tune locomo10.json
    """
    found = {unit: list(load_locomo(file, unit=unit, gold=gold)) for unit in get_args(Unit)}
    model = get_embedder(embedder)
    tables = [
        measure_collections(part, weighing.EVIDENCE, embedder=model, cache=cache_of(cache))
        for part in found.values()
    ]
    profiles = dict(weighing.hold_out_each(tables))
    with printing("held_out", as_json=as_json) as rows:
        for unit, part in found.items():
            ask = partial(_ask, f"tune-{unit}", embedder, cache)
            held_out = weighing.judge_held_out(part, profiles, ask)
            rows.add(held_out, _lines(unit, held_out), to="held_out", unit=unit)
        refitted = weighing.fit_weights([list(part.values()) for part in tables])
        rows.record["refitted"] = refitted
    if not as_json:
        weights = ", ".join(f"{signal} {weight:g}" for signal, weight in refitted.items())
        print(f"refitted on all: {weights}")


def _ask(
    name: str, embedder: str, cache: Path | None, found: Sequence[Collection], profile: Profile
) -> Sequence[Answer]:
    return ask_all(name, found, profile, embedder, cache).answers


def _lines(unit: str, held_out: weighing.HeldOut) -> Iterator[str]:
    for group, mean in held_out.groups.items():
        yield f"{unit:<8} {group:<12} any@5 {mean:.4f}"
    yield (
        f"{unit:<8} {'held out':<12} any@5 {held_out.mean:.4f} "
        f"[{held_out.low:.4f}, {held_out.high:.4f}], spread {held_out.spread:.4f}"
    )
