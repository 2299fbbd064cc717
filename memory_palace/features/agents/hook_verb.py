"""``palace hook``."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

from typer import Argument, Context, Option

from memory_palace.cli.options import open_palace
from memory_palace.errors import UsageError
from memory_palace.features.agents.calling import take_fields
from memory_palace.features.agents.hook_message import HookMessage
from memory_palace.features.agents.hooks import answer_hook
from memory_palace.places import read_registered


def run_hook(
    ctx: Context,
    event: Annotated[
        Literal["session-start", "prompt", "pre-compact", "stop"],
        Argument(help="session-start, prompt, pre-compact or stop."),
    ],
    harness: Annotated[
        Literal["claude", "codex", "openclaw"],
        Option("--harness", help="Who calls: claude, codex or openclaw."),
    ] = "claude",
) -> None:
    """Tell an agent what the notes have for it; its harness calls this, with JSON on stdin.

    What is printed goes into the agent's context; mostly it is nothing. Whatever happens the exit
    status is 0: the reason is in hook.log beside the index, and on stderr.

    Example: palace hook prompt --harness claude
    """
    palace = open_palace(ctx)
    try:
        message = json.loads(sys.stdin.read() or "{}")
    except (ValueError, RecursionError) as error:
        raise UsageError("no whole JSON object was sent on standard input") from error
    fields = take_fields(message if isinstance(message, dict) else {})
    captures = read_registered()[3] == "on"
    text = answer_hook(palace, event, HookMessage(**fields), harness=harness, captures=captures)
    if text:
        print(text)
