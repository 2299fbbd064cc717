"""An index that is still being built: how well it answers meanwhile, and how soon at all."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree
from statistics import fmean

import numpy as np

from memory_palace.bench.corpora import Corpus, open_corpus
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.pages import load_pages
from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.given import GARDEN, Given, at_least, need_models
from memory_palace.bench.scale import command
from memory_palace.bench.timing import Measured
from memory_palace.bench.vectors import RememberingEmbedder
from memory_palace.embedding.base import Embedder
from memory_palace.embedding.registry import get_embedder
from memory_palace.index.calibration import calibrate
from memory_palace.index.fold import fold_segments
from memory_palace.index.questions import find_best_null, read_questions
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Filters, Matrix, Query
from memory_palace.palace import Palace
from memory_palace.retrieval.profiles import get_profile
from memory_palace.retrieval.search import search

SHARES = (0.1, 0.5, 0.9)
SLACK = 0.01
"""How far a partial index may fall below words alone."""
MOST_SECONDS = 10.0
"""Until nine of ten notes of ``_FOLDERS`` are found by their titles."""
_FOLDERS = (GARDEN, "multilingual-help/notes/en", "multilingual-help/notes/de")
_TITLES = 100


def measure_steps(given: Given) -> Iterator[Measured]:
    """Yield any@5 of two sets with part of the vectors, and the seconds until titles are found."""
    need_models("minilm")
    embedder = RememberingEmbedder(get_embedder("minilm"), given.cache)
    file, gold = given.find_talks()
    pages = load_pages(given.find("multilingual-help"))
    sets = {
        "LoCoMo turns": list(load_locomo(file, gold=gold)),
        "help pages": [one for one in pages if one.group == "en"],
    }
    for name, collections in sets.items():
        corpora = [open_corpus(one, given.cache, embedder) for one in collections]
        ask = partial(_ask, collections, corpora, embedder)
        words = ask(0.0)
        yield Measured(f"{name}, words alone", words, "any@5")
        for share in SHARES:
            what = f"{name}, with vectors of {share:.0%}"
            yield at_least(what, fmean(ask(share, seed) for seed in (1, 2)), "any@5", words - SLACK)
        yield Measured(f"{name}, with all", ask(1.0), "any@5")
    embedder.save()
    yield _time_titles([given.find(name) for name in _FOLDERS])


def _ask(
    collections: Sequence[Collection],
    corpora: Sequence[Corpus],
    embedder: Embedder,
    share: float,
    seed: int = 0,
) -> float:
    """Return any@5 where a share of the notes have vectors; of few notes, of their passages."""
    found = []
    for collection, corpus in zip(collections, corpora, strict=True):
        snapshot = keep_vectors(corpus.snapshot, share, embedder, seed=seed)
        vectors = embedder.embed_queries([question.text for question in collection.questions])
        for question, vector in zip(collection.questions, vectors, strict=True):
            asked = " ".join(question.text.split())
            hits = search(
                Query(asked, question.as_of, Filters(), vector if share else None),
                snapshot,
                profile=get_profile("hybrid"),
                limit=5,
                per_note=not collection.ranks_passages,
                neighbors=0,
            ).hits
            places = [(hit.path, hit.chunk.first_line if hit.chunk else 1) for hit in hits]
            unit = partial(corpus.unit, is_passage=collection.ranks_passages)
            found.append(any(unit(*place) in question.gold for place in places))
    return fmean(found)


def keep_vectors(
    snapshot: Snapshot, share: float, embedder: Embedder, *, seed: int = 0
) -> Snapshot:
    """Return an index in which only so many notes have vectors, calibrated as a build does it."""
    if share in (0.0, 1.0):
        return snapshot
    rng, owner = np.random.default_rng(seed), snapshot.row_owner
    lacking = rng.random(len(owner)) >= share
    if len(snapshot.paths) > 100:
        lacking = (rng.random(len(snapshot.paths)) >= share)[owner]
    (segment,) = snapshot.segments
    matrix: Matrix = np.where(lacking[:, None], np.float32(0), segment.vectors)
    folds = [fold_segments([segment.with_vectors({"vectors": matrix}, lacking)])]
    partly = Snapshot(snapshot.commit, folds, rooms=snapshot.room_map)
    figures = calibrate(partly, embedder.embed_passages)
    figures |= find_best_null(partly, embedder.embed_queries(read_questions()))
    return Snapshot(replace(snapshot.commit, calibration=figures), folds, rooms=snapshot.room_map)


def _time_titles(folders: Sequence[Path]) -> Measured:
    """Start a build in a process of its own; time it until titles find nine notes of ten."""
    with scratch_folder() as root:
        for folder in folders:
            copytree(folder, root / folder.name)
        palace = Palace.init(root, here=True)
        files = sorted(path for path in root.rglob("*.md") if ".palace" not in path.parts)
        started, share = time.monotonic(), 0.0
        with subprocess.Popen(command(root, "index", "-q")) as build:
            while share < 0.9 and build.poll() is None:
                time.sleep(0.1)
                if palace.paths.commit.exists():
                    seconds = time.monotonic() - started  # asking a hundred titles takes another
                    titles = [(note.title, note.path) for note in palace.notes()]
                    asked = titles[:: max(len(titles) // _TITLES, 1)]
                    hits = [palace.query(title, limit=5, neighbors=0).hits for title, _ in asked]
                    names = zip(asked, hits, strict=True)
                    right = sum(path in {hit.path for hit in five} for (_, path), five in names)
                    share = right / len(asked) * len(titles) / len(files)
            build.terminate()
    what = f"{len(files):,} notes of others: nine of ten found by title"
    return Measured(what, seconds if share >= 0.9 else None, "s", limit=MOST_SECONDS)
