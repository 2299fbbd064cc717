"""``palace remember``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group, Tags, completed, note_below, read_text
from memory_palace.features.capture.remembering import Remembered, keep
from memory_palace.palace import Palace

verbs = Group()


@verbs.verb("remember")
def remember(
    palace: Palace,
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
) -> Remembered:
    """Keep a text in the agent's inbox note of the day, indexed; print its path and line.

    What the inbox has in the same words is counted there. With --to it goes to the end of a note,
    or of a section, and every other byte of the note stays. Lines with keys or passwords and
    <private> spans are not written.

    Example: palace remember "The gauge drifts below -5 °C" --agent wren --tag gauge
    """
    note = None if to is None else note_below(palace, to)
    about = {"title": title, "source": source, "agent": agent}
    return keep(palace, read_text(text), note=note, under=under, tags=tag or (), **about)
