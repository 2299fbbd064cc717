"""JSON that comes from elsewhere, or is about to be kept, is checked against its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from memory_palace.errors import PalaceError

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class SchemaError(PalaceError):
    """A value does not have the form that its schema asks for."""


def check_schema(value: object, name: str, *, where: str) -> None:
    """Raise ``SchemaError`` naming the place inside ``where`` that breaks the schema ``name``."""
    problem = find_problem(value, name)
    if problem is not None:
        raise SchemaError(f"{where}: {problem}")


def check_belief(belief: Mapping[str, object], *, where: str = "belief") -> None:
    """Check a belief, and the hypothesis in it."""
    check_schema(belief, "belief", where=where)
    hypothesis = belief.get("last_vlm_hypothesis")
    if hypothesis is not None:
        check_schema(hypothesis, "hypothesis", where=f"{where}: last_vlm_hypothesis")


def find_problem(value: object, name: str) -> str | None:
    """Return the first thing that is wrong with a value, ``None`` where it is as it should be."""
    error: Any = next(_validator(name).iter_errors(value), None)
    if error is None:
        return None
    place = "".join(f"[{part}]" if type(part) is int else f".{part}" for part in error.path)
    return f"{place.lstrip('.') or 'the whole'}: {error.message[:200]}"


@cache
def _validator(name: str) -> Validator:
    from jsonschema import Draft7Validator  # delayed: 0.1 s, and only searches need it

    text = files(__package__).joinpath("schemas", f"{name}.json").read_text("utf-8")
    return Draft7Validator(json.loads(text))
