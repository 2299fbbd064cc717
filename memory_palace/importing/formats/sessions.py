"""Transcripts of agents: one session in a file of JSON lines, read twice instead of held."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from memory_palace.importing.formats.export_files import ExportFile
from memory_palace.importing.formats.fields import digest, find_uuid
from memory_palace.importing.items import Conversation, ReadReport, Turn

_OPENING = re.compile(
    r"^[ \t]*<(system[-_]reminder|local-command-[a-z]+|command-message|command-contents"
    r"|bash-input|bash-stdout|bash-stderr|task-notification|[a-z-]+-hook|user-memory-input"
    r"|ide_[a-z_]+|new-diagnostics|relevant-memories|environment_context|environment_details"
    r"|user_instructions|skill|skills_instructions|permissions instructions|collaboration_mode"
    r"|subagent_notification|turn_aborted|user_shell_command|app-context|personality_spec)\b[^>\n]*>",
    re.MULTILINE,
)
_MOST_UNCLOSED = 100
"""Tags of one message that are looked for and not closed: each look goes through all of it."""


@dataclass(slots=True)
class Session:
    """What a transcript says of itself, filled while its turns are read."""

    source_id: str = ""
    title: str = ""
    started: datetime | None = None


Parse = Callable[[ExportFile, Session, ReadReport], Iterator[Turn]]


def read_sessions(
    files: Iterable[ExportFile], report: ReadReport, parse: Parse
) -> Iterator[Conversation]:
    """Give each session that has a turn; its turns are parsed again as they are taken.

    The identity is the session's own, else a UUID in the file's name, else made of its first turn.
    """
    for file in files:
        session, seen = Session(), ReadReport()
        first: Turn | None = None
        for turn in parse(file, session, seen):
            first = first or turn
            session.started = session.started or turn.at
        if first is None:
            report.broken += seen.broken
            report.dropped += seen.dropped
            report.dropped["empty"] += 1
            continue
        identity = session.source_id or find_uuid(file.path.name)
        identity = identity or digest(str(first.at), first.text)
        turns = parse(file, Session(), report)
        yield Conversation(identity, session.title.strip(), session.started, turns)


def leave_out_injected(text: str, report: ReadReport) -> str:
    """Take out what a harness put into a message: blocks in its tags that begin a line."""
    kept, place = [], 0
    unclosed: set[str] = set()
    for found in _OPENING.finditer(text):
        closing = f"</{found[1]}>"
        if found.start() < place or closing in unclosed or len(unclosed) > _MOST_UNCLOSED:
            continue
        end = text.find(closing, found.end())
        if end < 0:
            unclosed.add(closing)
            continue
        kept.append(text[place : found.start()])
        place = end + len(closing)
        report.dropped["system"] += 1
    return "".join((*kept, text[place:])).strip()
