"""Options that several benchmarks share, and the printing of their rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from typer import Option

from benchmarks.timing import Measured
from memory_palace.embedding.registry import cache_folder
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.shown import print_json, to_record

KEPT = "stopped; vectors and answers are kept, and the same command goes on from there"
Unit: TypeAlias = Literal["turn", "session"]
Mode = Annotated[
    list[str] | None,
    Option("--mode", help="bm25, vector, fusion, hybrid, grep or a profile; repeatable."),
]
Cache = Annotated[Path | None, Option("--cache", help="Folder for vectors, indexes and runs.")]
Data = Annotated[
    Path | None,
    Option("--data", envvar="PALACE_BENCH_DATA", help="Folder of question sets and vaults."),
]
EmbedderName = Annotated[str, Option("--embedder", help="Name of the embedder.")]
Gold = Annotated[
    Path | None, Option("--gold", help="JSONL of normalised labels instead of the file's.")
]
Shown = Annotated[
    bool, Option("--shown", help="Measure the text of the hits instead of the ranking.")
]
Product = Annotated[
    bool,
    Option(
        "--product",
        help="Ask as `palace query` does: notes in a folder, the ordinary index, its flags.",
    ),
]
UnitOption = Annotated[Unit, Option("--unit", help="What to rank: turns or sessions.")]
Plots = Annotated[Path | None, Option("--plots", help="Draw SVG files into this folder.")]
Runs = Annotated[int, Option("--runs", min=1, help="Runs of each process.")]
Seed = Annotated[int, Option("--seed", help="Seed of everything random.")]


class Rows:
    """Prints rows as they come; as JSON one object at the end, with lists of rows by name."""

    def __init__(self, *names: str, as_json: bool) -> None:
        self._as_json = as_json
        self.record: dict[str, Any] = {name: [] for name in names or ("rows",)}

    def add(
        self, row: object, lines: str | Iterable[str], *, to: str = "rows", **more: object
    ) -> None:
        """Print a row as its lines, or keep it, with ``more`` keys, in the list ``to``."""
        self.record[to].append(to_record(row) | more)
        if not self._as_json:
            for line in [lines] if isinstance(lines, str) else lines:
                print(visible(line), flush=True)


@contextmanager
def printing(*names: str, as_json: bool) -> Iterator[Rows]:
    """Give rows to print; a run that is stopped or fails prints no half of an object."""
    rows = Rows(*names, as_json=as_json)
    yield rows
    if as_json:
        print_json({"schema": 2, **rows.record})


def print_figures(figures: Iterable[Measured], *, as_json: bool) -> bool:
    """Print figures with their baselines and limits; return whether every limit is kept."""
    is_kept = True
    with printing("figures", as_json=as_json) as rows:
        for row in figures:
            rows.add(row, _line(row), to="figures", ratio=row.ratio, kept=row.is_kept)
            is_kept &= row.is_kept is not False
    return is_kept


def cache_of(given: Path | None) -> Path:
    """Return where vectors, indexes and runs are kept."""
    return given if given is not None else cache_folder(os.environ) / "bench"


def need_data(given: Path | None) -> Path:
    """Return the folder of question sets; raise ``UsageError`` where none is named."""
    if given is None:
        raise UsageError("give --data, the folder of question sets (references/measurements.md)")
    return given


def _line(row: Measured) -> str:
    if row.value is None:
        return f"{row.what:<46} {row.note}"
    line = f"{row.what:<46} {_number(row.value):>9} {row.unit}"
    if row.ratio is not None and row.baseline is not None:
        line += f" = {row.ratio:.2f} x {row.beside} ({_number(row.baseline)})"
    if row.limit is not None:
        word = "kept" if row.is_kept else "NOT KEPT"
        line += f"  [{'>=' if row.at_least else '<='} {row.limit:g}: {word}]"
    return f"{line}  {row.note}" if row.note else line


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
