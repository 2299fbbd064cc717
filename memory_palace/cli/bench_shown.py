"""``palace bench locomo --shown`` and ``palace bench qmsum --shown``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path

from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.plots import draw_by_bytes
from memory_palace.bench.shown import ShownRow, measure_shown
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.cli.answers import arrange
from memory_palace.cli.bench_options import printing
from memory_palace.cli.drawing import save_pictures
from memory_palace.cli.progress import progress_line
from memory_palace.cli.screen import lay_out
from memory_palace.embedding.registry import get_embedder
from memory_palace.models import QueryResult

COLUMNS = 80


def print_shown(
    name: str,
    collections: Sequence[Collection],
    embedder: str,
    cache: Path,
    plots: Path | None,
    *,
    as_json: bool,
) -> None:
    """Measure what is shown of five hits, in JSON and on a terminal, beside simpler ways."""
    remembering = RememberingEmbedder(get_embedder(embedder), cache)
    with progress_line("shown") as progress, loading(remembering):
        rows = measure_shown(collections, embedder=remembering, draw=draw_answer, progress=progress)
    remembering.save()
    with printing(as_json=as_json) as printed:
        for row in rows:
            printed.add(row, _line(row))
    save_pictures([draw_by_bytes(f"{name}-shown", rows)], plots)


def draw_answer(root: Path, result: QueryResult) -> str:
    """Return what a terminal of 80 columns shows of an answer."""
    with chdir(root):  # paths are shown as they open from there
        rows = lay_out(arrange(root, result), result.text, width=COLUMNS, environ={})
    return "\n".join(row.plain for row in rows)


def _line(row: ShownRow) -> str:
    return (
        f"{row.system:<24} {row.group:<12} n {row.questions:<4} whole right turn {row.held:.3f} "
        f"[{row.low:.3f}, {row.high:.3f}]  {row.bytes:,.0f} bytes"
    )
