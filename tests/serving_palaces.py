"""A palace that is served, seen from outside: start and stop, raw messages, memory."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from forking import Forked, run_line

from memory_palace.places import socket_path
from memory_palace.server.client import VERSION, decode, encode, pick_fixed, pick_shown

PALACE = [sys.executable, "-P", "-m", "memory_palace"]


def palace(root: Path, *arguments: str, stdin: str = "", **environ: str) -> tuple[int, str, str]:
    """Run a command line in a process of its own; return its status and what it printed."""
    done = subprocess.run(
        [*PALACE, *arguments],
        cwd=root,
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, **environ},
    )
    return done.returncode, done.stdout, done.stderr


def warm(root: Path, *arguments: str, stdin: str = "", **environ: str) -> tuple[int, str, str]:
    """Run a command line like ``palace``, where it is not its start that is tried."""
    environ = {**os.environ, **environ}
    return Forked(run_line, *arguments, folder=root, environ=environ, stdin=stdin).wait()


def start(root: Path) -> int:
    """Start the server of a palace and return its process."""
    status, out, errors = warm(root, "serve", "--background", "--no-watch", "--json")
    assert status == 0, errors
    return int(json.loads(out)["pid"])


def stop(root: Path) -> None:
    """Stop the server of a palace, if there is one."""
    status, _, errors = warm(root, "serve", "--stop")
    assert status == 0, errors


def count_answers(root: Path) -> int:
    """Return how many requests the server has answered; 0 without one."""
    return int(json.loads(warm(root, "serve", "--status", "--json")[1])["answered"] or 0)


def connect(root: Path) -> socket.socket:
    """Connect to the server of a palace."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(30)
    client.connect(socket_path(str(root), os.environ))
    return client


def request(root: Path, *arguments: str) -> dict[str, Any]:
    """Return the message that a client sends."""
    return {
        "v": VERSION,
        "args": list(arguments),
        "cwd": str(root),
        "env": {**pick_shown(os.environ), **pick_fixed(os.environ)},
        "stdin": None,
        "width": None,
        "tty": {"in": False, "out": False, "err": False},
    }


def ask(root: Path, *arguments: str) -> dict[str, Any]:
    """Return the reply to a command line."""
    return talk(root, encode(request(root, *arguments)))


def talk(root: Path, message: bytes) -> dict[str, Any]:
    """Send bytes and return the reply; empty where the server only hangs up."""
    with connect(root) as client:
        try:
            client.sendall(message)
            client.shutdown(socket.SHUT_WR)
        except OSError:  # it has seen enough
            pass
        try:
            with client.makefile("rb") as replies:
                line = replies.readline()
        except ConnectionError:
            return {}
    return decode(line) if line else {}


def text_of(reply: dict[str, Any], stream: int = 1) -> str:
    """Return what a reply has for stdout or stderr."""
    return "".join(text for number, text in reply["parts"] if number == stream)


def resident_kib(pid: int) -> int:
    """Return the memory of a process that is not shared with files, on Linux."""
    rows = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("RssAnon"))


def is_alive(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for another process; fail where it never does what it should."""
    for _ in range(3000):
        if is_so():
            return
        pause(0.01)
    raise AssertionError(what)


def wait_for_end(pid: int) -> None:
    """Wait until a process is gone."""
    wait_until(lambda: not is_alive(pid), f"process {pid} does not end")


def pause(seconds: float) -> None:
    """Let another process go on, so that it is killed at some moment."""
    time.sleep(seconds)


def command(*arguments: str) -> Sequence[str]:
    """Return the command of a line."""
    return [*PALACE, *arguments]
