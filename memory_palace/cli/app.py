"""The entry point, and the one place where errors become exit codes."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable, Sequence

from memory_palace import __version__
from memory_palace.errors import PalaceError

_ALLOCATED = 200_000
"""New objects between two looks for cycles, of which a command leaves few: at Python's own 700
the looks, most of them during imports, take 8 % of the CPU time of a question."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the ``palace`` command and exit with its status."""
    gc.set_threshold(_ALLOCATED)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # closed by the caller: what is printed must fail, and be reported
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if status := report_errors(_run, given):
        sys.exit(status)


def report_errors(run: Callable[[list[str]], int], given: list[str]) -> int:
    """Run a command line, say on stderr what goes wrong, and return the exit status."""
    try:
        try:
            return run(given)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output went away; nothing of ours failed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (PalaceError, OSError, UnicodeError, RecursionError, MemoryError) as error:
        from memory_palace.cli.faults import report

        return report(error)


def _run(given: list[str]) -> int:
    if given == ["--version"]:  # before anything is imported: it is asked by every script
        print(__version__)
        return 0
    if "_PALACE_COMPLETE" in os.environ:
        from memory_palace.cli.completing import prepare_shells  # delayed: only Tab needs it

        prepare_shells()
    from memory_palace.cli.commands import run

    return run(given)
