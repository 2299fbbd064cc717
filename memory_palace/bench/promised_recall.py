"""Promised of what comes to mind by itself, and of what programs are given to read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from functools import partial

from memory_palace.bench.given import Given, at_least, checkout, need_models, sample_palace
from memory_palace.bench.golden import read_pairs
from memory_palace.bench.recall import Estimate, RecallRow, listen, sum_up
from memory_palace.bench.recall_sets import SETS, choose_half, read_listeners
from memory_palace.bench.recall_systems import RECALL, SYSTEMS, choose_systems
from memory_palace.bench.scale import command
from memory_palace.bench.timing import Measured
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.palace import Palace

_SLACK = {"hybrid": 0.0, "cosine": 0.02}
"""How far R@5 may lie below that of these."""


def measure_recollections(given: Given) -> Iterator[Measured]:
    """Say the lines that nothing was decided on, to the product and to what always speaks."""
    systems = choose_systems(SYSTEMS, has_vectors=True, has_context=False)
    for name in SETS:
        said = list(choose_half(read_listeners(given, [name]), "held"))
        need_models("minilm")
        asked = partial(listen, cache=given.cache, progress=given.progress)
        judged = list(asked(said, systems, embedder=get_embedder("minilm")))
        yield from compare_systems({row.system: row for row in sum_up(judged)})


def compare_systems(rows: Mapping[str, RecallRow]) -> Iterator[Measured]:
    """Yield what is promised of recall on one set, beside the systems that always speak."""
    ours = rows[RECALL]
    label = f"recall, {ours.set}, held out"
    yield at_least(f"{label}: spoken", _value(ours.spoken), f"of {ours.refers}", 0.9)
    yield at_least(f"{label}: silent", _value(ours.silent), f"of {ours.chat}", 0.95)
    others = [row for name, row in rows.items() if name != RECALL]
    best = max(others, key=lambda row: _value(row.held))
    yield Measured(
        f"{label}: gold sentence",
        _value(ours.held),
        "of them",
        best.system,
        _value(best.held),
        limit=0.9,
        at_least=True,
    )
    for name, slack in _SLACK.items():
        least = _value(rows[name].found) - slack
        beside = f"{name} - {slack:g}" if slack else name
        what, found = f"{label}: R@5 beside {name}", _value(ours.found)
        yield Measured(what, found, "of the notes", beside, least, limit=1, at_least=True)


def measure_json(given: Given) -> Iterator[Measured]:
    """Compare the bytes of ``palace query --json`` with those of the text that it brings."""
    pairs = read_pairs(checkout("tests/golden") / "sample_palace.md")
    written = brought = 0
    with sample_palace() as root:
        Palace(root).index(embedder="minilm" if is_available("minilm") else "hashing")
        for pair in pairs:
            line = command(root, "query", pair.question, "--json")
            answer = subprocess.run(line, capture_output=True, check=True).stdout
            written += len(answer)
            brought += sum(len(hit["text"].encode()) for hit in json.loads(answer)["hits"])
    yield Measured(
        "query --json beside the text it brings", written, "bytes", "text", brought, limit=1.6
    )


def _value(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else round(estimate.value, 4)
