"""``palace serve``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from typer import Exit, Option

from memory_palace.cli import group
from memory_palace.cli.app import report_errors
from memory_palace.cli.group import Group, run
from memory_palace.errors import PalaceError, UsageError
from memory_palace.index.commit import read_commit
from memory_palace.palace import Palace
from memory_palace.places import Server, socket_path
from memory_palace.server.starting import ask_status, start_server, stop_server, wait_for_server
from memory_palace.shown import Shown, inner, plural, say
from memory_palace.system import IS_POSIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memory_palace.server.resident import Lend

verbs = Group()
IDLE_MINUTES = 15.0
"""Idle time after which a server ends, to free the memory of index and model."""


@dataclass(frozen=True, slots=True)
class ServerStatus(Shown):
    """The server of a palace; without one, every field but the first is ``None``."""

    is_served: bool
    pid: int | None = None
    since: str | None = None
    """When it started, UTC."""
    answered: int | None = None
    """Requests that it has answered."""
    peak_memory_bytes: int | None = None
    without: str = inner(default="")
    """The line to print if no server runs."""
    error: Exit | None = inner(default=None)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> ServerStatus:
        """Parse the reply of a server."""
        since = datetime.fromtimestamp(float(found["since"]), UTC).isoformat(timespec="seconds")
        return cls(True, found["pid"], since, found["answered"], found["peak_memory_bytes"])

    def lines(self) -> Iterable[str]:
        if not self.is_served:
            return [self.without]
        answers, memory = plural(self.answered or 0, "answer"), (self.peak_memory_bytes or 0) / 1e6
        return [
            f"served by process {self.pid} since {self.since}",
            f"{answers}, {memory:.0f} MB at most",
        ]

    def failure(self) -> Exit | None:
        return self.error


@verbs.verb("serve")
def serve_palace(
    palace: Palace,
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
) -> ServerStatus | None:
    """Keep the palace open in one process that answers query, recall, show and verify at once.

    Example: palace serve --background
    """
    if sum((background, stop, status)) > 1:
        raise UsageError("give one of --background, --stop and --status")
    if not IS_POSIX:
        raise UsageError("palace serve needs Unix sockets, which this system does not have")
    root = os.path.realpath(palace.paths.root)
    if background:
        return _start(palace, root, ["--idle", str(idle), *(["--no-watch"] if no_watch else [])])
    if stop:
        was_there = stop_server(root, os.environ)
        return ServerStatus(False, without="stopped" if was_there else "this palace was not served")
    if status:
        found = ask_status(root, os.environ)
        gone = ServerStatus(False, without="this palace is not served", error=Exit(1))
        return ServerStatus.of(found) if found else gone
    from memory_palace.server.resident import serve  # delayed: only this process serves

    _let_go_of_what_was_inherited()
    why = serve(palace.paths, _run_lending, idle_seconds=idle * 60, watches=not no_watch)
    say(f"ends: {why}")
    return None


def _start(palace: Palace, root: str, given: list[str]) -> ServerStatus:
    read_commit(palace.paths.commit)  # raises if there is no index
    found = ask_status(root, os.environ)
    if found is None:
        address = socket_path(root, os.environ)
        start_server(Server(root, palace.paths.own.name, address), given)
        found = wait_for_server(root, os.environ)
    if found is None:
        raise PalaceError("the server does not start; `palace serve` says why")
    return ServerStatus.of(found)


def _run_lending(arguments: list[str], lend: Lend) -> int:
    """Run a command line as the terminal would, sharing the open palace through ``lend``."""
    group.lend = lend
    try:
        return report_errors(run, arguments)
    finally:
        group.lend = None


def _let_go_of_what_was_inherited() -> None:
    """Close inherited descriptors, so that no pipe of the parent stays open."""
    for name in os.listdir("/dev/fd"):  # noqa: PTH208
        number = int(name)
        try:
            if number > 2 and os.get_inheritable(number):
                os.close(number)
        except OSError:
            continue  # the listing's own descriptor
