"""Figures with their baselines and limits, as lines or as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from memory_palace.bench.timing import Measured
from memory_palace.cli.printing import SCHEMA, print_json


def print_measured(rows: Iterable[Measured], *, as_json: bool) -> None:
    """Print each figure once it is there."""
    for row in rows:
        if as_json:
            record = asdict(row) | {"ratio": row.ratio, "is_kept": row.is_kept}
            print_json({"schema": SCHEMA, **record})
        else:
            print(_line(row), flush=True)


def _line(row: Measured) -> str:
    if row.value is None:
        return f"{row.what:<46} {row.note}"
    line = f"{row.what:<46} {_number(row.value):>9} {row.unit}"
    if row.ratio is not None and row.baseline is not None:
        line += f" = {row.ratio:.2f} x {row.beside} ({_number(row.baseline)})"
    if row.limit is not None:
        word = "kept" if row.is_kept else "NOT KEPT"
        line += f"  [{'>=' if row.at_least else '<='} {row.limit:g}: {word}]"
    return line if row.before is None else f"{line}  before: {row.before:g}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
