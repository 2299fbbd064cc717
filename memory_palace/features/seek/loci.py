"""Loci: notes with a pose in their front matter, read from the notes and created as notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from memory_palace.changes.changing import Outcome, Plan, change_notes, read_notes, today
from memory_palace.changes.composing import compose_note, note_path
from memory_palace.errors import UsageError
from memory_palace.features.seek.nodes import Pose2D, check_node_id
from memory_palace.models import Problem
from memory_palace.notes.document import LEAD, Document, Library
from memory_palace.palace import Palace
from memory_palace.shown import Shown, inner

FIELD = "locus"
"""The front matter field that makes a note a locus."""
_KEYS = ("id", "x", "y", "yaw")
_ROOM = "chambers/places"
"""Folder of new loci."""


@dataclass(frozen=True, slots=True)
class Locus:
    """A note with a pose, as a node of a search."""

    node_id: int
    pose: Pose2D
    tags: tuple[str, ...]
    summary: str
    title: str
    path: str


def read_locus(document: Document) -> Locus | None:
    """Return the locus of a note, or ``None`` if it has no field ``locus``.

    The summary is the field ``summary``, else the note's first paragraph. Raise ``UsageError`` if
    the field ``locus`` is malformed.
    """
    if FIELD not in document.fields:
        return None
    identity, pose = _parse_field(document.fields[FIELD])
    lead = re.search(r"(?m)^(?!#).*\S.*(?:\n(?!#).*\S.*)*", document.section(LEAD))
    first_paragraph = " ".join(lead[0].split()) if lead else ""  # without heading lines
    summary = document.text("summary") or first_paragraph
    return Locus(identity, pose, document.texts("tags"), summary, document.title, document.path)


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


@dataclass(frozen=True, slots=True)
class LocusList(Shown):
    """The loci of a palace by id, and the notes with an invalid or duplicate locus."""

    loci: Sequence[Locus]
    problems: Sequence[Problem] = inner(default=())

    def lines(self) -> Iterable[str]:
        for each in self.loci:
            where = f"{each.pose.x:g}, {each.pose.y:g}, {each.pose.yaw:g}"
            yield f"{each.node_id:<4} ({where})  {each.path}  {each.summary}".rstrip()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return map(str, self.problems)


def read_loci(palace: Palace) -> LocusList:
    """Return every locus outside the cold zone; notes without the word ``locus`` are not parsed."""
    return _loci_of(read_notes(palace, mentioning=FIELD.encode()))


def add_locus(
    palace: Palace,
    title: str,
    *,
    pose: Pose2D,
    tags: Sequence[str] = (),
    summary: str = "",
    apply: bool = False,
) -> Outcome:
    """Create a locus note with the next free node id."""

    def plan(library: Library) -> Plan:
        number = max((locus.node_id for locus in _loci_of(library).loci), default=-1) + 1
        place = {"id": check_node_id(number), **asdict(pose)}
        fields: dict[str, object] = {"title": title, "date": today(), "type": FIELD}
        fields |= {"tags": list(tags), FIELD: place} if tags else {FIELD: place}
        path = note_path(palace.paths.rooms, title, room=_ROOM)
        note = compose_note(path, title, fields, lead=summary)
        return Plan([note], f"put {title} at {pose.x:g}, {pose.y:g}")

    return change_notes(palace, plan, command="locus", apply=apply)


def _loci_of(library: Library) -> LocusList:
    loci: dict[int, Locus] = {}
    problems: list[Problem] = []
    for document in library.documents.values():
        if document.is_cold:
            continue
        try:
            locus = read_locus(document)
        except UsageError as error:
            problems.append(Problem(document.path, None, "front matter", str(error)))
            continue
        if locus is None:
            continue
        other = loci.setdefault(locus.node_id, locus)
        if other is not locus:
            message = f"is node {locus.node_id}, as {other.path} is; change one of the ids"
            problems.append(Problem(document.path, None, "front matter", message))
    return LocusList([loci[number] for number in sorted(loci)], problems)
