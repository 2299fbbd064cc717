"""Every figure that is promised, in one table: size of the code, cost of a question, quality.

A part that needs data, weights or an earlier commit says so where they are missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from memory_palace.bench import dealing, scale, serving, view
from memory_palace.bench import promised_answers as answers
from memory_palace.bench import promised_costs as costs
from memory_palace.bench import promised_recall as recall
from memory_palace.bench import promised_rounds as rounds
from memory_palace.bench import promised_structure as structure
from memory_palace.bench.anchor_scale import measure_anchor_scale
from memory_palace.bench.given import Given
from memory_palace.bench.seeking import measure_retrieval
from memory_palace.bench.steps import measure_steps
from memory_palace.bench.timing import Measured
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.libraries import check_postgres


def _measure_store(given: Given) -> Iterator[Measured]:
    check_postgres()
    # Delayed: it needs the extra, which is checked above.
    from memory_palace.bench.store import measure_promised

    return measure_promised(given)


PARTS: Mapping[str, Callable[[Given], Iterator[Measured]]] = {
    "code": costs.measure_code,
    "reach": costs.measure_reach,
    "speed": costs.measure_speed,
    "models": costs.measure_models,
    "size": costs.measure_size,
    "build": costs.measure_build,
    "golden": answers.measure_golden,
    "locomo": answers.measure_talks,
    "held-out": answers.measure_held_out,
    "product": answers.measure_product,
    "scifact": answers.measure_scifact,
    "metadata": dealing.measure_dealt,
    "qmsum": answers.measure_meetings,
    "longmemeval": answers.measure_chats,
    "pages": answers.measure_pages,
    "structure": structure.measure_structure,
    "steps": measure_steps,
    "shown": answers.measure_shown_turns,
    "verify": answers.measure_verified,
    "confidence": answers.measure_confidence,
    "names": answers.measure_known_names,
    "screen": answers.measure_screens,
    "recall": recall.measure_recollections,
    "redqueen": rounds.measure_rounds,
    "json": recall.measure_json,
    "serve": serving.measure_promised,
    "store": _measure_store,
    "view": view.measure_promised,
    "ranking": lambda given: scale.measure_ranking(),
    "anchors": lambda given: iter(measure_anchor_scale(17_000)),
    "seek": lambda given: iter([measure_retrieval(100_000)]),
}
"""By name; each yields its rows."""
HEAVY = frozenset(
    {
        *(
            "golden",
            "metadata",
            "names",
            "shown",
            "confidence",
            "locomo",
            "held-out",
            "product",
            "scifact",
        ),
        *("qmsum", "longmemeval", "pages", "structure", "models", "ranking", "anchors", "seek"),
        *("recall", "redqueen", "serve", "steps", "store", "verify", "view"),
    }
)
"""Parts that take minutes of CPU, the first time at least."""


def measure_promises(given: Given, parts: list[str]) -> Iterator[Measured]:
    """Yield the figures of the chosen parts, all light ones where none is chosen."""
    if unknown := set(parts) - PARTS.keys():
        raise UsageError(f"unknown part {min(unknown)!r}; choose from {', '.join(PARTS)}")
    for name in parts or [part for part in PARTS if part not in HEAVY]:
        try:
            yield from PARTS[name](given)
        except MissingPartError as error:
            yield Measured(name, None, note=f"skipped: {error}")
