"""Hook: kinds of notes that features define, such as memories.

``table.KINDS`` names their classes. Checking asks them which lines of a note may be cited, and
which tokens prove that it was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memory_palace.notes.document import Document, Library
from memory_palace.palace import Palace
from memory_palace.table import KINDS, load


@dataclass(frozen=True, slots=True)
class Flaw:
    """A defect of a note, with its line."""

    path: str
    line: int | None
    """1-based, in the file."""
    message: str
    is_error: bool = True

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


class TokenVerdict(StrEnum):
    """Whether an answer holds what proves that a note was read."""

    HELD = "held"
    MISSING = "missing"
    NOT_APPLICABLE = "not_applicable"
    """The note has no token."""


@dataclass(frozen=True, slots=True)
class TokenCheck:
    """The verdict on the token of one note."""

    path: str
    outcome: TokenVerdict


def fold_tokens(checks: Iterable[TokenCheck]) -> TokenVerdict:
    """Return the combined verdict: ``MISSING`` takes precedence over ``HELD``."""
    found = {check.outcome for check in checks}
    ranked = (TokenVerdict.MISSING, TokenVerdict.HELD)
    return next((outcome for outcome in ranked if outcome in found), TokenVerdict.NOT_APPLICABLE)


class Proof(Protocol):
    """The verification tokens of one note."""

    flaws: Sequence[Flaw]

    def drop(self, text: str) -> str:
        """Return a text without the phrases of tokens."""

    def check(self, answer: str) -> TokenCheck:
        """Return whether an answer contains a token of the note."""


class NoteKind(Protocol):
    """A kind of notes in one palace."""

    def __init__(self, palace: Palace, library: Library | None = None) -> None:
        """``library`` holds notes that are already read; without it they are read on demand."""

    def includes(self, document: Document) -> bool:
        """Return whether a note is of this kind."""

    def find(self, name: str) -> str | None:
        """Return the path of the note with a name of this kind, such as an anchor, or ``None``."""

    def blank(self, body: str) -> str:
        """Return the body of a note with the lines blanked that may not be cited."""

    def proof_of(self, document: Document) -> Proof:
        """Return the verification tokens of a note."""


def read_kinds(palace: Palace, library: Library | None = None) -> tuple[NoteKind, ...]:
    """Return the kinds of notes of all installed features."""
    return tuple(load(place)(palace, library) for place in KINDS.values())
