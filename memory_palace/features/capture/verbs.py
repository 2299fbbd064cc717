"""``palace remember``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.options import Json, Tags, completed, note_below, open_palace, read_text
from memory_palace.errors import UsageError
from memory_palace.shown import print_answer, say

if TYPE_CHECKING:
    from memory_palace.changes.adding import Appended
    from memory_palace.features.capture.remembering import Remembered


def remember_text(
    ctx: Context,
    text: Annotated[
        list[str] | None, Argument(help="What to keep; without it, or with -, from stdin.")
    ] = None,
    to: Annotated[
        str | None,
        Option("--to", help="Add it to this note instead.", autocompletion=completed("notes")),
    ] = None,
    under: Annotated[
        str | None, Option("--under", help="With --to: below this heading, made if missing.")
    ] = None,
    title: Annotated[str | None, Option("--title", help="Its heading.")] = None,
    tag: Tags = None,
    source: Annotated[
        str | None, Option("--source", help="Where it is from: a URL or a path.")
    ] = None,
    agent: Annotated[
        str | None,
        Option("--agent", envvar="PALACE_AGENT", show_envvar=False, help="Who remembers."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Keep a text in the agent's inbox note of the day, indexed; print its path and line.

    What the inbox has in the same words is counted there. With --to it goes to the end of a note,
    or of a section, and every other byte of the note stays. Lines with keys or passwords and
    <private> spans are not written.

    Example: palace remember "The gauge drifts below -5 °C" --agent wren --tag gauge
    """
    given, palace = read_text(text), open_palace(ctx)
    found: Remembered | Appended
    if to is not None:
        if title or tag or source:
            raise UsageError("--to adds the text alone: leave out --title, --tag and --source")
        found = palace.append(note_below(palace, to), given, under=under)
        own: dict[str, Any] = {"new": True, "count": 1, "made": found.made}
        if found.made is not None:
            say(f"there was no heading {found.made!r}; it was made")
    else:
        if under is not None:
            raise UsageError("--under is for --to NOTE")
        found = palace.remember(given, title=title, tags=tag or (), source=source, agent=agent)
        own = {"new": found.is_new, "count": found.count}
    record = {
        "path": found.path,
        "line": found.line,
        "last_line": found.last_line,
        **own,
        "indexed": found.is_indexed,
        "remark": found.remark or None,
        "withheld": [{"line": one.line, "why": one.message} for one in found.withheld],
    }
    print_answer(record, [f"{found.path}:{found.line}"], as_json=as_json)
    for problem in found.withheld:
        say(f"line {problem.line} was not written: {problem.message}")
    if found.remark:
        say(found.remark)
