"""A hook called as a harness does: a process whose standard input stays open."""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, NamedTuple

from forking import Forked, run_line

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
    theirs, ours = Pipe(duplex=False)
    line, env = ("hook", event, *options), {**os.environ, **environ}
    process = Forked(run_line, *line, folder=cwd, environ=env, stdin=theirs)
    theirs.close()
    with ours, open(ours.fileno(), "wb", closefd=False) as pipe:
        with suppress(BrokenPipeError):  # a hook that has seen enough may have ended
            pipe.write(data)
            pipe.flush()
        return Called(*process.wait())


def read_log(root: Path) -> list[dict[str, Any]]:
    """Return the lines of the log of a palace."""
    log = root / ".palace" / ".index" / "hook.log"
    return (
        [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
    )
