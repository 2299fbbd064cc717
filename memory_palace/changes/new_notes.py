"""A note that somebody asks for: where it belongs, what stands in it, and that it is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory_palace.changes.adding import index_note
from memory_palace.changes.changing import WAIT_SECONDS, today, write_file
from memory_palace.changes.composing import compose_note, place_note
from memory_palace.changes.operations import Create
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.models import Problem
from memory_palace.notes.frontmatter import FrontMatter, set_fields, split_front_matter
from memory_palace.notes.insertion import clean_text
from memory_palace.notes.withholding import leave_out
from memory_palace.retrieval.filters import check_priority


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note that was made."""

    path: str
    last_line: int
    withheld: tuple[Problem, ...]
    """What of the body was not written, by line of it as given: secrets, private spans."""
    is_indexed: bool
    remark: str
    """Why the index does not hold it, where it does not."""


def make_note(
    engine: Engine,
    title: str,
    *,
    body: str = "",
    room: str | None = None,
    folder: str | None = None,
    type: str | None = None,
    priority: str | None = None,
    tags: Sequence[str] = (),
) -> NewNote:
    """Create a note, and bring an index that exists up to date; ``Palace.new`` says the rest."""
    path = place_note(engine.paths, title, room=room, folder=folder)
    level = check_priority(priority) if priority is not None else None
    text, withheld = leave_out(clean_text(body)) if body.strip() else ("", ())
    given = {"type": type, "priority": level, "tags": list(tags)}
    fields: dict[str, object] = {"title": title, "date": today()}
    fields |= {key: value for key, value in given.items() if value}
    note = _compose(path, title, fields, text)
    most = engine.config.max_note_bytes
    if len(note.data) > most:
        raise UsageError(f"the note would be larger than max_note_bytes ({most:,}); split it")
    write_file(engine, lambda: note, command="new")
    remark = "it is not indexed yet; run `palace index`"
    if engine.paths.commit.exists():
        remark = index_note(engine, path, wait_seconds=WAIT_SECONDS)
    return NewNote(path, note.data.count(b"\n"), withheld, not remark, remark)


def _compose(path: str, title: str, fields: Mapping[str, object], text: str) -> Create:
    """Return a note of a body, whose own front matter and heading are kept.

    What is asked for replaces its fields of that name, but for tags, which are added, and the day.
    """
    matter = split_front_matter(f"{text}\n")
    if matter.error:
        raise UsageError(f"line {matter.error_line} of the body: its {matter.error}; correct it")
    body = text[matter.end :].strip("\n")
    is_titled = body.startswith("# ")
    if not matter.end and not is_titled:
        return compose_note(path, title, fields, lead=body)
    heading = "" if is_titled else f"# {title}\n\n" if body else f"# {title}"
    block = f"---\n{matter.raw}---\n" if matter.end else ""
    data = f"{block}{heading}{body}\n".encode()
    return Create(path, set_fields(path, data, _merge(fields, matter)))


def _merge(fields: Mapping[str, object], matter: FrontMatter) -> dict[str, object]:
    own, asked = matter.values.get("tags"), fields.get("tags")
    merged = {k: v for k, v in fields.items() if k != "date" or k not in matter.values}
    if own and isinstance(asked, list):
        listed = own if isinstance(own, list) else str(own).replace(",", " ").split()
        merged["tags"] = list(dict.fromkeys([*map(str, listed), *asked]))
    return merged
