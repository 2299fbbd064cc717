"""What is printed through the server is, byte for byte, what is printed without it."""

import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from running import read_screen, run_main
from serving_palaces import command, count_answers, start, stop

from memory_palace.cli import group

LINES = Path(__file__).with_name("lines.txt").read_text("utf-8").splitlines()


TERMINALS = (
    ({"COLUMNS": "44"}, "query rain gauge"),
    ({"COLUMNS": "200", "NO_COLOR": "1"}, "query rain gauge"),
    ({"TERM": "dumb"}, "query pears --full"),
    ({"FORCE_COLOR": "1"}, "query xyzzy"),
    ({"KITTY_WINDOW_ID": "1", "COLORTERM": "truecolor"}, "query rain --details"),
    ({}, 'query "felt of pears" --min-confidence 1'),  # a remark, the answer, and a remark
    ({}, "recall the rain gauge drifts in frost again"),
)
ENDS = (
    ("2>&1", "query rain"),
    ("2>&1", "query xyzzy"),
    ("2>&1", "query rain --bogus"),
    ("2>&-", "query xyzzy"),
    (">&-", "query rain"),
    ("<&-", "query rain"),
    (">/dev/full", "show Wide"),
    ("| true", "show Wide"),
)


@pytest.fixture
def served(root):
    start(root)
    yield root
    stop(root)


def run_it_here(arguments):
    pytest.fail(f"the server did not answer {arguments}")


def test_every_line_is_answered_alike(served, capsys, monkeypatch):
    for line in LINES:
        printed = []
        for is_alone in (True, False):
            with monkeypatch.context() as patch:
                patch.setattr(sys, "stdin", io.StringIO("Wren wraps the funnel in felt.\n"))
                patch.setenv("PALACE_NO_SERVE", "1" if is_alone else "")
                if not is_alone:
                    patch.setattr(group, "run", run_it_here)
                printed.append(run_main(capsys, *shlex.split(line)))
        assert printed[1] == printed[0], line


def test_a_terminal_shows_the_same(served):
    (served / "New.md").write_text("# New\n\nNot indexed: that is the last remark.\n", "utf-8")
    for number, (environ, line) in enumerate(TERMINALS):
        shown = [
            on_terminal(shlex.split(line), {**environ, "PALACE_NO_SERVE": alone})
            for alone in ("1", "")
        ]
        assert shown[1] == shown[0], (environ, line)
        assert count_answers(served) == number + 1


def test_both_streams_meet_in_the_same_order(served):
    for end, line in ENDS:
        done = [
            subprocess.run(
                ["sh", "-c", f'"$@" {end}', "sh", *command(*shlex.split(line))],
                capture_output=True,
                env={**os.environ, "PALACE_NO_SERVE": alone},
            )
            for alone in ("1", "")
        ]
        assert done[1].stdout == done[0].stdout, (line, end)
        assert done[1].stderr == done[0].stderr, (line, end)
        assert done[1].returncode == done[0].returncode, (line, end)
        assert b"Traceback" not in done[0].stderr, (line, end)


def on_terminal(line, environ):
    """Return the status of a line and what a terminal of 60 columns gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 20, 60, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        command(*line),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**kept, "TERM": "xterm", **environ},
    ) as process:
        os.close(theirs)
        shown = read_screen(ours)
    # Rich numbers the links of a process with the clock.
    return process.returncode, re.sub(rb";id=\d+;", b";", shown)
