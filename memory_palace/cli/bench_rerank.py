"""``palace bench rerank``."""

from __future__ import annotations

from memory_palace.bench.reranking import measure_reranking
from memory_palace.cli.bench_options import add_measured, printing
from memory_palace.cli.options import Json, Rerank


def run_rerank(rerank: Rerank = None, as_json: Json = False) -> None:
    """Measure questions that a cross-encoder orders, on generated notes with minilm.

    Without --rerank its weights are drawn by chance, of the size of ms-marco-MiniLM-L6.

    Example: palace bench rerank
    """
    with printing("figures", as_json=as_json) as printed:
        for row in measure_reranking(rerank):
            add_measured(printed, row)
