"""Lists of nodes in JSON, as a map has them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from memory_palace.errors import UsageError
from memory_palace.navigation.nodes import MemoryNode, Pose2D
from memory_palace.navigation.schema import check_schema


def read_node_list(path: Path) -> list[Mapping[str, object]]:
    """Read and check a JSON list of nodes."""
    try:
        value = json.loads(path.read_text("utf-8"), parse_constant=_refuse_constant)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    return check_node_list(value, where=str(path))


def check_node_list(value: object, *, where: str) -> list[Mapping[str, object]]:
    """Return a list of nodes; raise ``PalaceError`` naming what is wrong with it."""
    check_schema(value, "nodes", where=where)
    records = cast("list[Mapping[str, object]]", value)
    counts = Counter(record["node_id"] for record in records)
    double = [number for number, count in counts.items() if count > 1]
    if double:
        raise UsageError(f"{where}: two nodes have id {double[0]}")
    return records


def parse_record(record: Mapping[str, object]) -> tuple[str, MemoryNode]:
    """Turn a record that the schema has checked into a node. Notes hold no embedding."""
    pose = cast("Mapping[str, float]", record["pose"])
    node = MemoryNode(
        int(cast(float, record["node_id"])),
        Pose2D(float(pose["x"]), float(pose["y"]), float(pose.get("yaw", 0.0))),
        None,
        tuple(cast("Sequence[str]", record.get("tags", ()))),
        " ".join(str(record.get("summary", "")).split()),
    )
    return " ".join(str(record.get("title", "")).split()), node


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is not a JSON number")
