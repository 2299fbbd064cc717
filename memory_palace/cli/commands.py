"""The command tree. A verb's module is imported when the verb is typed."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from memory_palace import __version__

COMMANDS = {
    "init": "init:init_palace",
    "new": "new:new_note",
    "index": "index:index_notes",
    "watch": "watch:watch_notes",
    "query": "query:query_notes",
    "show": "show:show_note",
    "list": "listing:list_notes",
    "status": "status:show_status",
    "doctor": "doctor:run_doctor",
    "graph": "graph:app",
    "memory": "memory:app",
    "verify": "verify:verify_answer",
    "task": "task:app",
    "conflict": "conflict:app",
    "metabolism": "metabolism:app",
    "redqueen": "redqueen:app",
    "map": "map:map_palace",
    "locus": "locus:app",
    "seek": "seek:app",
    "anchors": "anchors:app",
    "cold": "cold:app",
    "models": "models:app",
    "config": "settings:app",
    "bench": "bench:app",
}
"""Each verb: module below ``memory_palace.cli``, and the function or group in it."""


class LazyGroup(TyperGroup):
    """Knows the names of all verbs and imports only the one that runs."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the verbs in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a verb; ``None`` where there is none of that name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        found = getattr(import_module(f"memory_palace.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            command: Any = typer.main.get_group(found)  # get_command would add completion to it
        else:
            single = typer.Typer(add_completion=False)
            single.command(cmd_name)(found)
            command = typer.main.get_command(single)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=LazyGroup, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


def _print_version(value: bool | None) -> None:
    if value:
        print(__version__)
        raise typer.Exit


@app.callback()
def palace(
    ctx: typer.Context,
    root: Annotated[
        Path | None,
        typer.Option("-C", "--root", envvar="PALACE_ROOT", help="Folder that holds palace/."),
    ] = None,
    version: Annotated[
        bool | None,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = None,
) -> None:
    """Keep a long-term memory that is nothing but Markdown files.

    Without -C, the nearest palace/ in or above the current folder is used.
    Example: palace query "why did we drop MQTT" --details
    """
    ctx.obj = root
