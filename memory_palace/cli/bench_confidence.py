"""``palace bench confidence``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

import memory_palace
from memory_palace.bench.confidence import (
    Answers,
    ask_across,
    compare,
    find_bins,
    read_groups,
    read_own,
)
from memory_palace.bench.plots import draw_reliability
from memory_palace.cli.bench_options import (
    KEPT,
    Cache,
    EmbedderName,
    printing,
)
from memory_palace.cli.bench_sets import cache_of
from memory_palace.cli.drawing import Plots, save_pictures
from memory_palace.cli.options import Json
from memory_palace.cli.progress import progress_line
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError


def run_confidence(
    data: Annotated[
        Path | None,
        Option("--data", envvar="PALACE_BENCH_DATA", help="Folder of question sets and vaults."),
    ] = None,
    notes: Annotated[
        list[Path] | None, Option("--notes", help="A folder of notes; repeatable.")
    ] = None,
    qrels: Annotated[
        list[Path] | None,
        Option("--qrels", help="Lines of question and note, a tab between; one per --notes."),
    ] = None,
    mode: Annotated[
        Literal["vector", "lexical"], Option("--mode", help="lexical compares words alone.")
    ] = "vector",
    plots: Plots = None,
    embedder: EmbedderName = "minilm",
    cache: Cache = None,
    as_json: Json = False,
) -> None:
    """Ask every collection the questions of others: what is answered, and how sure it is.

    Without --notes the sets in --data are asked.

    Example: palace bench confidence --notes work --qrels work.tsv --notes home --qrels home.tsv
    """
    if len(notes or ()) != len(qrels or ()) or len(notes or ()) == 1:
        raise UsageError("give --notes and --qrels equally often, twice at least")
    if notes:
        groups = [read_own(notes, qrels or ())]
    elif data is not None:
        groups = list(read_groups(data, Path(memory_palace.__file__).parent.parent))
    else:
        raise UsageError("give --data, or --notes and --qrels; see `palace bench confidence -h`")
    answers: dict[tuple[str, str], Sequence[tuple[float, bool]]] = {}
    with progress_line("confidence", stopped=KEPT) as progress:
        for done, group in enumerate(groups):
            progress(group[0].group, done, len(groups))
            asked = ask_across(
                group, get_embedder(embedder), cache_of(cache), lexical=mode == "lexical"
            )
            answers.update(asked)
    _print(answers, plots, as_json=as_json)


def _print(answers: Answers, plots: Path | None, *, as_json: bool) -> None:
    bins = find_bins(answers)
    with printing("pairs", "bins", as_json=as_json) as rows:
        for row in compare(answers):
            line = (
                f"{row.palace:<12} asked {row.source:<12} AUC {row.auc:.3f}  own {row.own:.3f} of "
                f"{row.own_asked:<4} foreign {row.foreign:.3f} of {row.foreign_asked}"
            )
            line += "" if row.named is None else f"  with its names {row.named:.3f}"
            line += "" if row.lost is None else f"  not found {row.lost:.3f}"
            rows.add(row, line, to="pairs")
        for one in bins:
            line = (
                f"confidence {one.confidence:.3f}  right {one.right:.3f} "
                f"[{one.low:.3f}, {one.high:.3f}] of {one.count}"
            )
            rows.add(one, line, to="bins")
    save_pictures([draw_reliability(bins)], plots)
