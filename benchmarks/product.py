"""What ``palace query`` gives: a folder of notes, the ordinary build, the ordinary flags.

A note that a set names by its path stands there as it is. Any other document becomes a note with
its date in front matter, and, where it has passages, one of them a paragraph. Its file name is a
number, so that no name gives away what a note is about.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.corpora import digest_index
from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.systems import Found, Ranker
from benchmarks.vectors import loading
from memory_palace.embedding.registry import Embedder
from memory_palace.index.commit import name_recipe
from memory_palace.models import Filters, ParsedQuery, Vector
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.retrieval.search import search
from memory_palace.retrieval.signals import Profile
from memory_palace.storage import write_atomic

HITS = 5
"""What the command gives unless it is told otherwise."""
DEPTH = 20
"""What the same search is asked for once more, for measures that look below those."""


def as_notes(collection: Collection) -> Collection:
    """Return a collection whose notes are ranked, where passages were.

    A note is gold where it holds a passage that was; those stay with the question as ``passages``.
    """
    if not collection.ranks_passages:
        return collection
    holder = {p.id: document.id for document in collection.documents for p in document.passages}
    questions = tuple(
        replace(
            question,
            gold=frozenset(holder[name] for name in question.gold if name in holder),
            passages=question.gold,
        )
        for question in collection.questions
    )
    return replace(collection, questions=questions, ranks_passages=False)


def name_notes(collection: Collection) -> Mapping[str, str]:
    """Return the file name of each document, by its id."""
    return {
        document.id: document.id if document.id.endswith(".md") else f"{number:07d}.md"
        for number, document in enumerate(collection.documents)
    }


def open_product(collection: Collection, folder: Path, embedder: Embedder) -> Palace:
    """Open the palace of a collection, which is kept in ``folder``; write and index what lacks."""
    recipe = name_recipe(embedder)
    root = folder / "products" / digest_index(collection, f"{recipe}\nnotes-1")
    root.mkdir(parents=True, exist_ok=True)
    names = name_notes(collection)
    for document in collection.documents:
        path = root / names[document.id]
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, write_note(document).encode())
    palace = Palace.init(root, here=True)
    with loading(embedder):
        palace.index(embedder=embedder.name)
    return palace


def write_note(document: EvalDocument) -> str:
    """Return a document as Markdown, with its day where it has one."""
    text = document.text or "\n\n".join(passage.text for passage in document.passages)
    if not document.timestamp:
        return f"{text}\n"
    day = datetime.fromtimestamp(document.timestamp, UTC).isoformat()
    return f"---\ndate: {day}\n---\n{text}\n"


def product_ranker(
    profile: Profile, collection: Collection, folder: Path, embedder: Embedder
) -> Ranker:
    """Return how ``palace query`` ranks the notes of a collection, and what it shows of them."""
    palace = open_product(collection, folder, embedder)
    documents = {name: identity for identity, name in name_notes(collection).items()}
    right = _read_passages(collection)

    def rank(question: EvalQuestion, vector: Vector) -> Found:
        moment = question.as_of or time.time()
        as_of = datetime.fromtimestamp(question.as_of, UTC) if question.as_of else None
        with loading(embedder):
            result = palace.query(question.text, limit=HITS, profile=profile.name, as_of=as_of)
        core = [hit for hit in result if hit.role == "core"]
        text, filters = " ".join(question.text.split()), Filters(written_by=moment)
        query = ParsedQuery(text, moment, filters, vector)
        below = search(query, palace.snapshot(), Query(limit=DEPTH), profile=profile).hits
        found = {documents[hit.path]: hit.score for hit in core}
        for hit in below:
            found.setdefault(documents[hit.path], hit.score)
        return Found(tuple(found.items()), _judge([hit.text for hit in core], right, question))

    return rank


def _read_passages(collection: Collection) -> Mapping[str, str]:
    return {p.id: _flat(p.text) for document in collection.documents for p in document.passages}


def _judge(
    shown: Sequence[str], right: Mapping[str, str], question: EvalQuestion
) -> Mapping[str, float]:
    """Say whether a passage that answers is shown whole, and how many bytes are shown."""
    if not question.passages:
        return {}
    texts = [_flat(text) for text in shown]
    wanted = [right[name] for name in question.passages if name in right]
    is_held = any(passage in text for passage in wanted for text in texts)
    return {"shown": float(is_held), "bytes": float(sum(len(text.encode()) for text in shown))}


def _flat(text: str) -> str:
    return " ".join(text.split())
