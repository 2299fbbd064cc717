"""Run a command line of ``palace`` in this process."""

from __future__ import annotations

from typer.testing import CliRunner

from memory_palace.cli.app import main
from memory_palace.cli.commands import app


def run_main(capsys, *arguments):
    """Return the status of a command line, and what it printed on stdout and on stderr."""
    status = 0
    try:
        main([str(part) for part in arguments])
    except SystemExit as error:
        status = error.code or 0
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def run_well(*arguments):
    """Return what a command line printed on stdout and on stderr; it has to succeed."""
    done = CliRunner().invoke(app, [str(part) for part in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr
