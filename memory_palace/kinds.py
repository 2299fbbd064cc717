"""Hook: kinds of notes. A reader of any note asks the features whose notes are more than prose.

``table.KINDS`` names the kinds. Checking asks what of a note may be cited, and what proves that it
was read.
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
    """One thing that is wrong with a note, and where."""

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
    """Whether an answer holds the token of one note."""

    path: str
    outcome: TokenVerdict


def fold_tokens(checks: Iterable[TokenCheck]) -> TokenVerdict:
    """Return the verdict on all notes together: one missing token makes it missing."""
    found = {check.outcome for check in checks}
    ranked = (TokenVerdict.MISSING, TokenVerdict.HELD)
    return next((outcome for outcome in ranked if outcome in found), TokenVerdict.NOT_APPLICABLE)


class Proof(Protocol):
    """The tokens of one note."""

    flaws: Sequence[Flaw]

    def drop(self, text: str) -> str:
        """Return a text without the phrases that are a token."""

    def check(self, answer: str) -> TokenCheck:
        """Return whether an answer holds one of them."""


class NoteKind(Protocol):
    """A kind of notes in one palace."""

    def __init__(self, palace: Palace, library: Library | None = None) -> None:
        """Take the notes where they have been read; without them they are read when needed."""

    def includes(self, document: Document) -> bool:
        """Return whether a note is of this kind."""

    def find(self, name: str) -> str | None:
        """Return the path of the note that has a name of this kind alone, such as an anchor."""

    def blank(self, body: str) -> str:
        """Return the body of such a note, the lines empty that may not be cited."""

    def proof_of(self, document: Document) -> Proof:
        """Return the tokens of such a note."""


def read_kinds(palace: Palace, library: Library | None = None) -> tuple[NoteKind, ...]:
    """Return the kinds of notes that the features of this installation know."""
    return tuple(load(place)(palace, library) for place in KINDS.values())
