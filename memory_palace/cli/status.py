"""``palace status``."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import typer

from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json
from memory_palace.index.status import Status
from memory_palace.language.visible import visible


def show_status(ctx: typer.Context, as_json: Json = False) -> None:
    """Say what the index holds, how far it is behind, and what was found in the notes.

    Example: palace status
    """
    status = open_palace(ctx).status()
    if as_json:
        print_json({"schema": SCHEMA, **asdict(status)})
        return
    for line in _lines(status):
        print(visible(line))


def _lines(status: Status) -> list[str]:
    built = datetime.fromtimestamp(status.built_ns / 1e9, UTC).isoformat(" ", "seconds")
    total = sum(status.index_bytes.values())
    parts = ", ".join(f"{name} {size / 1024:,.0f} KiB" for name, size in status.index_bytes.items())
    behind = status.freshness
    lines = [
        f"notes      {status.notes} ({status.cold} cold), {status.chunks} chunks",
        *(f"  {room:<18} {count}" for room, count in status.rooms.items()),
        f"embedder   {status.embedder}, {status.dimension} dimensions",
        f"index      generation {status.generation}, built {built}, {status.segments} segments, "
        f"{status.dead_rows} dead rows",
        f"size       {total / 1024:,.0f} KiB: {parts}",
        f"freshness  {behind.state}" + (f", {behind.behind} notes" if behind.behind else ""),
    ]
    lines += [f"manifest   lists {path}, which is not there" for path in status.manifest_orphans]
    return lines + [f"problem    {problem}" for problem in status.problems]
