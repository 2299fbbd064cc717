"""``palace status``: one screen, and with ``--details`` the figures of the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Annotated, Any

from typer import Context, Option

from memory_palace.cli.cells import cut_end, cut_middle
from memory_palace.cli.options import Json, open_palace
from memory_palace.features.agents.hook_log import HookHealth, read_health
from memory_palace.features.upkeep.models import advice_record, write_share
from memory_palace.features.upkeep.standing import (
    describe_freshness,
    describe_model,
    describe_notes,
    lay_steps,
    next_steps,
)
from memory_palace.index.advice import ModelAdvice, advise
from memory_palace.index.chat import read_lines
from memory_palace.index.status import IndexStatus
from memory_palace.notes.usage import USAGE, logs_usage
from memory_palace.palace import Palace
from memory_palace.shown import plural, print_answer, to_record

_WIDTH, _INDENT = 80, 11
_MOST_STEPS = 2
_MOST_TROUBLES = 3
"""Problems that are named one by one, and calls of hooks."""


def show_status(
    ctx: Context,
    details: Annotated[
        bool,
        Option("--details", help="Everything in full, with the figures of the index."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show what the palace holds, whether the index is up to date, problems, and what to do next.

    Example: palace status
    """
    palace = open_palace(ctx)
    status, is_logged = palace.status(), logs_usage(palace.paths, palace.config)
    advice = advise(palace.paths, palace.config)
    health = read_health(palace.paths)
    record = _record(status) | {"usage_logged": is_logged} | advice_record(advice)
    record["hooks"] = to_record(health)
    usage = _usage(palace) if is_logged else []
    if details:
        lines = [*_figures(status, advice), *_in_full(status, health, usage)]
    else:
        place = cut_middle(str(palace.paths.root.resolve()), _WIDTH - _INDENT)
        lines = [f"palace     {place}", *_screen(status, advice, health, usage)]
    lines += lay_steps(islice(next_steps(palace, status, advice), _MOST_STEPS))
    print_answer(record, lines, as_json=as_json)


def _usage(palace: Palace) -> list[str]:
    """Return where it is logged what is opened and cited, and how to end that."""
    where = palace.paths.shown(palace.paths.logs / USAGE)
    settings = palace.paths.shown(palace.paths.settings)
    return [f"logged in {where};", f"`usage_log: off` in {settings} ends it"]


def _in_full(status: IndexStatus, health: HookHealth, usage: Sequence[str]) -> Iterator[str]:
    yield from _label("hooks", _hooks(health))
    yield from _label("usage", [f"what is opened or cited is {' '.join(usage)}"] if usage else [])
    yield from _label("left out", map(_taking_in, status.freshness.left_out))
    yield from _label("manifest", (f"lists a missing file: {p}" for p in status.manifest_orphans))
    yield from _label("problem", map(str, status.problems))


def _screen(
    status: IndexStatus, advice: ModelAdvice, health: HookHealth, usage: Sequence[str]
) -> Iterator[str]:
    """Yield at most 20 lines of 80 columns, what matters most first."""
    yield f"notes      {describe_notes(status)}"
    yield from _rooms(status.rooms)
    yield f"index      {describe_freshness(status)}"
    yield cut_end(f"model      {describe_model(status)}", _WIDTH)
    if advice.embedder:
        yield from _label("languages", _languages(advice)[:1])
    troubles = [
        *map(str, sorted(status.problems, key=lambda problem: not problem.is_failure)),
        *(f"the manifest lists a missing file: {path}" for path in status.manifest_orphans),
        *(f"a hook fails: {line}" for line in health.failing),
    ]
    yield from _label("problems", _few(troubles))
    if left_out := status.freshness.left_out:
        more = ": `palace status --details`"
        few = left_out[0] if len(left_out) == 1 else f"{len(left_out):,} files and folders"
        yield f"left out   {cut_middle(few, _WIDTH - _INDENT - len(more))}{more}"
    yield from (cut_end(line, _WIDTH) for line in _label("usage", usage))


def _rooms(rooms: Mapping[str, int]) -> Iterator[str]:
    """Yield a row per room: there are seven, and what is in none."""
    if set(rooms) != {"(no room)"}:
        yield from (f"  {room:<18} {count:>6,}" for room, count in rooms.items())


def _few(troubles: Sequence[str]) -> Iterator[str]:
    """Yield the first, cut to the screen, and where the rest is to be seen."""
    yield from (cut_end(trouble, _WIDTH - _INDENT) for trouble in troubles[:_MOST_TROUBLES])
    if (more := len(troubles) - _MOST_TROUBLES) > 0:
        yield f"and {more:,} more: `palace status --details`"


def _label(name: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines behind their name, which stands on the first."""
    for line in lines:
        yield f"{name:<{_INDENT}}{line}"
        name = ""


def _record(status: IndexStatus) -> dict[str, Any]:
    record: dict[str, Any] = to_record(status)
    del record["built_ns"]
    return record | {
        "built": datetime.fromtimestamp(status.built_ns / 1e9, UTC).isoformat(timespec="seconds"),
        "freshness": status.freshness.state,
        "behind": status.freshness.behind,
        "left_out": list(status.freshness.left_out),
    }


def _hooks(health: HookHealth) -> Iterator[str]:
    if health.last is not None:
        yield f"last called {_describe_call(health.last)}"
    if health.failure is not None and health.failure != health.last:
        yield f"last failed {_describe_call(health.failure)}"
    yield from (f"fails: {line}" for line in health.failing)


def _describe_call(record: Mapping[str, Any]) -> str:
    words = (record.get(key) for key in ("time", "event", "harness", "result", "why"))
    return ", ".join(str(word) for word in words if word)


def _languages(advice: ModelAdvice) -> list[str]:
    lines = []
    if advice.share.told:
        told = plural(advice.share.told, "passage")
        lines.append(f"{write_share(advice.share)} of {told} not English")
    if advice.embedder:
        lines.append(f"{advice.embedder} would serve them better: `{advice.command}`")
    return lines


def _figures(status: IndexStatus, advice: ModelAdvice) -> Iterator[str]:
    """Yield what the screen says, and what only who looks after the index asks."""
    yield f"notes      {describe_notes(status)}"
    yield from _rooms(status.rooms)
    yield f"index      {describe_freshness(status)}"
    yield f"model      {describe_model(status)}, {status.dimension} dimensions"
    yield from _label("languages", _languages(advice))
    yield (
        f"generation {status.generation}, {plural(status.segments, 'segment')}, "
        f"{plural(status.dead_rows, 'dead row')}"
    )
    parts = ", ".join(f"{name} {size / 1024:,.0f} KiB" for name, size in status.index_bytes.items())
    yield f"size       {sum(status.index_bytes.values()) / 1024:,.0f} KiB: {parts}"
    if "bar" in status.chat:
        count, reached = len(read_lines("chat")), status.chat["bar"]
        yield f"recall     90 % of {count} lines of small talk reach at most {reached:.2f} here"


def _taking_in(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return f"{path} (a line `!{name}` in .palaceignore takes it in)"
