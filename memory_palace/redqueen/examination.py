"""Ask the product's own search, as ``palace query`` ranks, what people would ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.engine import Engine
from memory_palace.redqueen.askings import Asking

CUT = 5
"""Notes that a person looks at."""


@dataclass(frozen=True, slots=True)
class AskingResult:
    """A question, and the notes that came."""

    asking: Asking
    found: tuple[str, ...]
    """Paths, best first, at most ``CUT``, without the note whose words were asked."""

    @property
    def rank(self) -> int:
        """1-based place of the first right note; 0 where none came."""
        ranks = (place for place, path in enumerate(self.found, 1) if path in self.asking.answers)
        return next(ranks, 0)


def ask_search(engine: Engine, askings: Sequence[Asking]) -> list[AskingResult]:
    """Ask each question as a person does who has not read the note that speaks of the other."""
    found = engine.rank_paths((asking.text for asking in askings), limit=CUT + 1)
    return [
        AskingResult(asking, tuple(path for path in paths if path != asking.said_in)[:CUT])
        for asking, paths in zip(askings, found, strict=True)
    ]
