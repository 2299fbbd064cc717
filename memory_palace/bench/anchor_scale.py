"""How long anchors take on generated notes: lookup, build and update."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import numpy as np

from memory_palace.anchors.corpus import distinct_rows, row_keys
from memory_palace.anchors.postings import make_lists, score_pairs
from memory_palace.bench.generate import generated_palace
from memory_palace.bench.timing import Measured, time_calls
from memory_palace.index.context import Followed
from memory_palace.models import Query
from memory_palace.palace import Palace
from memory_palace.places import PALACE

ANCHORS = 400
LOOKUPS = 300
UPDATES = 5


def measure_anchor_scale(notes: int) -> list[Measured]:
    """Measure anchors on two palaces, one of ten times the notes of the other."""
    small, large = (_measure(count) for count in (notes // 10, notes))
    tenth, plain = "a tenth of the passages", "the plain product"
    whole = "whole anchor build, vocabulary and all"
    rows = [
        Measured("anchor lookup, p50", large["p50"], "ms", tenth, small["p50"], limit=1.3),
        Measured("anchor lookup, p95", large["p95"], "ms", limit=5),
        Measured(f"{ANCHORS} anchor lists", large["lists"], "s", plain, large["product"], limit=5),
        Measured(whole, large["build"], "s", plain, large["product"]),
        Measured("anchors' part in an update of a note", large["update"], "ms", limit=100),
    ]
    return [replace(row, what=f"{row.what}, {large['chunks']:.0f} passages") for row in rows]


def _measure(notes: int) -> dict[str, float]:
    with generated_palace(notes) as root:
        palace = Palace(root)
        settings = replace(palace.config.anchors, vocabulary=ANCHORS)
        palace = Palace(root, config=replace(palace.config, anchors=settings))
        palace.index(embedder="hashing")
        started = time.perf_counter()
        palace.anchors.build()
        build = time.perf_counter() - started
        lookups = _lookups(palace)
        product, lists = _lists(palace)
        return {
            "chunks": float(len(palace.snapshot().row_note)),
            "p50": float(np.percentile(lookups, 50)),
            "p95": float(np.percentile(lookups, 95)),
            "build": build,
            "product": product,
            "lists": lists,
            "update": _update(palace),
        }


def _lookups(palace: Palace) -> list[float]:
    """Return the milliseconds that the anchors of a question and their passages take.

    Ranking all passages and reading those that answer is left out: every profile does that.
    """
    snapshot = palace.snapshot()
    anchors = palace.anchors.book(snapshot).anchors
    rng = random.Random(1)
    times = []
    for _ in range(LOOKUPS):
        text = f"can we talk about {rng.choice(anchors).display} and {rng.choice(anchors).display}?"
        started = time.perf_counter()
        palace.anchors.ask(Query(text, 0.0), snapshot)
        times.append((time.perf_counter() - started) * 1000)
    return times[LOOKUPS // 10 :]  # the first ones read pages from disk


def _lists(palace: Palace) -> tuple[float, float]:
    snapshot = palace.snapshot()
    book = palace.anchors.book(snapshot)
    keys, rows = distinct_rows(snapshot)
    work = palace.anchors.work()
    vectors = snapshot.rows_of(rows)

    def list_all() -> None:
        anchors, found, scores = score_pairs(book.matrix, snapshot, rows, theta=book.tiers[0].theta)
        scored = anchors, row_keys(snapshot)[found], scores
        make_lists(work, snapshot, (keys, rows), scored, count=len(book.anchors), limit=20)

    product, lists = time_calls(lambda: book.matrix @ vectors.T, list_all, runs=1)
    return product / 1000, lists / 1000


def _update(palace: Palace) -> float:
    """Return the median milliseconds that following one changed note takes."""
    follow, times = palace.anchors.follow, []

    def timed(*arguments: object) -> Followed:
        started = time.perf_counter()
        followed = follow(*arguments)  # type: ignore[arg-type]
        times.append((time.perf_counter() - started) * 1000)
        return followed

    palace.anchors.follow = timed  # type: ignore[method-assign, assignment]
    path = palace.paths.root / PALACE / "chambers" / "new.md"
    for number in range(UPDATES):
        path.write_text(f"# New {number}\n\nA **new term {number}** came today.\n", "utf-8")
        palace.index()
    return float(np.median(times))
