"""``palace bench pages``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from memory_palace.bench.datasets.pages import load_pages
from memory_palace.bench.pages import MEASURES, PageFigures, judge_pages, sum_up
from memory_palace.cli.bench_options import Cache, EmbedderName, Mode, printing
from memory_palace.cli.bench_sets import ask_all
from memory_palace.cli.options import Json
from memory_palace.cli.printing import plural

_MODES = ("hybrid", "vector", "bm25")
ASKED_IN = "en"


def pages(
    folder: Annotated[
        Path, Argument(help="Folder with notes/LANG/ and questions.jsonl, as a set of pages has.")
    ],
    across: Annotated[
        bool, Option("--across", help="Ask the English questions of the other languages' pages.")
    ] = False,
    mode: Mode = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask the same pages in several languages, each a palace of its own, the worst one first.

    Pages are indexed as they stand and asked as `palace query` asks. A mean is of the languages
    other than English.

    Example: palace bench pages multilingual-help --across
    """
    asked = list(load_pages(folder, asked_in=ASKED_IN if across else None))
    name = "pages-across" if across else "pages"
    modes = list(dict.fromkeys(mode or _MODES))
    runs = [ask_all(name, asked, each, embedder, cache, is_product=True) for each in modes]
    found = judge_pages(runs)
    with printing("languages", "means", as_json=as_json) as rows:
        for number, (language, figures) in enumerate(found.items()):
            lines = [*(_head(modes) if not number else ()), _line(language, figures)]
            for place, one in enumerate(figures):
                rows.add(one, () if place else lines, to="languages")
        for row in sum_up(found, but=ASKED_IN):
            line = (
                f"{row.system}: mean of {plural(row.languages, 'language')} "
                f"any@5 {row.any_at_5:.3f}, MRR {row.mrr:.3f}, nDCG@10 {row.ndcg_at_10:.3f}; "
                f"least any@5 {row.least:.3f} ({row.least_in})"
            )
            rows.add(row, line, to="means")


def _head(modes: Sequence[str]) -> Iterator[str]:
    columns = [f"{mode} {measure}" for mode in modes for measure in MEASURES]
    yield f"| language | questions | {' | '.join(columns)} |"
    yield "|" + "---|" * (2 + len(columns))


def _line(language: str, figures: Sequence[PageFigures]) -> str:
    cells = [f"{value:.3f}" for one in figures for value in (one.any_at_5, one.mrr, one.ndcg_at_10)]
    return f"| {language} | {figures[0].questions} | {' | '.join(cells)} |"
