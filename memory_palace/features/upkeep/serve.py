"""``palace serve``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from typer import Context, Exit, Option

from memory_palace.cli.options import Json, open_palace
from memory_palace.errors import PalaceError, UsageError
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace
from memory_palace.places import Server, socket_path
from memory_palace.shown import plural, print_answer, say

IDLE_MINUTES = 15.0
"""Unused, it ends: it holds the index and a model in memory."""


def serve_palace(
    ctx: Context,
    background: Annotated[
        bool, Option("--background", help="Go on in the background, with no terminal.")
    ] = False,
    stop: Annotated[bool, Option("--stop", help="End the server of this palace.")] = False,
    status: Annotated[bool, Option("--status", help="Say whether this palace is served.")] = False,
    idle: Annotated[
        float, Option("--idle", min=0.01, metavar="MINUTES", help="End after that time unused.")
    ] = IDLE_MINUTES,
    no_watch: Annotated[
        bool, Option("--no-watch", help="Leave indexing to others; else notes are indexed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Keep the palace open in one process that answers query, recall, show and verify at once.

    Example: palace serve --background
    """
    if sum((background, stop, status)) > 1:
        raise UsageError("give one of --background, --stop and --status")
    if os.name != "posix":
        raise UsageError("palace serve needs Unix sockets, which this system does not have")
    palace = open_palace(ctx)
    if stop:
        _stop(palace, as_json=as_json)
    elif status:
        _show_status(palace, as_json=as_json)
    elif background:
        given = ["--idle", str(idle), *(["--no-watch"] if no_watch else [])]
        _start(palace, given, as_json=as_json)
    else:
        _serve(palace, idle, watches=not no_watch)


def _serve(palace: Palace, idle: float, *, watches: bool) -> None:
    from memory_palace.server.server import serve  # delayed: only this process serves

    _let_go_of_what_was_inherited()
    say(f"ends: {serve(palace.paths, idle_seconds=idle * 60, watches=watches)}")


def _let_go_of_what_was_inherited() -> None:
    """Close descriptors of whoever started this process: a pipe must not wait for its end."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        number = int(name)
        try:
            if number > 2 and os.get_inheritable(number):
                os.close(number)
        except OSError:
            continue  # that of the listing itself


def _start(palace: Palace, options: Sequence[str], *, as_json: bool) -> None:
    from memory_palace.server.controlling import ask_status, wait_for_server
    from memory_palace.server.starting import start_server

    root = _root(palace)
    read_commit(palace.paths.commit)  # says that there is no index
    found = ask_status(root, os.environ)
    if found is None:
        address = socket_path(root, os.environ)
        start_server(Server(root, palace.paths.own.name, address), options)
        found = wait_for_server(root, os.environ)
    if found is None:
        raise PalaceError("the server does not start; `palace serve` says why")
    print_answer(_record(found), _lines(found), as_json=as_json)


def _stop(palace: Palace, *, as_json: bool) -> None:
    from memory_palace.server.controlling import stop_server

    was_there = stop_server(_root(palace), os.environ)
    line = "stopped" if was_there else "this palace was not served"
    print_answer(_record(None), [line], as_json=as_json)


def _show_status(palace: Palace, *, as_json: bool) -> None:
    from memory_palace.server.controlling import ask_status

    found = ask_status(_root(palace), os.environ)
    lines = _lines(found) if found else ["this palace is not served"]
    print_answer(_record(found), lines, as_json=as_json)
    if found is None:
        raise Exit(1)


def _root(palace: Palace) -> str:
    return os.path.realpath(palace.paths.root)


def _record(found: Mapping[str, Any] | None) -> dict[str, Any]:
    names = ("pid", "since", "answered", "peak_memory_bytes")
    record = {name: found[name] if found else None for name in names}
    if found:
        since = datetime.fromtimestamp(float(found["since"]), UTC)
        record["since"] = since.isoformat(timespec="seconds")
    return {"served": found is not None, **record}


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    record = _record(found)
    yield f"served by process {record['pid']} since {record['since']}"
    memory = record["peak_memory_bytes"] / 1e6
    yield f"{plural(record['answered'], 'answer')}, {memory:.0f} MB at most"
