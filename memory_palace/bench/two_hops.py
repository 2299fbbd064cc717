"""Two hops beside flat top-k: what is found, and how many bytes are read to find it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from memory_palace.bench.memory_sets import MemorySet
from memory_palace.bench.metrics import paired_interval
from memory_palace.mnemonics.hierarchy import Embed, HierarchicalIndex, Retrieved, render
from memory_palace.models import Vector

CLAIMED_SAVING = 0.97
"""Of source document 000: against the whole corpus, without the root index."""
BUDGET_BYTES = 2_048


@dataclass(frozen=True, slots=True)
class HierarchyRow:
    """Both ways over one set of memories. Bytes are UTF-8, means over the questions."""

    name: str
    memories: int
    domains: int
    questions: int
    k: int
    flat_recall: float
    recall: float
    difference: float
    low: float
    high: float
    """Recall of two hops minus flat, with its 95 % paired bootstrap interval."""
    asked_everywhere: float
    """Share of the questions for which no domain was sure."""
    root_bytes: int
    index_bytes: float
    """Root and domain indexes, read before a memory is loaded."""
    listing_bytes: int
    """A flat listing of all subjects and anchors."""
    total_bytes: float
    flat_bytes: float
    """Listing and top-k."""
    top_k_bytes: float
    """Top-k alone, where a program ranks and nobody reads a listing."""
    corpus_bytes: int
    total_tokens: float
    most_under_budget: int
    """The longest of all texts under a budget of 2 KB."""

    @property
    def index_share(self) -> float:
        """Bytes of the index read, of the listing."""
        return self.index_bytes / self.listing_bytes


def measure_hierarchy(
    found: MemorySet,
    *,
    k: int = 3,
    embed: Embed | None = None,
    embed_query: Callable[[str], Vector] | None = None,
) -> HierarchyRow:
    """Ask every question both ways, with the same scores and the same k."""
    index = HierarchicalIndex.of(found.memories, embed=embed, embed_query=embed_query)
    texts = [text for text, _ in found.questions]
    hops = [index.look_up(text, k) for text in texts]
    flat = [index.look_up_flat(text, k) for text in texts]
    tight = [index.look_up(text, k, budget_bytes=BUDGET_BYTES) for text in texts]
    gold = [path for _, path in found.questions]
    recall, flat_recall = _hits(hops, gold), _hits(flat, gold)
    difference, low, high = paired_interval(flat_recall, recall)
    listing = flat[0].index_bytes
    return HierarchyRow(
        name=found.name,
        memories=len(found.memories),
        domains=len(index.domains),
        questions=len(gold),
        k=k,
        flat_recall=fmean(flat_recall),
        recall=fmean(recall),
        difference=difference,
        low=low,
        high=high,
        asked_everywhere=fmean([float(not one.route.is_sure) for one in hops]),
        root_bytes=len(index.root_text.encode()),
        index_bytes=fmean([one.index_bytes for one in hops]),
        listing_bytes=listing,
        total_bytes=fmean([one.context_bytes for one in hops]),
        flat_bytes=fmean([one.context_bytes for one in flat]),
        top_k_bytes=fmean([one.context_bytes - listing for one in flat]),
        corpus_bytes=sum(len(render(memory).encode()) for memory in found.memories),
        total_tokens=fmean([one.tokens for one in hops]),
        most_under_budget=max(one.context_bytes for one in tight),
    )


def _hits(found: Sequence[Retrieved], gold: Sequence[str]) -> list[float]:
    return [
        float(path in {memory.id for memory in one.memories})
        for one, path in zip(found, gold, strict=True)
    ]
