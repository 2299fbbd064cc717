"""What structure is worth beside ``hybrid``, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from memory_palace.bench import weighing
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.longmemeval import load_longmemeval
from memory_palace.bench.datasets.meetings import load_meetings
from memory_palace.bench.given import GARDEN, Given, checkout, garden, need_models, sample_palace
from memory_palace.bench.golden import ask, measure_recall, read_pairs
from memory_palace.bench.report import compare_runs
from memory_palace.bench.runs import Run, run_system
from memory_palace.bench.scale import command
from memory_palace.bench.signal_tables import SignalTable, measure_collections
from memory_palace.bench.timing import Measured, measure_commands
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.embedding.registry import get_embedder
from memory_palace.palace import Palace
from memory_palace.retrieval.profiles import PROFILES, RARE, Profile

FITTED = (
    *("described", "overlap", "logic", "preference", "noun_phrase", "ordering", "name"),
    "temporal_phrase",
)
"""Signals of structure that speak in enough questions for a fit."""
_MEASURES = ("any@5", "any@1")


def measure_structure(given: Given) -> Iterator[Measured]:
    """Yield what ``structured`` gains over ``hybrid``, and then bytes and CPU time of its index.

    A conversation of LoCoMo is asked with weights that were fitted without it, any other set with
    weights that were fitted without the set; SciFact is in no fit.
    """
    sets = _load(given)
    need_models("minilm")
    signals = (*PROFILES["hybrid"].weights, *FITTED)
    tables = {
        name: measure_collections(part, signals, embedder=get_embedder("minilm"), cache=given.cache)
        for name, part in sets.items()
        if name != "SciFact"
    }
    profiles = dict(_fit_each(list(tables.values()), signals))
    for name, part in sets.items():
        yield from _compare(given, name, part, profiles)
    yield from _compare_golden(given)
    yield from _compare_indexes(given)


def _load(given: Given) -> dict[str, list[Collection]]:
    path, gold = given.find_talks()
    sets = {
        f"LoCoMo dev, {unit}": list(load_locomo(path, unit=unit, gold=gold))
        for unit in ("turn", "session")
    }
    chats = load_longmemeval(given.find("longmemeval/longmemeval_s_dev.json"))
    sets["LongMemEval dev"] = [replace(part, group="LongMemEval") for part in chats]
    sets["QMSum"] = [load_meetings(given.find("qmsum/val.jsonl"))]
    sets["SciFact"] = [load_beir(given.find("beir/scifact"))]
    return sets


def _fit_each(
    sets: Sequence[Mapping[str, SignalTable]], signals: Sequence[str]
) -> Iterator[tuple[str, Profile]]:
    """Yield each group, and the profile that was fitted without it; the last without none."""
    for group in (*dict.fromkeys(name for part in sets for name in part), ""):
        others = [[table for name, table in part.items() if name != group] for part in sets]
        added = weighing.fit_beside(PROFILES["hybrid"], [part for part in others if part], signals)
        weights = {**PROFILES["hybrid"].weights, **RARE, **added}
        yield group, replace(PROFILES["structured"], name=f"structured-{group}", weights=weights)


def _compare(
    given: Given, name: str, part: Sequence[Collection], profiles: Mapping[str, Profile]
) -> Iterator[Measured]:
    runs = [_run(given, name, part, PROFILES["hybrid"]), _run(given, name, part, "structured")]
    held: list[Run] = []
    for group in dict.fromkeys(collection.group for collection in part):
        inside = [collection for collection in part if collection.group == group]
        held.append(_run(given, name, inside, profiles.get(group, profiles[""])))
    runs.append(replace(held[0], answers=tuple(a for run in held for a in run.answers)))
    for what, run in zip(("as it ships", "held out"), runs[1:], strict=True):
        for measure in _MEASURES:
            found = compare_runs(runs[0], run, measure=measure)
            note = f"{found.mean:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"
            hybrid = found.value - found.mean
            label = f"structured {what}, {name}"
            yield Measured(label, round(found.value, 4), measure, "hybrid", hybrid, note=note)


def _compare_golden(given: Given) -> Iterator[Measured]:
    counts = {"hybrid": [0, 0], "structured": [0, 0]}
    embedder = RememberingEmbedder(get_embedder("minilm"), given.cache)
    for name, prefix in (("sample_palace", ""), ("garden", "palace/project_rooms/vault/")):
        pairs = read_pairs(checkout("tests/golden") / f"{name}.md")
        with sample_palace() if not prefix else garden(given) as root, loading(embedder):
            palace = Palace(root)
            palace.index(embedder="minilm", structure=True)
            for profile, count in counts.items():
                recall = measure_recall(pairs, ask(palace, profile=profile), prefix=prefix)
                count[0] += round(recall.at_1 * len(pairs))
                count[1] += round(recall.at_5 * len(pairs))
        embedder.save()
    for place, what in enumerate(("first", "in five")):
        ours, base = counts["structured"][place], counts["hybrid"][place]
        yield Measured(f"structured, golden questions {what}", ours, "of 30", "hybrid", base)


def _compare_indexes(given: Given) -> Iterator[Measured]:
    """Build the garden with structure and without, with drawn vectors for bytes, none for time."""
    given.find(GARDEN)
    sizes = []
    embedder = RememberingEmbedder(get_embedder("minilm"), given.cache)
    for structure in (True, False):
        with garden(given) as root, loading(embedder):
            Palace(root).index(embedder="minilm", structure=structure)
            sizes.append(sum(Palace(root).status().index_bytes.values()) / (1 << 20))
    yield Measured("garden with structure, index", sizes[0], "MiB", "without", sizes[1])
    with garden(given) as first, garden(given) as second:
        builds = [_build(first, "--structure"), _build(second, "--no-structure")]
        ours, base = measure_commands(*builds, runs=3, warmup=0)
    what = "garden with structure, built without a model"
    yield Measured(what, ours.cpu_seconds, "CPU s", "without", base.cpu_seconds)


def _build(root: Path, flag: str) -> list[str]:
    return command(root, "index", "-q", "--force", "--embedder", "none", flag)


def _run(given: Given, name: str, part: Sequence[Collection], system: str | Profile) -> Run:
    return run_system(
        f"structure-{name.lower().replace(', ', '-').replace(' ', '-')}",
        part,
        system,
        embedder=get_embedder("minilm"),
        cache=given.cache,
        progress=given.progress,
    )
