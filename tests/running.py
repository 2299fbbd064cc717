"""Run a command line of ``palace`` in this process."""

import os
import subprocess
from contextlib import suppress

from typer.testing import CliRunner

from memory_palace.cli.app import main
from memory_palace.cli.group import app


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


def read_screen(terminal):
    """Return what is written on a terminal, by its descriptor, until its last writer ends."""
    screen = b""
    with suppress(OSError):  # Linux says so then
        while block := os.read(terminal, 65536):
            screen += block
    os.close(terminal)
    return screen


def git(root, *arguments, **environ):
    """Run git in a folder, as somebody."""
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    subprocess.run(command, cwd=root, env=os.environ | environ, check=True, capture_output=True)


def commit_all(root):
    """Make a folder a git repository, and commit all that is in it."""
    for line in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        git(root, *line)
