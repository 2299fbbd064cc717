"""Review memories: what is due, what came back, and how fast this person forgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from memory_palace.changes.changing import write_file
from memory_palace.changes.operations import grow
from memory_palace.engine import Engine
from memory_palace.mnemonics.decay import Fit, fit_decay
from memory_palace.mnemonics.form import read_memory
from memory_palace.mnemonics.memories import read_memory_notes
from memory_palace.mnemonics.memory_values import Memory
from memory_palace.mnemonics.reviews import (
    FIBONACCI,
    FORGOTTEN_CONFIDENCE,
    LOG,
    RECALLED_CONFIDENCE,
    Review,
    Standing,
    check_schedule,
    load_reviews,
    make_trials,
    stand,
    to_record,
)


@dataclass(frozen=True, slots=True)
class Agenda:
    """Where every memory stands on a day."""

    standings: tuple[tuple[Memory, Standing], ...]
    """Earliest due first, then least sure, then by path."""
    fit: Fit | None
    """How fast this person forgets, where enough reviews tell; it is applied already."""


def plan_reviews(
    engine: Engine, *, today: date | None = None, schedule: Sequence[int] = FIBONACCI
) -> Agenda:
    """Return where all memories stand; raise ``UsageError`` for a schedule that does not rise."""
    check_schedule(schedule)
    day = today or datetime.now(UTC).date()
    notes = read_memory_notes(engine)
    fit = fit_decay(make_trials(notes.reviews))
    factor = fit.factor if fit else 1.0
    found = [
        (
            memory,
            stand(
                memory,
                notes.reviews.get(memory.id, ()),
                today=day,
                schedule=schedule,
                factor=factor,
            ),
        )
        for memory in notes.memories
    ]
    found.sort(key=lambda pair: (pair[1].due, pair[1].confidence, pair[0].id))
    return Agenda(tuple(found), fit)


def record_review(
    engine: Engine,
    name: str,
    *,
    is_recalled: bool,
    confidence: float | None = None,
    now: datetime | None = None,
) -> Standing:
    """Log that a memory was reviewed, and return where it stands then. The note is not touched.

    ``confidence`` is from 0 to 1, by default what such a review usually means.
    """
    moment = now or datetime.now(UTC)
    document = read_memory_notes(engine).find(name)
    memory = read_memory(document)
    usual = RECALLED_CONFIDENCE if is_recalled else FORGOTTEN_CONFIDENCE
    sure = usual if confidence is None else confidence
    review = Review(memory.id, moment, is_recalled, sure, memory.smashin_score)
    write_file(
        engine,
        lambda: grow(engine.paths, LOG, [to_record(review)]),
        command="memory",
        reason=f"review {memory.id}",
    )
    reviews = load_reviews(engine.paths)[memory.id]
    return stand(read_memory(document, reviews), reviews, today=moment.date())
