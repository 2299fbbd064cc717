"""``palace watch``."""

from __future__ import annotations

import signal
import threading
from typing import Annotated

from typer import Context, Option

from memory_palace.cli.options import Quiet, open_palace
from memory_palace.cli.printing import say
from memory_palace.index.values import IndexReport


def watch_notes(
    ctx: Context,
    debounce: Annotated[
        float, Option("--debounce", min=0.05, help="Seconds without changes before indexing.")
    ] = 1.0,
    quiet: Quiet = False,
) -> None:
    """Index notes as they change, until interrupted. Queries and other builds keep working.

    Example: palace watch --debounce 2
    """
    palace = open_palace(ctx)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    def report(done: IndexReport) -> None:
        for problem in done.problems:
            say(str(problem))
        counts = {name: len(getattr(done, name)) for name in CHANGES}
        changes = [f"{count} {name}" for name, count in counts.items() if count]
        if changes and not quiet:
            print(f"{', '.join(changes)}; {done.embedded} chunks embedded", flush=True)

    palace.watch(report, stop=stop, debounce_seconds=debounce, warn=say)


CHANGES = ("added", "changed", "moved", "removed")
"""What may have happened to a note, as an index report calls it."""
