"""``palace status``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from typer import Context

from memory_palace.agents.hook_log import HookHealth, read_health
from memory_palace.cli.drawing import PlotFile
from memory_palace.cli.history import History, show_history
from memory_palace.cli.models import advice_record, write_share
from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.printing import plural, print_answer, to_record
from memory_palace.index.advice import ModelAdvice, advise
from memory_palace.index.chat import read_chat
from memory_palace.index.status import IndexStatus
from memory_palace.notes.usage import USAGE, logs_usage


def show_status(
    ctx: Context, history: History = False, plot: PlotFile = None, as_json: Json = False
) -> None:
    """Show what the index holds, whether it is up to date, and the problems found in notes.

    --history shows the last 53 weeks instead, as far as notes and logs tell: what was written,
    changed, used, reviewed and archived. --plot draws it.

    Example: palace status
    """
    palace = open_palace(ctx)
    status, is_logged = palace.status(), logs_usage(palace.paths, palace.config)
    advice = advise(palace.paths, palace.config)
    health = read_health(palace.paths)
    record = _record(status) | {"usage_logged": is_logged} | advice_record(advice)
    record["hooks"] = to_record(health)
    lines = [*_lines(status, advice), *_hooks(health)]
    if is_logged:
        settings = palace.paths.shown(palace.paths.settings)
        where = palace.paths.shown(palace.paths.logs / USAGE)
        words = "which notes are opened or cited is logged in"
        lines.append(f"usage      {words} {where}; `usage_log: off` in {settings} ends it")
    if history or plot is not None:
        found, lines = show_history(palace, plot)
        record["history"] = found
    print_answer(record, lines, as_json=as_json)


def _built(status: IndexStatus) -> datetime:
    return datetime.fromtimestamp(status.built_ns / 1e9, UTC)


def _record(status: IndexStatus) -> dict[str, Any]:
    record: dict[str, Any] = to_record(status)
    del record["built_ns"]
    return record | {
        "built": _built(status).isoformat(timespec="seconds"),
        "freshness": status.freshness.state,
        "behind": status.freshness.behind,
        "left_out": list(status.freshness.left_out),
    }


def _hooks(health: HookHealth) -> Iterator[str]:
    if health.last is not None:
        yield f"hooks      last called {_describe_call(health.last)}"
    if health.failure is not None and health.failure != health.last:
        yield f"hooks      last failed {_describe_call(health.failure)}"
    yield from (f"hooks      fails: {line}" for line in health.failing)


def _describe_call(record: Mapping[str, Any]) -> str:
    words = (record.get(key) for key in ("time", "event", "harness", "result", "why"))
    return ", ".join(str(word) for word in words if word)


def _languages(advice: ModelAdvice) -> Iterator[str]:
    if advice.share.told:
        yield f"{write_share(advice.share)} of {plural(advice.share.told, 'passage')} not English"
    if advice.embedder:
        yield f"{advice.embedder} would serve them better: `{advice.command}`"


def _recall(status: IndexStatus) -> Iterator[str]:
    if "bar" in status.chat:
        count, reached = len(read_chat()), status.chat["bar"]
        yield f"recall     99 % of {count} lines of small talk reach at most {reached:.2f} here"


def _lines(status: IndexStatus, advice: ModelAdvice) -> list[str]:
    total = sum(status.index_bytes.values())
    parts = ", ".join(f"{name} {size / 1024:,.0f} KiB" for name, size in status.index_bytes.items())
    behind, has_rooms = status.freshness.behind, set(status.rooms) != {"(no room)"}
    held = (f"{size / 1024:,.0f} KiB of {name}" for name, size in status.vector_bytes.items())
    vectors = f": {' + '.join(held)}" * bool(status.vector_bytes)
    lines = [
        f"notes      {status.notes} ({status.cold} cold), {plural(status.chunks, 'chunk')}",
        *(f"  {room:<18} {count}" for room, count in status.rooms.items() if has_rooms),
        f"embedder   {status.embedder}, {status.dimension} dimensions{vectors}",
        *(f"languages  {line}" for line in _languages(advice)),
        f"index      generation {status.generation}, built "
        f"{_built(status).isoformat(' ', 'seconds')}, {plural(status.segments, 'segment')}, "
        f"{plural(status.dead_rows, 'dead row')}",
        f"size       {total / 1024:,.0f} KiB: {parts}",
        *_recall(status),
        f"freshness  {status.freshness.state}" + (f", {plural(behind, 'note')}" if behind else ""),
    ]
    lines += [
        f"left out   {path} (a line `!{path.rstrip('/').rpartition('/')[2]}` in .palaceignore "
        "takes it in)"
        for path in status.freshness.left_out
    ]
    lines += [f"manifest   lists a missing file: {path}" for path in status.manifest_orphans]
    return lines + [f"problem    {problem}" for problem in status.problems]
