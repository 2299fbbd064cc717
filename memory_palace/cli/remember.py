"""``palace remember``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.options import Json, Tags, completed, open_palace, read_text
from memory_palace.cli.printing import print_answer, say, to_record

if TYPE_CHECKING:
    from memory_palace.capture.remembering import Remembered


def remember_text(
    ctx: Context,
    text: Annotated[
        list[str] | None, Argument(help="What to keep; without it, or with -, from stdin.")
    ] = None,
    title: Annotated[str | None, Option("--title", help="Its heading.")] = None,
    room: Annotated[
        str | None,
        Option("--room", help="Room of a note of its own.", autocompletion=completed("rooms")),
    ] = None,
    tag: Tags = None,
    type: Annotated[str | None, Option("-t", "--type", help="Type of a note of its own.")] = None,
    source: Annotated[
        str | None, Option("--source", help="Where it is from: a URL or a path.")
    ] = None,
    agent: Annotated[
        str | None,
        Option("--agent", envvar="PALACE_AGENT", show_envvar=False, help="Who remembers."),
    ] = None,
    note: Annotated[bool, Option("--note", help="Make a note of its own.")] = False,
    as_json: Json = False,
) -> None:
    """Keep a text in the agent's inbox note of the day, indexed; print its path and line.

    What the inbox has in the same words is counted there. Lines with keys or passwords and
    <private> spans are not written.

    Example: palace remember "The gauge drifts below -5 °C" --agent wren --tag gauge
    """
    given = read_text(text)
    found = open_palace(ctx).remember(
        given,
        title=title,
        room=room,
        tags=tag or (),
        type=type,
        source=source,
        agent=agent,
        note=note,
    )
    print_answer(_record(found), [f"{found.path}:{found.line}"], as_json=as_json)
    for problem in found.withheld:
        say(f"line {problem.line} was not written: {problem.message}")
    if found.remark:
        say(found.remark)


def _record(found: Remembered) -> dict[str, Any]:
    withheld = [{"line": one.line, "why": one.message} for one in found.withheld]
    return {**to_record(found), "withheld": withheld, "remark": found.remark or None}
