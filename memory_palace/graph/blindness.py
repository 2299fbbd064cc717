"""Check that nothing which is derived from notes shows a cold one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from memory_palace.graph.router import LinkGraph


@dataclass(frozen=True, slots=True, order=True)
class Leak:
    """A cold path where none may be."""

    where: Literal["manifest", "index", "graph", "query"]
    path: str
    detail: str = ""
    """Through which note it is reached, where it is reached through one."""

    def __str__(self) -> str:
        return f"{self.where}: {self.path}" + (f" ({self.detail})" if self.detail else "")


def find_cold_leaks(
    *,
    is_cold: Callable[[str], bool],
    manifest: Iterable[str],
    indexed: Iterable[str],
    graph: LinkGraph,
    hits: Iterable[str],
) -> list[Leak]:
    """Return every cold path in the manifest, hot index, graph, or hits of a test query.

    ``is_cold`` decides on a path relative to the root. Nothing is read or written.
    """
    leaks = [Leak("manifest", path) for path in manifest if is_cold(path)]
    leaks += [Leak("index", path) for path in indexed if is_cold(path)]
    leaks += [Leak("graph", path) for path in graph.paths if is_cold(path)]
    leaks += [
        Leak("graph", target, f"linked from {edge.source}")
        for edge in graph.edges
        for target in edge.targets
        if is_cold(target)
    ]
    leaks += [Leak("query", path) for path in hits if is_cold(path)]
    return sorted(set(leaks))
