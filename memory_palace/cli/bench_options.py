"""Options that several benchmarks share, and how their rows are printed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from typer import Option

from memory_palace.bench.timing import Measured
from memory_palace.cli.printing import print_answer, to_record
from memory_palace.language.visible import visible

KEPT = "stopped; vectors and answers are kept, and the same command goes on from there"
Unit: TypeAlias = Literal["turn", "session"]
Mode = Annotated[
    list[str] | None,
    Option("--mode", help="bm25, vector, fusion, hybrid, grep or a profile; repeatable."),
]
Cache = Annotated[Path | None, Option("--cache", help="Folder for vectors, indexes and runs.")]
EmbedderName = Annotated[str, Option("--embedder", help="Name of the embedder.")]
Gold = Annotated[
    Path | None, Option("--gold", help="JSONL of normalised labels instead of the file's.")
]
Audited = Annotated[
    bool, Option("--audited", help="Leave out labels that --gold marks as disputed.")
]
Shown = Annotated[
    bool, Option("--shown", help="Measure what is shown of the hits instead of the ranking.")
]
Product = Annotated[
    bool,
    Option(
        "--product",
        help="Ask as `palace query` does: notes in a folder, the ordinary index, its flags.",
    ),
]
UnitOption = Annotated[Unit, Option("--unit", help="What to rank: turns or sessions.")]
Seed = Annotated[int, Option("--seed", help="Seed of everything random.")]
Rounds = Annotated[
    int, Option("--rounds", min=1, help="Rounds from the same start, each with a seed.")
]
Asked = Annotated[
    int | None, Option("--asked", min=1, help="Questions of the Examiner; default: one per memory.")
]


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
    """Give rows to print; what is stopped or fails prints no half of an object."""
    rows = Rows(*names, as_json=as_json)
    yield rows
    print_answer(rows.record, as_json=as_json)


def add_measured(rows: Rows, row: Measured, *, to: str = "figures") -> None:
    """Print a figure with its baseline and limit."""
    rows.add(row, _line(row), to=to, ratio=row.ratio, kept=row.is_kept)


def _line(row: Measured) -> str:
    if row.value is None:
        return f"{row.what:<46} {row.note}"
    line = f"{row.what:<46} {_number(row.value):>9} {row.unit}"
    if row.ratio is not None and row.baseline is not None:
        line += f" = {row.ratio:.2f} x {row.beside} ({_number(row.baseline)})"
    if row.limit is not None:
        word = "kept" if row.is_kept else "NOT KEPT"
        line += f"  [{'>=' if row.at_least else '<='} {row.limit:g}: {word}]"
    if row.before is not None:
        line += f"  before: {row.before:g}"
    return f"{line}  {row.note}" if row.note else line


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
