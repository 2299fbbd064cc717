"""Ask the anchors of a palace, and what they answered with."""

from __future__ import annotations

from memory_palace.palace import Palace
from memory_palace.settings import parse_config


def with_settings(palace: Palace, **settings: object) -> Palace:
    """Open the same palace with other settings."""
    return Palace(palace.paths.root, config=parse_config(settings))


def by_words(palace: Palace) -> Palace:
    """Open the same palace so that no anchor fires by meaning alone."""
    return with_settings(palace, anchors={"sem_theta": 1.0})


def fired_anchors(palace: Palace, text: str) -> set[tuple[str, str]]:
    """Return the anchors that a text fires, in lower case, each with how it fired."""
    found = palace.look_up(text).anchors
    assert found is not None
    return {(anchor.display.lower(), anchor.how) for anchor in found.fired}


def answered_by(palace: Palace, text: str) -> str:
    """Return which way answers a text."""
    found = palace.look_up(text).anchors
    assert found is not None
    return found.answered_by
