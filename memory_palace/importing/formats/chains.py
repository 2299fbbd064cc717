"""The branch of a conversation that its reader saw last, where messages name their parents."""

from __future__ import annotations

from typing import Any

_ROOTS = ("", "00000000-0000-4000-8000-000000000000")


def follow_parents(
    messages: list[dict[str, Any]], own: str, parent: str, leaf: str
) -> list[dict[str, Any]] | None:
    """Return the messages from the root to the leaf, in their order.

    ``None`` where that cannot be told: a name is missing or given twice, or the way up leads
    nowhere or round in a circle. The caller then keeps all, so that nothing said is lost.
    """
    known = {message[own]: message for message in messages if isinstance(message.get(own), str)}
    if len(known) < len(messages) or leaf not in known:
        return None
    chain: dict[str, dict[str, Any]] = {}
    place = leaf
    while place not in _ROOTS:
        above = known[place].get(parent) if place in known and place not in chain else 0
        if above is not None and not isinstance(above, str):
            return None
        chain[place] = known[place]
        place = above or ""
    return [chain[name] for name in reversed(chain)]
