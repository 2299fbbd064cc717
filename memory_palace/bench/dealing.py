"""What metadata decides: notes that say the same in other words, and dates dealt at random."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from memory_palace.bench.corpora import open_corpus
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.given import Given, at_least, checkout, garden, sample_palace
from memory_palace.bench.golden import Pair, read_pairs
from memory_palace.bench.timing import Measured
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.embedding.registry import get_embedder
from memory_palace.index.segment import PRIORITIES
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Filters, Query
from memory_palace.notes.frontmatter import write_front_matter
from memory_palace.palace import Palace
from memory_palace.places import PALACE
from memory_palace.retrieval.profiles import get_profile
from memory_palace.retrieval.search import search

DEALS = 5
NOW = 1_790_000_000.0
_DAYS = 3650
_DAY_SECONDS = 86_400.0
_FOLDER = f"{PALACE}/grand_hall/pairs"
PAIRS = "tests/retrieval"
_SIDES = ("preferred", "other")


@contextmanager
def dealt(snapshot: Snapshot, seed: int) -> Iterator[None]:
    """Give the notes of an opened snapshot dates of ten years and priorities at random."""
    draw = random.Random(seed)
    count = len(snapshot.paths)
    dates = [NOW - draw.randrange(_DAYS) * _DAY_SECONDS for _ in range(count)]
    priorities = [draw.randrange(len(PRIORITIES)) for _ in range(count)]
    chosen = {
        "dates": np.array(dates),
        "told_dates": np.array(dates),
        "date_sources": np.zeros(count, np.uint8),
        "priorities": np.array(priorities, np.int8),
    }
    kept = {name: getattr(snapshot, name) for name in chosen}
    snapshot.__dict__.update(chosen)
    try:
        yield
    finally:
        snapshot.__dict__.update(kept)


def count_first(snapshot: Snapshot, asked: Sequence[tuple[Query, set[str]]], *, seed: int) -> int:
    """Count the questions whose first note is a right one; ``seed`` 0 takes no notice of metadata.

    ``asked`` are questions, each with the paths of the notes that answer it.
    """
    profile = get_profile("hybrid")
    if not seed:
        profile = replace(profile, prefers=False)
    count = 0
    with dealt(snapshot, seed):
        for query, right in asked:
            hits = search(query, snapshot, profile=profile).hits
            count += bool(hits) and hits[0].path in right
    return count


def measure_dealt(given: Given) -> Iterator[Measured]:
    """Ask with dates and priorities at random, and without them; then pairs that say the same."""
    embedder = RememberingEmbedder(get_embedder("minilm"), given.cache)
    collection = load_beir(given.find("beir/scifact"))
    yield _compare("SciFact", *_open_set(collection, embedder, given.cache))
    for name, prefix in (("sample_palace", ""), ("garden", "palace/project_rooms/vault/")):
        with sample_palace() if not prefix else garden(given) as root, loading(embedder):
            pairs = read_pairs(checkout("tests/golden") / f"{name}.md")
            yield _compare(f"golden, {name}", *_open_pairs(root, pairs, prefix, embedder))
    yield from measure_pairs(embedder)
    embedder.save()


def measure_pairs(embedder: RememberingEmbedder) -> Iterator[Measured]:
    """Ask a palace of the sample and 100 pairs of notes for what both notes of a pair say."""
    lines = (checkout(PAIRS) / "pairs_dev.jsonl").read_text("utf-8").splitlines()
    pairs = [json.loads(line) for line in lines]
    with sample_palace() as root, loading(embedder):
        write_pairs(root, pairs)
        palace = Palace(root)
        palace.index(embedder=embedder.name)
        ranks = [rank_pair(palace, pair) for pair in pairs]
    first = sum(best < other for best, other in ranks) / len(ranks)
    yield at_least("pairs that say the same, the preferred first", first, "of 100", 0.9)
    both = sum(max(pair) < 5 for pair in ranks) / len(ranks)
    yield at_least("pairs that say the same, both in five", both, "of 100", 1.0)


def write_pairs(root: Path, pairs: Sequence[Mapping[str, Any]]) -> None:
    """Write both notes of each pair into a palace."""
    folder = root / _FOLDER
    folder.mkdir(parents=True)
    for pair in pairs:
        for note in (pair[side] for side in _SIDES):
            fields = {key: value for key, value in note.items() if key not in ("name", "text")}
            for key in fields.keys() & {"date", "valid_until"}:
                fields[key] = date.fromisoformat(fields[key]).isoformat()
            head = write_front_matter(fields)
            text = f"{head}# {note['name']}\n\n{note['text']}\n"
            (folder / f"{note['name']}.md").write_text(text, "utf-8")


def rank_pair(palace: Palace, pair: Mapping[str, Any]) -> tuple[int, int]:
    """Return the ranks of the preferred note and of the other, 99 where it is not found."""
    hits = palace.query(pair["question"], limit=20, neighbors=0)
    stems = [Path(hit.path).stem for hit in hits]
    first, second = (
        stems.index(name) if name in stems else 99 for name in (pair[s]["name"] for s in _SIDES)
    )
    return first, second


def _compare(what: str, snapshot: Snapshot, asked: Sequence[tuple[Query, set[str]]]) -> Measured:
    plain = count_first(snapshot, asked, seed=0) / len(asked)
    counts = [count_first(snapshot, asked, seed=seed) for seed in range(1, DEALS + 1)]
    mean = sum(counts) / len(counts) / len(asked)
    label = f"{what}, dates and priorities dealt at random"
    return at_least(label, round(mean, 4), "recall@1", round(plain - 0.01, 4), round(plain, 4))


def _open_set(
    collection: Collection, embedder: RememberingEmbedder, cache: Path
) -> tuple[Snapshot, list[tuple[Query, set[str]]]]:
    corpus = open_corpus(collection, cache, embedder)
    paths = dict(zip(corpus.documents, corpus.snapshot.paths, strict=True))
    texts = [" ".join(question.text.split()) for question in collection.questions]
    vectors = embedder.embed_queries(texts)
    gold = [{paths[name] for name in question.gold} for question in collection.questions]
    queries = (Query(text, NOW, Filters(), v) for text, v in zip(texts, vectors, strict=True))
    return corpus.snapshot, list(zip(queries, gold, strict=True))


def _open_pairs(
    root: Path, pairs: Sequence[Pair], prefix: str, embedder: RememberingEmbedder
) -> tuple[Snapshot, list[tuple[Query, set[str]]]]:
    palace = Palace(root)
    palace.index(embedder=embedder.name)
    vectors = embedder.embed_queries([pair.question for pair in pairs])
    queries = (
        Query(pair.question, NOW, Filters(), vector)
        for pair, vector in zip(pairs, vectors, strict=True)
    )
    gold = [{prefix + pair.path} for pair in pairs]
    return palace.snapshot(), list(zip(queries, gold, strict=True))
