"""Tools for agents: ``remember``, and the latest entries of their inbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from memory_palace.errors import RoomNotMappedError
from memory_palace.features.capture.remembering import (
    find_inbox,
    keep,
    list_parts,
    name_agent,
    read_entries,
)
from memory_palace.palace import Palace
from memory_palace.tools import Said, read_now, shorten

_MOST_ENTRIES, _LINE = 4, 160


def remember(
    palace: Palace,
    text: str,
    title: str | None = None,
    tags: Sequence[str] = (),
    source: Annotated[str | None, "Where it is from"] = None,
    note: Annotated[str | None, "Note to append to"] = None,
    under: Annotated[str | None, "Heading in that note"] = None,
    agent: str | None = None,
) -> Said:
    """Keep a decision, fact, preference or lesson for later conversations, in sentences that
    stand alone; in your inbox, or at the end of a note.
    """  # noqa: D205 - one sentence
    about = {"title": title, "source": source, "agent": agent}
    kept = keep(palace, text, note=note or None, under=under or None, tags=tags, **about)
    remarks = [f"said {kept.count} times"] if kept.count > 1 else []
    remarks += [kept.remark] if kept.remark else []
    return Said(f"{kept.path}:{kept.line}-{kept.last_line}", list(map(str, kept.withheld)), remarks)


def recent_entries(palace: Palace) -> Iterator[str]:
    """Yield the latest entries of the inbox of a palace's agent, newest first."""
    who = name_agent(palace.agent)
    try:
        parts = list_parts(palace.paths, find_inbox(palace.paths, palace.config, who), who)
    except RoomNotMappedError:
        return
    entries = [
        (document.path, entry)
        for document in read_now(palace, parts[:-3:-1])
        for entry in reversed([*read_entries(document.path, document.data)])
    ]
    if entries:
        yield "You remembered last:"
    for path, entry in entries[:_MOST_ENTRIES]:
        yield f"  {path}:{entry.line}  {shorten(f'{entry.title} {entry.text}', _LINE)}"
