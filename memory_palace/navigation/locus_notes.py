"""A note that is a locus: the field that gives it a place, read and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory_palace.errors import UsageError
from memory_palace.navigation.nodes import MemoryNode, Pose2D, check_node_id
from memory_palace.notes.document import LEAD, Document

FIELD = "locus"
"""The front matter field that makes a note a locus."""
_KEYS = ("id", "x", "y", "yaw")


@dataclass(frozen=True, slots=True)
class Locus:
    """A node, and the note it is."""

    path: str
    title: str
    node: MemoryNode


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
    node = MemoryNode(identity, pose, None, document.texts("tags"), summary)
    return Locus(document.path, document.title, node)


def locus_field(node_id: int, pose: Pose2D) -> dict[str, object]:
    """Return the value of the front matter field."""
    return {"id": node_id, "x": pose.x, "y": pose.y, "yaw": pose.yaw}


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
    numbers = [_number(key, value.get(key, 0.0)) for key in ("x", "y", "yaw")]
    return check_node_id(value["id"]), Pose2D(*numbers)


def _number(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{key} of {FIELD} is a number, not {value!r}")
    return float(value)
