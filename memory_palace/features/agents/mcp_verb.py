"""``palace mcp``."""

from __future__ import annotations

import os
import sys

from typer import Context

from memory_palace.cli.faults import describe
from memory_palace.cli.options import find_palace
from memory_palace.errors import MissingPartError
from memory_palace.server.refreshing import KnownFreshness, index_apart
from memory_palace.shown import say


def serve_agents(ctx: Context) -> None:
    """Let an agent search, read and write notes: an MCP server on stdin and stdout.

    An agent's program starts it and ends it. Needs the extra [mcp].

    Example: palace -C ~/notes mcp
    """
    if sys.stdin.isatty():
        say("waiting for an MCP client on standard input; references/agents.md says how to add one")
    reads, writes = take_streams()
    try:
        from memory_palace.features.agents.mcp_server import (
            run_server,  # delayed: an extra, and 0.6 s
        )
    except ModuleNotFoundError as error:
        from memory_palace.libraries import install_command

        raise MissingPartError(
            f"palace mcp needs the library of the protocol; run `{install_command('mcp')}`"
        ) from error
    from memory_palace.features.agents.held import HeldPalace

    held = HeldPalace(
        lambda: find_palace(ctx.obj),
        update=index_apart,
        check_freshness=KnownFreshness().check,
        say=say,
    )
    run_server(held, reads=reads, writes=writes, explain=describe)


def take_streams() -> tuple[int, int]:
    """Return stdin and stdout under other numbers: what a library prints goes to stderr."""
    kept = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return kept
