"""``palace bench serve``."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from typer import Option

from memory_palace.bench.given import AskServer
from memory_palace.bench.serving import (
    EDITS,
    PASSAGES,
    QUERIES,
    copied_palace,
    measure_answers,
    measure_memory,
    measure_process,
)
from memory_palace.cli.bench_options import add_measured, printing
from memory_palace.cli.options import Json
from memory_palace.cli.resident import VERSION, encode, pick_fixed, pick_shown
from memory_palace.errors import PalaceError
from memory_palace.places import socket_path


def run_serve(
    notes: Annotated[
        Path | None, Option("--notes", help="Measure whole processes on a copy of these notes.")
    ] = None,
    passages: Annotated[
        int, Option("--passages", min=0, help="Passages of the palace that answers; 0 for none.")
    ] = PASSAGES,
    queries: Annotated[
        int, Option("--queries", min=0, help="Questions while memory is watched; 0 for none.")
    ] = QUERIES,
    edits: Annotated[int, Option("--edits", min=1, help="Edits meanwhile.")] = EDITS,
    runs: Annotated[int, Option("--runs", min=1, help="Runs of each process.")] = 20,
    as_json: Json = False,
) -> None:
    """Measure questions that the resident server answers, on generated notes with minilm.

    Example: palace bench serve --notes ~/vault --passages 10000
    """
    with printing("figures", as_json=as_json) as printed:
        with copied_palace(notes) as root:
            for row in measure_process(root, notes.name if notes else "1,000 notes", runs):
                add_measured(printed, row)
        for row in measure_answers(connect, passages) if passages else ():
            add_measured(printed, row)
        for row in measure_memory(connect, queries=queries, edits=edits) if queries else ():
            add_measured(printed, row)


@contextmanager
def connect(root: Path) -> Iterator[AskServer]:
    """Connect with the server of a palace, as a client that stays."""
    address = socket_path(str(root.resolve()), os.environ)
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        with server.makefile("rb") as replies:

            def ask(arguments: Sequence[str]) -> bytes:
                server.sendall(encode(_request(root, arguments)))
                reply = replies.readline()
                if b'"status": 0' not in reply:
                    raise PalaceError(f"the server does not answer: {reply[:200]!r}")
                return reply

            yield ask


def _request(root: Path, arguments: Sequence[str]) -> dict[str, object]:
    return {
        "v": VERSION,
        "args": list(arguments),
        "cwd": str(root),
        "env": {**pick_shown(os.environ), **pick_fixed(os.environ)},
        "stdin": "",
        "width": None,
        "tty": {"in": False, "out": False, "err": False},
    }
