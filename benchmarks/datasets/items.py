"""What every question set is made of, whatever its files look like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatasetPassage:
    """A piece of a document that can be an answer of its own, such as a turn."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class EvalDocument:
    """One note of a collection."""

    id: str
    text: str
    """Markdown; empty where ``passages`` hold the text."""
    passages: tuple[DatasetPassage, ...] = ()
    timestamp: float = 0.0
    """Seconds since the epoch; 0 where none is given."""


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question, and what answers it."""

    id: str
    text: str
    gold: frozenset[str]
    """Ids of passages or documents, whichever are ranked."""
    category: str = ""
    as_of: float = 0.0
    is_abstention: bool = False
    """Whether nothing answers it; counted apart."""
    is_incomplete: bool = False
    """Whether not all that answers it is labelled, so that it counts apart too."""
    gains: tuple[tuple[str, int], ...] = ()
    """Graded gains for nDCG where labels are graded; else every gold counts 1."""
    passages: frozenset[str] = frozenset()
    """Ids of the passages that answer, where ``gold`` names the documents that hold them."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that are searched together, and the questions asked of them."""

    group: str
    """What is left out together when weights are chosen: a conversation, a meeting."""
    documents: tuple[EvalDocument, ...]
    questions: tuple[EvalQuestion, ...]
    ranks_passages: bool = False
