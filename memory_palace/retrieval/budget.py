"""Keep an answer within a number of bytes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memory_palace.models import Hit


def fit_budget(hits: Iterable[Hit], max_bytes: int) -> list[Hit]:
    """Keep hits in order while their snippets fit into ``max_bytes`` of UTF-8.

    The first that does not fit ends the list: a worse hit is never preferred for being shorter.
    Where that is the very first, its snippet is cut, so that there is an answer.
    """
    kept: list[Hit] = []
    left = max_bytes
    for hit in hits:
        snippet = hit.snippet.encode()
        if len(snippet) > left:
            if not kept:
                kept.append(replace(hit, snippet=snippet[: max(left, 0)].decode(errors="ignore")))
            break
        kept.append(hit)
        left -= len(snippet)
    return kept
