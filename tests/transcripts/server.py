"""Runs ``palace`` commands, each in a process of its own, without importing everything each time.

It imports the commands once and forks for each request: a line of JSON with ``arguments``,
``folder`` and ``files`` for stdout and stderr. The answer is a line with the exit status.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules

import memory_palace.cli as cli
from memory_palace.cli.app import main
from memory_palace.embedding import e5


def preload() -> None:
    for module in iter_modules(cli.__path__):
        with suppress(ModuleNotFoundError):  # a verb may need an extra that is not installed
            import_module(f"memory_palace.cli.{module.name}")


def run_command(request: dict[str, str]) -> None:
    """Become the command: leave the folder, the streams and the process as it would."""
    os.chdir(request["folder"])
    for stream, path in ((1, request["stdout"]), (2, request["stderr"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["palace", *request["arguments"]]
    main(request["arguments"])


def serve() -> None:
    preload()
    e5.is_available = lambda environ: False  # the sessions are of a person who has minilm alone
    for line in os.fdopen(os.dup(0)):  # sys.stdin stays unread for the commands
        child = os.fork()
        if child == 0:
            run_command(json.loads(line))
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    serve()
