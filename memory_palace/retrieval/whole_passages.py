"""The whole passage of each hit, where it is asked for instead of what answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_palace.config import PalacePaths
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Hit, Piece
from memory_palace.retrieval.excerpts import NoteReader, count_bytes


def full_texts(
    hits: Sequence[Hit],
    snapshot: Snapshot,
    paths: PalacePaths | None,
    *,
    max_bytes: int | None = None,
) -> list[str]:
    """Return the whole passage of each hit, or its text where the passage cannot be had.

    With ``max_bytes`` the passages that fit beside the texts of the other hits, in order.
    """
    reader = NoteReader(snapshot, paths)
    texts = [hit.text for hit in hits]
    left = None if max_bytes is None else max_bytes - sum(map(count_bytes, texts))
    for place, hit in enumerate(hits):
        passage = (
            reader.read(hit.path, hit.chunk.first_line, hit.chunk.last_line)
            if hit.chunk and hit.chunk.preview
            else ""
        )
        more = count_bytes(passage) - count_bytes(texts[place])
        if passage and (left is None or more <= left):
            texts[place] = passage
            left = None if left is None else left - more
    return texts


def show_whole(hits: Sequence[Hit], snapshot: Snapshot, max_bytes: int | None) -> list[Hit]:
    """Return hits of which the whole passage is what answers; see ``full_texts``."""
    found: list[Hit] = []
    for hit, text in zip(hits, full_texts(hits, snapshot, None, max_bytes=max_bytes), strict=True):
        if hit.chunk is not None and text:
            lines = hit.chunk.first_line, hit.chunk.last_line
            hit = replace(hit, pieces=(Piece(text, *lines, 0, "", 0.0, is_verbatim=True),))
        found.append(hit)
    return found
