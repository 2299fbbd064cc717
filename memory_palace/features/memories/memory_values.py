"""What a memory is: a picture, what it stands for, and a token that proves it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from memory_palace.errors import UsageError

MOST_FACTORS = 12
NEW_CONFIDENCE = 0.6
"""Of a memory that nobody has reviewed: 3 of 5 (source document 000)."""


class Factor(StrEnum):
    """The twelve of SMASHIN SCOPE, in the order of its letters."""

    SUBSTITUTE = "substitute"
    MOVEMENT = "movement"
    ABSURD = "absurd"
    SENSORY = "sensory"
    HUMOR = "humor"
    INTERACT = "interact"
    NUMBERS = "numbers"
    SYMBOLS = "symbols"
    COLOR = "color"
    OVERSIZE = "oversize"
    POSITION = "position"
    EMOTION = "emotion"


BY_WORDS = "words"
"""Who says so, where a detector does: its marks are made anew whenever a note is scored."""
BY_PERSON = "person"


@dataclass(frozen=True, slots=True)
class Mark:
    """One factor of one image: whether it is there and works, why, and who says so."""

    factor: Factor
    is_present: bool
    reason: str = ""
    by: str = BY_PERSON
    """``words``, ``person``, or the name of a model."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory. The first seven fields are those of source document 000, in its order.

    Raise ``UsageError`` for a SMASHIN SCOPE outside 0 to 12, or a confidence outside 0 to 1.
    """

    id: str
    """Path of its note."""
    subject: str
    image: str
    """As written: its ``[Verify: …]`` is part of it."""
    content: str
    verify_token: str = ""
    """The first of ``verify_tokens``; empty where there is none."""
    smashin_score: int = 0
    embedding: Sequence[float] = ()
    verify_tokens: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    """Short cues, and other names of the note."""
    locus: str = ""
    links: str = ""
    """The section ``Links``, as written."""
    marks: tuple[Mark, ...] = ()
    """The factor map behind the score; empty where only a number is stated."""
    created: date | None = None
    last_retrieved: date | None = None
    confidence: float = NEW_CONFIDENCE
    """How well it is remembered, when it was last reviewed."""

    def __post_init__(self) -> None:
        if type(self.smashin_score) is not int or not 0 <= self.smashin_score <= MOST_FACTORS:
            raise UsageError(
                f"{self.id}: SMASHIN SCOPE must be a whole number from 0 to 12, not "
                f"{self.smashin_score!r}; `palace memory score` counts it"
            )
        if not 0 <= self.confidence <= 1:
            raise UsageError(f"{self.id}: confidence must be from 0 to 1, not {self.confidence!r}")
        tokens = self.verify_tokens or ((self.verify_token,) if self.verify_token else ())
        object.__setattr__(self, "verify_tokens", tokens)
        object.__setattr__(self, "verify_token", tokens[0] if tokens else "")

    @property
    def domain(self) -> str:
        """The folder of its note: what the index is divided by."""
        return domain_of(self.id)


def domain_of(path: str) -> str:
    """Return the folder of a note without ``palace/``; ``palace`` for one in no folder."""
    folder = path.rpartition("/")[0]
    return folder.removeprefix("palace/") or "palace"
