"""A hook called as a harness does: a process whose standard input stays open."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

PALACE = [sys.executable, "-P", "-m", "memory_palace"]


class Called(NamedTuple):
    """What came of a call."""

    status: int
    out: str
    errors: str


def call(
    event: str,
    message: object,
    *,
    cwd: Path | None = None,
    options: Sequence[str] = ("--harness", "claude"),
    **environ: str,
) -> Called:
    """Call a hook and leave its standard input open; ``message`` may be bytes as they are."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
    line = [*PALACE, "hook", event, *options]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, cwd=cwd, env={**os.environ, **environ}, **pipe) as process:
        feed(process, data)
        out, errors = process.stdout.read(), process.stderr.read()
        status = process.wait()
        process.stdin.close()
    return Called(status, out.decode(), errors.decode())


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write all of a message; a hook that has seen enough may have ended."""
    try:
        process.stdin.write(data)
        process.stdin.flush()
    except BrokenPipeError:
        pass


def read_log(root: Path) -> list[dict[str, Any]]:
    """Return the lines of the log of a palace."""
    log = root / ".palace" / ".index" / "hook.log"
    return (
        [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
    )
