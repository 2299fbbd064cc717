"""The entry point, and the only place that turns errors into exit codes."""

from __future__ import annotations

import gc
import io
import os
import sys

from memory_palace import __version__
from memory_palace.errors import PalaceError
from memory_palace.places import find_server, find_verb, nearest_root, read_registered
from memory_palace.table import EARLY, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_ALLOCATED = 200_000
"""Garbage collection threshold; a command leaves few cycles. With Python's own 700, collection
takes 8 % of the CPU time of a question, mostly during imports."""
INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 plus the number of the signal, as in a shell."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the ``palace`` command and exit with its status."""
    gc.set_threshold(_ALLOCATED)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # closed by the caller: printing must fail and be reported
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:  # closed by the caller: remarks are discarded
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if status := report_errors(_run, given):
        sys.exit(status)


def run_script(*command: str, here: Path) -> None:
    """Run a command for the script of ``scripts/`` that stands for it, with its arguments.

    The palace is the nearest at or above the working folder, else the one the script belongs to.
    """
    is_near = nearest_root(os.getcwd()) is not None  # noqa: PTH109
    root = [] if is_near or "PALACE_ROOT" in os.environ else ["-C", str(here.resolve().parents[1])]
    main([*root, *command, *sys.argv[1:]])


def report_errors(run: Callable[[list[str]], int], given: list[str]) -> int:
    """Run a command line, report its errors, and return the exit status.

    Errors go to stderr, or as JSON to stdout if the line asks for it and no answer was printed.
    """
    before = _count_answers()
    try:
        try:
            return run(given)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has exited; the command did not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:  # during imports; Typer handles those of a verb
        return INTERRUPTED
    except (
        *(PalaceError, OSError, UnicodeError, RecursionError, MemoryError),
        ModuleNotFoundError,  # dependencies are not installed for this Python
    ) as error:
        from memory_palace.cli.faults import report

        return report(error, given, is_answered=_count_answers() > before)


def _count_answers() -> int:
    """Return the number of JSON values printed by this process, without an import."""
    printing = sys.modules.get("memory_palace.shown")
    return printing.answers if printing else 0


def _run(given: list[str]) -> int:
    if given == ["--version"]:  # before anything is imported: it is asked by every script
        print(__version__)
        return 0
    if (early := EARLY.get(find_verb(given))) and not {"-h", "--help"}.intersection(given):
        return int(load(early)(given, _run_here))
    server = find_server(given, os.environ)
    status = _ask_server(server.address, given) if server else None
    if status is None:
        try:
            status = _run_here(given)
        finally:
            if server and _starts_servers():
                from memory_palace.server.starting import start_server  # delayed: few want it

                sys.stdout.flush()  # print the answer before starting the server
                start_server(server)
    return status


def _ask_server(address: str, given: list[str]) -> int | None:
    if not os.path.exists(address):  # noqa: PTH110 - pathlib takes 8 ms
        return None
    from memory_palace.server.client import ask_server  # delayed: only a server needs it

    return ask_server(address, given)


def _run_here(given: list[str]) -> int:
    from memory_palace.cli.group import run

    return run(given)


def _starts_servers() -> bool:
    try:
        return read_registered()[2] == "auto"
    except (OSError, ValueError):
        return False  # `palace config register` reports it
