"""Loci of a palace: notes that have a place. Written as changes of notes, read from the notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from weakref import WeakKeyDictionary

from memory_palace.changes.changing import Outcome, Plan, change_notes, find_note, read_notes, today
from memory_palace.changes.composing import compose_note, edit_fields, note_path
from memory_palace.changes.operations import Create, Operation
from memory_palace.config import Rooms
from memory_palace.engine import Engine
from memory_palace.errors import UsageError
from memory_palace.features.seek.nodes import MemoryNode, Pose2D, check_node_id, parse_record
from memory_palace.models import Problem
from memory_palace.notes.document import LEAD, Document, Known, Library
from memory_palace.retrieval.filters import check_room
from memory_palace.shown import Shown, inner

FIELD = "locus"
"""The front matter field that makes a note a locus."""
_KEYS = ("id", "x", "y", "yaw")


@dataclass(frozen=True, slots=True)
class Locus:
    """A note that is a node."""

    node_id: int
    pose: Pose2D
    tags: tuple[str, ...]
    summary: str
    title: str
    path: str

    @property
    def node(self) -> MemoryNode:
        return MemoryNode(self.node_id, self.pose, None, self.tags, self.summary)


def read_locus(document: Document) -> Locus | None:
    """Return the locus that a note is; ``None`` where it has no such field.

    The summary is the field of that name, else the note's first paragraph. Raise ``UsageError``
    naming the note where the field cannot be understood.
    """
    if FIELD not in document.fields:
        return None
    try:
        identity, pose = _parse_field(document.fields[FIELD])
    except UsageError as error:
        raise UsageError(f"{document.path}: {error}") from error
    summary = document.text("summary") or first_paragraph(document.section(LEAD))
    return Locus(
        *(identity, pose, document.texts("tags"), summary), title=document.title, path=document.path
    )


def first_paragraph(text: str) -> str:
    """Return the first lines that are not headings, as one line."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            lines.append(line.strip())
        elif lines:
            break
    return " ".join(lines)


def _parse_field(value: object) -> tuple[int, Pose2D]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{FIELD} is a mapping such as {{id: 3, x: 1.5, y: 0, yaw: 0}}")
    unknown = sorted(str(key) for key in value if key not in _KEYS)
    if unknown:
        raise UsageError(f"{FIELD} has {', '.join(_KEYS)}, not {', '.join(unknown)}")
    missing = [key for key in ("id", "x", "y") if key not in value]
    if missing:
        raise UsageError(f"{FIELD} lacks {', '.join(missing)}")
    numbers = []
    for key in ("x", "y", "yaw"):
        number = value.get(key, 0.0)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise UsageError(f"{key} of {FIELD} is a number, not {number!r}")
        numbers.append(float(number))
    return check_node_id(value["id"]), Pose2D(*numbers)


DEFAULT_ROOM = "chambers/places"


@dataclass(frozen=True, slots=True)
class LocusList(Shown):
    """The loci of a palace by id, and the notes that would be some and are not."""

    loci: Sequence[Locus]
    problems: Sequence[Problem] = inner(default=())

    def nodes(self) -> dict[str, MemoryNode]:
        return {locus.path: locus.node for locus in self.loci}

    def lines(self) -> Iterable[str]:
        for each in self.loci:
            where = f"{each.pose.x:g}, {each.pose.y:g}, {each.pose.yaw:g}"
            yield f"{each.node_id:<4} ({where})  {each.path}  {each.summary}".rstrip()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return map(str, self.problems)


_KNOWN: WeakKeyDictionary[Engine, Known] = WeakKeyDictionary()


def read_loci(engine: Engine) -> LocusList:
    """Read every locus outside the cold zone. A note that does not name the field is not parsed.

    A process that asks again parses only the notes that have changed.
    """
    known = _KNOWN.setdefault(engine, {})
    return _loci_of(read_notes(engine, mentioning=FIELD.encode(), known=known))


def add_locus(
    engine: Engine,
    title: str,
    *,
    pose: Pose2D,
    tags: Sequence[str] = (),
    summary: str = "",
    room: str = DEFAULT_ROOM,
    note: bool = False,
    apply: bool = False,
) -> Outcome:
    """Create a note that is a locus, or make the existing ``note`` called ``title`` one."""
    check_room(room.partition("/")[0])

    def plan(library: Library) -> Plan:
        taken = {locus.node_id: locus.path for locus in _loci_of(library).loci}
        own = find_note(library, title) if note else None
        known = [number for number, path in taken.items() if own and path == own.path]
        number = known[0] if known else max(taken, default=-1) + 1
        node = MemoryNode(number, pose, None, tuple(tags), summary)
        if own is None:
            operation: Operation = _create(engine.paths.rooms, title, node, room)
            return Plan([operation], f"put {title} at {pose.x:g}, {pose.y:g}")
        return Plan(_replace(own, node), f"put {own.path} at {pose.x:g}, {pose.y:g}")

    return change_notes(engine, plan, command="locus", apply=apply, allow_uncommitted=True)


def import_loci(
    engine: Engine,
    records: Sequence[Mapping[str, object]],
    *,
    room: str = DEFAULT_ROOM,
    apply: bool = False,
) -> Outcome:
    """Create a note for each node of a list, or bring the note of that id up to date."""
    check_room(room.partition("/")[0])
    nodes = [parse_record(record) for record in records]

    def plan(library: Library) -> Plan:
        paths = {locus.node_id: locus.path for locus in _loci_of(library).loci}
        taken = set(library.documents)
        change: list[Operation] = []
        for title, node in nodes:
            path = paths.get(node.node_id)
            if path is not None:
                change += _replace(library.documents[path], node)
                continue
            name = title or f"Locus {node.node_id}"
            if note_path(engine.paths.rooms, name, room=room) in taken:
                name = f"{name} {node.node_id}"
            taken.add(note_path(engine.paths.rooms, name, room=room))
            change.append(_create(engine.paths.rooms, name, node, room))
        return Plan(change, f"import {len(nodes)} loci")

    return change_notes(engine, plan, command="locus", apply=apply, allow_uncommitted=True)


def _loci_of(library: Library) -> LocusList:
    loci: dict[int, Locus] = {}
    problems: list[Problem] = []
    for document in library.documents.values():
        if document.is_cold:
            continue
        try:
            locus = read_locus(document)
        except UsageError as error:
            message = str(error).removeprefix(f"{document.path}: ")
            problems.append(Problem(document.path, None, "front matter", message))
            continue
        if locus is None:
            continue
        other = loci.setdefault(locus.node_id, locus)
        if other is not locus:
            message = f"is node {locus.node_id}, as {other.path} is; change one of the ids"
            problems.append(Problem(document.path, None, "front matter", message))
    return LocusList([loci[number] for number in sorted(loci)], problems)


def _create(rooms: Rooms, title: str, node: MemoryNode, room: str) -> Create:
    path = note_path(rooms, title, room=room)
    fields: dict[str, object] = {"title": title, "date": today(), "type": FIELD}
    if node.tags:
        fields["tags"] = list(node.tags)
    fields[FIELD] = {"id": node.node_id, **asdict(node.pose)}
    if first_paragraph(node.summary) != node.summary:  # it would be read as a heading
        fields["summary"] = node.summary
    return compose_note(path, title, fields, lead=node.summary)


def _replace(document: Document, node: MemoryNode) -> list[Operation]:
    """Return the change that makes a note this node: nothing where it is that already."""
    old = read_locus(document)
    fields: dict[str, object] = {}
    if old is None or (old.node_id, old.pose) != (node.node_id, node.pose):
        fields[FIELD] = {"id": node.node_id, **asdict(node.pose)}
    tags = list(dict.fromkeys((*document.texts("tags"), *node.tags)))
    if tags != list(document.texts("tags")):
        fields["tags"] = tags
    if node.summary and (old is None or node.summary != old.summary):
        fields["summary"] = node.summary
    return [edit_fields(document, fields)] if fields else []
