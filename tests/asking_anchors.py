"""Ask the anchors of a palace, and what they answered with."""

from collections.abc import Callable
from pathlib import Path

from memory_palace.features.anchors.lookup import find_passages
from memory_palace.palace import Palace
from memory_palace.settings import parse_config

Write = Callable[[str, str], Path]


def rebuild(palace: Palace) -> None:
    """Index what was written, and build the anchors of all notes anew."""
    palace.index()
    palace.anchors.build()


def with_settings(palace: Palace, **settings: object) -> Palace:
    """Open the same palace with other settings."""
    return Palace(palace.paths.root, config=parse_config(settings))


def fired_anchors(palace: Palace, text: str) -> set[tuple[str, str]]:
    """Return the anchors that a text fires, in lower case, each with what it is."""
    fired = find_passages(palace.anchors.book(), text).fired
    return {(one.anchor.lower(), one.kind) for one in fired}


def reached(palace: Palace, text: str) -> set[str]:
    """Return the notes that the anchors of a text lead to."""
    snapshot = palace.snapshot()
    notes = snapshot.row_note[find_passages(palace.anchors.book(), text).rows]
    return {snapshot.paths[note] for note in notes.tolist()}


def answered_by(palace: Palace, text: str) -> str:
    """Return which way answers a text."""
    return find_passages(palace.anchors.book(), text).answered_by
