"""Processes that need not import the package: each is forked from one that has done it.

A fork is as much a process as one that starts cold, and may be killed as well; a test that needs
hundreds of them takes a third of the time. Where the start itself is tried, start cold.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(["preloaded"])
PATHS = os.pathsep.join((str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")))
"""Python 3.11 looks for what is preloaded along the path of its own start."""


class Forked:
    """A process that runs a function in a folder and an environment, its output in a file."""

    def __init__(
        self,
        run: Callable[..., None],
        *arguments: object,
        folder: Path | None = None,
        environ: Mapping[str, str] | None = None,
        stdin: str | Connection = "",
    ) -> None:
        self.streams = tempfile.TemporaryDirectory()
        streams = Path(self.streams.name)
        text, piped = (stdin, None) if isinstance(stdin, str) else ("", stdin)
        for number, held in enumerate((text, "", "")):  # it may be killed before it is there
            (streams / str(number)).write_text(held, "utf-8")
        place = (str(folder or Path.cwd()), dict(environ or os.environ), str(streams), piped)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", PATHS)
            forkserver.ensure_running()
        self.process = CONTEXT.Process(target=_become, args=(*place, run, arguments))
        self.process.start()

    @property
    def pid(self) -> int:
        """Return the number of the process."""
        return int(self.process.pid or 0)

    def kill(self) -> None:
        """Send the process SIGKILL."""
        self.process.kill()

    def wait(self) -> tuple[int, str, str]:
        """Wait for the end; return the status, below zero for a signal, and what was printed."""
        self.process.join()
        status = int(self.process.exitcode or 0)
        self.process.close()
        with self.streams:
            out, errors = ((Path(self.streams.name) / name).read_text("utf-8") for name in "12")
        return status, out, errors


def run_line(*arguments: str) -> None:
    """Be the command ``palace``."""
    from memory_palace.cli.app import main

    sys.argv = ["palace", *arguments]
    main(arguments)


def run_with_minilm_alone(*arguments: str) -> None:
    """Be the command ``palace`` of a person who has fetched no other model."""
    from memory_palace.embedding.registry import PinnedModel

    is_present = PinnedModel.is_present
    PinnedModel.is_present = lambda model, cache: model.name != "e5" and is_present(model, cache)
    run_line(*arguments)


def run_code(code: str, *arguments: str) -> None:
    """Be ``python -c`` with a program."""
    sys.argv = ["-c", *arguments]
    exec(compile(code, "-c", "exec"), {"__name__": "__main__"})


def _become(
    folder: str,
    environ: Mapping[str, str],
    streams: str,
    piped: Connection | None,
    run: Callable[..., None],
    arguments: tuple[object, ...],
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    for number, flags in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
        os.dup2(os.open(f"{streams}/{number}", flags), number)
    if piped:
        os.dup2(piped.fileno(), 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run(*arguments)
