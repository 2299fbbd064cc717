"""The entry point, and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence

from memory_palace import __version__
from memory_palace.errors import PalaceError


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the ``palace`` command and exit with its status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    if given == ["--version"]:  # before anything is imported: it is asked by every script
        print(__version__)
        return
    from memory_palace.cli.commands import app

    try:
        app(args=given, prog_name="palace")
    except PalaceError as error:
        first, *more = str(error).split("\n")
        print("\n  ".join([f"palace: {first}", *more]), file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output went away; nothing of ours failed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
