"""Run a command line of ``palace`` in this process."""

from __future__ import annotations

from memory_palace.cli.app import main


def run_main(capsys, *arguments):
    """Return the status of a command line, and what it printed on stdout and on stderr."""
    status = 0
    try:
        main(arguments)
    except SystemExit as error:
        status = error.code or 0
    printed = capsys.readouterr()
    return status, printed.out, printed.err
