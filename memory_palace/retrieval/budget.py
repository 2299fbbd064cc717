"""Keep an answer within a number of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


def fit_passages(hits: Sequence[Hit], passages: Sequence[str], max_bytes: int) -> list[str]:
    """Keep whole passages beside the snippets of their hits while both fit, in order.

    One that does not fit becomes empty: its snippet stands for it.
    """
    left = max_bytes - sum(len(hit.snippet.encode()) for hit in hits)
    kept = []
    for passage in passages:
        size = len(passage.encode())
        kept.append(passage if size <= left else "")
        left -= size if size <= left else 0
    return kept
