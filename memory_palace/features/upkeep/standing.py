"""How a palace is, in the words of ``palace`` and of ``palace status``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from memory_palace.embedding.weights import MINILM, PINNED
from memory_palace.index.advice import ModelAdvice
from memory_palace.index.status import IndexStatus
from memory_palace.palace import Palace
from memory_palace.shown import plural


def describe_notes(status: IndexStatus) -> str:
    """Return how many notes and passages there are."""
    archived = f" ({status.cold:,} archived)" if status.cold else ""
    noun = "passage" if status.chunks == 1 else "passages"
    return f"{status.notes:,}{archived}, in {status.chunks:,} {noun}"


def describe_model(status: IndexStatus) -> str:
    """Return what compares by meaning, or that nothing does."""
    if status.awaiting:
        return f"{status.embedder}, so far of {status.chunks - status.awaiting:,} passages"
    return status.embedder if status.dimension else "none: words only, no meaning"


def describe_freshness(status: IndexStatus) -> str:
    """Return how far the index is behind the notes, and when it was built."""
    built = datetime.fromtimestamp(status.built_ns / 1e9, UTC)
    return f"{_compare(status)}, built {built:%Y-%m-%d %H:%M} UTC"


def _compare(status: IndexStatus) -> str:
    if status.freshness.state == "current":
        return "up to date"
    behind = status.freshness.behind
    return f"{plural(behind, 'note')} behind" if behind else "not compared with the notes"


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
