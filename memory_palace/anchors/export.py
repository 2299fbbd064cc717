"""Anchors in the file shapes of source document 003: for people, and for other programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import numpy as np

from memory_palace.anchors.book import Book
from memory_palace.anchors.policy import source_of
from memory_palace.index.npz import write_arrays
from memory_palace.storage.atomic import write_atomic, write_stream


def export_files(book: Book, folder: Path) -> list[Path]:
    """Write index, vectors and figures; return the three paths.

    Texts and vectors have one row per anchor, with or without passages, in the same order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = ("hippocampus-index.json", "hippocampus-embeds.npz", "hippocampus-meta.json")
    index, embeds, meta = (folder / name for name in names)
    starts = book.starts.tolist()
    entries = {
        anchor.display: [_entry(book, place) for place in range(first, end)]
        for anchor, (first, end) in zip(book.anchors, pairwise(starts), strict=True)
        if first < end
    }
    write_atomic(index, _json(entries))
    texts = [anchor.display for anchor in book.anchors]
    members = {
        "anchor_texts": [np.array(texts or [""])[: len(texts)]],
        "anchor_embeds": [book.matrix],
    }
    write_stream(embeds, lambda file: write_arrays(file, members))
    write_atomic(meta, _json(_figures(book)))
    return [index, embeds, meta]


def _entry(book: Book, place: int) -> dict[str, object]:
    chunk = book.snapshot.chunk(int(book.rows[place]))
    return {
        "path": chunk.path,
        "line": chunk.first_line,
        "chunk_id": chunk.digest[:16],
        "score": round(float(book.scores[place]), 4),
        "source": source_of(chunk.path, book.sources, book.snapshot.room_map),
        "preview": chunk.preview[:100],
    }


def _figures(book: Book) -> dict[str, object]:
    built = max(tier.built_ns for tier in book.tiers) / 1e9
    return {
        "schema_version": 1,
        "built_at": datetime.fromtimestamp(built, UTC).isoformat(),
        "n_anchors": len(book.anchors),
        "n_chunks": len(book.snapshot.row_note),
        "n_files": len(book.snapshot.paths),
        "multi_word_anchors": sum(" " in anchor.display for anchor in book.anchors),
        "model": book.snapshot.commit.embedder,
        "dim": book.snapshot.commit.dimension,
        "theta": book.tiers[0].theta,
        "theta_mode": "calibrated" if book.settings.theta is None else "literal",
        "generation": book.snapshot.commit.generation,
    }


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()
