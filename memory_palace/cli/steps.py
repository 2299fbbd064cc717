"""What to do next in a palace: the commands to type, the most urgent first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memory_palace.embedding.weights import MINILM, PINNED
from memory_palace.index.advice import ModelAdvice
from memory_palace.index.status import IndexStatus
from memory_palace.palace import Palace

Step = tuple[str, str]
"""A command, and what it does."""


def steps_without_index(palace: Palace) -> Iterator[Step]:
    """Yield what to do where nothing was indexed."""
    yield "palace index", "read the notes"
    yield from _model_steps(palace)


def next_steps(
    palace: Palace, status: IndexStatus, advice: ModelAdvice | None = None
) -> Iterator[Step]:
    """Yield what would mend or better a palace; nothing where all is well."""
    if not status.notes:
        yield 'palace new "A title"', "write a first note"
    if status.awaiting:
        yield "palace index", f"make the vectors of {status.awaiting:,} more passages"
    elif not status.dimension:
        yield from _model_steps(palace)
    if status.freshness.state == "stale":
        yield "palace index", "take in what has changed"
    if advice is not None and advice.embedder and status.notes:
        yield advice.command, "find notes that are not in English better"


def lay_steps(steps: Iterable[Step]) -> Iterator[str]:
    """Yield an empty line and a row per command, each command once; nothing where there is none."""
    rows: dict[str, str] = {}
    for command, what in steps:
        rows.setdefault(command, what)
    if rows:
        width = max(map(len, rows))
        yield ""
        yield from (f"  {command:<{width}}  {what}" for command, what in rows.items())


def _model_steps(palace: Palace) -> Iterator[Step]:
    awaited = palace.awaited_model()
    if awaited is not None and awaited.is_ready:
        yield "palace index", f"find by meaning too: {awaited.name} is here now"
    elif awaited is not None:
        model = PINNED.get(awaited.name, MINILM)
        yield f"palace models fetch {model.name}", f"find by meaning too ({model.download}, once)"
