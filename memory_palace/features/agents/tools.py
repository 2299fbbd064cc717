"""The tools of agents: how each is described, checked and called; and search, read and recall."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

from memory_palace.errors import UsageError
from memory_palace.features.agents.fencing import fence, show_hits, write_place, write_state
from memory_palace.language.visible import visible
from memory_palace.notes.note import split_line_range
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.table import TOOLS, load
from memory_palace.tools import Between, Said

MOST_CHARACTERS = 100_000
"""Maximum characters of one argument; a long answer or note has fewer."""
SEARCH_BYTES = 4_000
READ_BYTES = 12_000
"""Maximum UTF-8 bytes of one read, some 3,000 tokens; longer notes are read in parts."""
_TEXT_BYTES = 4_000
_SHOWN = 40
_TOOL_WORDS = (
    (r"`palace list` prints every note", "The tool search finds notes by their words"),
    (r"see `palace task list`", "action 'list' of the tool tasks names all"),
    (r"`palace task tick .+? N --apply` ticks", "action 'tick' of the tool tasks ticks"),
    (r", or wait longer with --wait SECONDS", ""),
    (r"commit first, or write `[^`]+` into palace.yaml", "ask the person to commit them first"),
    (r"run the command again", "call the tool again"),
    (r"--(under|reason)( [A-Z]+)?", r"'\1'"),
    (r"\brun `", "ask the person to run `"),
    (r"(?<!run )(`palace [^`]+`) (?=[a-z])", r"\1, run by the person, "),
)
"""Patterns in messages for the command line, and their replacements for an agent."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the table."""

    name: str
    about: str
    properties: Mapping[str, Mapping[str, Any]]
    """JSON Schema of each argument: ``type``, and perhaps ``enum``, ``minimum``, ``maximum``."""
    required: tuple[str, ...]
    run: Callable[..., str | Said]
    writes: bool
    """Whether the tool writes; read-only tools may be approved automatically."""

    @classmethod
    def of(cls, name: str, run: Callable[..., str | Said]) -> Self:
        hints = get_type_hints(run, include_extras=True)
        given = [one for one in inspect.signature(run).parameters.values() if one.name != "palace"]
        return cls(
            name,
            " ".join((inspect.getdoc(run) or "").split()),
            {one.name: _describe(hints[one.name]) for one in given if one.name != "agent"},
            tuple(one.name for one in given if one.default is inspect.Parameter.empty),
            run,
            writes="agent" in hints,
        )

    @property
    def schema(self) -> dict[str, Any]:
        needed = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": dict(self.properties)} | needed

    def call(self, palace: Palace, given: Mapping[str, Any], agent: str | None = None) -> str:
        """Run the tool with checked arguments; return the text of its answer."""
        who = {"agent": agent} if self.writes else {}
        if self.writes:
            palace.agent = agent or ""
        said = self.run(palace, **given, **who)
        return said if isinstance(said, str) else write_said(said)

    def check(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Validate arguments and convert them to the types of the schema, ``null`` left out.

        Models quote numbers and write a list of one as a text; both are accepted. Raise
        ``UsageError`` for an unknown, missing or invalid argument.
        """
        known = self.properties
        for name in given.keys() - known.keys():
            takes = ", ".join(known)
            raise UsageError(f"there is no argument {name[:_SHOWN]!r}; {self.name} takes {takes}")
        checked = {n: _check(n, v, known[n]) for n, v in given.items() if v is not None}
        if missing := [name for name in self.required if checked.get(name, "") in ("", [])]:
            raise UsageError(f"give {' and '.join(map(repr, missing))}")
        return checked


def list_tools() -> Mapping[str, Tool]:
    """Return the tools that features offer, in the order of the table."""
    return {name: Tool.of(name, load(place)) for name, place in TOOLS.items()}


def _describe(hint: Any) -> dict[str, Any]:
    kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    kind = next((one for one in get_args(kind) if type(None) in get_args(kind)), kind)
    schema: dict[str, Any] = {"type": {int: "integer", bool: "boolean"}.get(kind, "string")}
    if get_origin(kind) is Literal:
        schema["enum"] = list(get_args(kind))
    if get_origin(kind) is Sequence:
        schema = {"type": "array", "items": {"type": "string"}}
    for one in more:
        is_range = isinstance(one, Between)
        schema |= {"minimum": one.low, "maximum": one.high} if is_range else {"description": one}
    return schema


def _check(name: str, value: object, schema: Mapping[str, Any]) -> object:
    """Validate and convert one argument; raise ``UsageError`` if it violates its schema."""
    if schema["type"] == "array":
        values = value if isinstance(value, list) else [value]
        return [_check(name, one, schema["items"]) for one in values]
    wanted = {"string": "text", "boolean": "true or false"}.get(schema["type"], "")
    if schema["type"] == "integer":
        low, high = schema["minimum"], schema["maximum"]
        wanted = f"a number from {low} to {high}"
        text = str(value).strip().removesuffix(".0")
        if text.isascii() and text.isdecimal() and len(text) < 10 and low <= int(text) <= high:
            return int(text)
    elif isinstance(value, str if wanted == "text" else bool):
        if isinstance(value, str) and len(value) > MOST_CHARACTERS:
            size = f"{len(value):,} characters, and {MOST_CHARACTERS:,} at most are taken"
            raise UsageError(f"{name!r} has {size}")
        choices = schema.get("enum", [value])
        if value in choices:
            return value
        wanted = f"one of {', '.join(choices)}"
    raise UsageError(f"{name!r} must be {wanted}, not {_show(value)}")


def _show(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def speak_of_tools(message: str) -> str:
    """Replace commands in a message by tools, or else by a request to ask the person."""
    for pattern, words in _TOOL_WORDS:
        message = re.sub(pattern, words, message)
    return message


def write_said(said: Said) -> str:
    """Return the answer of a tool as the text for an agent."""
    lines = [write_place(said.place)] if said.place else []
    lines += [*said.lines, *map(speak_of_tools, said.remarks)]
    lines = [visible(line) for line in lines]
    if said.text:
        lines.append(fence("\n".join(said.text), budget_bytes=_TEXT_BYTES, cut=said.cut))
    return "\n".join(lines)


def search(
    palace: Palace,
    query: Annotated[str, "Question, or words"] = "",
    limit: Annotated[int, Between(1, 50)] = 5,
    folder: str | None = None,
    tag: str | None = None,
    since: Annotated[str | None, "2026-03-01, 30d, 1y"] = None,
    until: str | None = None,
    budget: Annotated[int, Between(200, 100_000), "bytes, 4000"] = SEARCH_BYTES,
    cold: Annotated[bool, "Archived notes too"] = False,
) -> str:
    """Find what the user's notes say, before you answer from memory or say you do not know.

    Hits: path:lines, confidence 0-1, date, title, passage; cite path:lines. Without query: notes
    that match the filters.
    """
    if not query.strip() and not any((folder, tag, since, until)):
        raise UsageError("give a 'query', or a folder, tag or date to list notes of")
    asked = Query(
        query,
        limit=limit,
        folder=(folder,) if folder else None,
        tags=(tag,) if tag else None,
        since=since or None,
        until=until or None,
        include_cold=cold,
        neighbors=0,
        budget_bytes=budget,
    )
    found = palace.ask(asked).worth_reading()
    generation = palace.snapshot(include_cold=cold).commit.generation
    return show_hits(
        found,
        generation=generation,
        budget_bytes=budget,
        cut=lambda place: f"read {write_place(place)}",
    )


def read(
    palace: Palace, note: Annotated[str, "path, path:10-20, title or alias"], cold: bool = False
) -> str:
    """Read a note, or some lines of it, before you rely on a hit or quote it."""
    name, first, last = split_line_range(note)
    shown = palace.read(name, first_line=first, last_line=last, include_cold=cold)
    lines, end = shown.text.split("\n"), shown.last_line
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace")) + 1
        if size > READ_BYTES and count:
            lines, end = lines[:count], shown.first_line + count - 1
            break
    place = write_place(f"{shown.path}:{shown.first_line}-{end}")
    text = fence("\n".join(lines), budget_bytes=2 * READ_BYTES, cut=f"read fewer lines of {place}")
    more = write_place(f"{shown.path}:{end + 1}-{shown.last_line}")
    rest = f"\ngo on with {more}" if end < shown.last_line else ""
    return f"{place} of {shown.total_lines} lines\n{text}{rest}"


def recall(
    palace: Palace, text: str, context: Annotated[Sequence[str], "Turns before it"] = ()
) -> str:
    """What the notes have on what the user just said without asking; often nothing.

    For questions use search.
    """  # noqa: D401 - it is what agents are told
    found = palace.recall(text, context=context)
    state = write_state(found, palace.snapshot().commit.generation)
    return f"{state}\n{fence(found.text) if found.text else 'the notes have nothing on this'}"
