"""Write ``references/schemas``, the shapes of ``--json``, from the values that verbs return."""

import ast
import inspect
import json
import sys
import textwrap
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from command_reference import walk_verbs
from pydantic import ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

from memory_palace.shown import Absent, Shown, key_of
from memory_palace.table import load

FOLDER = Path(__file__).parent.parent / "references" / "schemas"
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
BY_HAND = frozenset(("error",))
"""Files of shapes that no verb returns."""


def shown_values() -> Iterator[tuple[str, tuple[type[Shown], ...]]]:
    """Yield each verb that has ``--json``, and the values that it may return."""
    for words, command in walk_verbs():
        if any("--json" in parameter.opts for parameter in command.params):
            returned = get_type_hints(inspect.unwrap(command.callback))["return"]
            yield words, tuple(_values(returned))


def _values(returned: Any) -> Iterator[type[Shown]]:
    """Yield the values in what a verb returns."""
    if get_origin(returned) in (Union, UnionType):
        for one in get_args(returned):
            yield from _values(one)
    elif get_args(returned):  # an iterator of values
        yield from _values(get_args(returned)[0])
    elif returned is not NoneType:
        yield returned


def schema_of(words: str, values: Sequence[type[Shown]]) -> dict[str, Any]:
    """Return the JSON schema of a verb's answer."""
    kinds = tuple(_object(value, schema=value.schema) for value in values)
    made = TypeAdapter(Union[kinds]).json_schema(mode="serialization")  # noqa: UP007
    return {"$schema": _DRAFT, "title": f"palace {words} --json", **_untitled(made)}


@cache
def _object(kind: type[Any], *, schema: int | None = None) -> Any:
    """Return the dictionary that a dataclass, or a dictionary with known keys, is in JSON."""
    if is_typeddict(kind):
        given = get_type_hints(kind, include_extras=True)
        known = {name: _required(hint) for name, hint in given.items()}
        return with_config(ConfigDict(extra="forbid"))(TypedDict(kind.__name__, known))  # type: ignore[misc]
    hints = {one.name: one.type for one in fields(kind) if not one.metadata.get("inner")}
    modules = [vars(sys.modules[one.__module__]) for one in reversed(kind.__mro__)]
    stub = type(kind.__name__, (), {"__annotations__": hints, "__module__": kind.__module__})
    resolved = get_type_hints(stub, dict(ChainMap(*reversed(modules))), include_extras=True)
    told = _docstrings(kind)
    spread = {one.name: one.metadata for one in fields(kind) if one.metadata.get("spread")}
    keys: dict[str, Any] = {} if schema is None else {"schema": Literal[schema]}
    for name, hint in resolved.items():
        if name in spread:
            keys |= _spread_keys(hint, spread[name].get("places"))
            continue
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        kept = [_plain(part) for part in parts if part != Absent]
        value = Union[tuple(kept)] if len(kept) > 1 else kept[0]  # noqa: UP007
        if name in told:
            value = Annotated[value, Field(description=told[name])]
        keys[key_of(name)] = NotRequired[value] if len(kept) < len(parts) else value
    return with_config(ConfigDict(extra="forbid"))(TypedDict(kind.__name__, keys))  # type: ignore[misc]


def _required(hint: Any) -> Any:
    is_missing = get_origin(hint) is NotRequired
    return NotRequired[_plain(get_args(hint)[0])] if is_missing else _plain(hint)


def _spread_keys(hint: Any, places: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the keys of a value that stand in the object around it, where there is a value.

    A mapping has the keys of the table's ``places``, each with what the function there returns.
    """
    if places is not None:
        found = {key: get_type_hints(load(place))["return"] for key, place in places.items()}
        return {key: _object(value) for key, value in found.items()}
    (kind,) = [one for one in (hint, *get_args(hint)) if is_dataclass(one) or is_typeddict(one)]
    keys = get_type_hints(_object(kind), include_extras=True)  # type: ignore[arg-type]
    if kind is hint:
        return keys
    return {
        key: value if get_origin(value) is NotRequired else NotRequired[value]
        for key, value in keys.items()
    }


def _plain(hint: Any) -> Any:
    """Return a type with dictionaries for dataclasses, and lists for tuples."""
    if is_dataclass(hint) or is_typeddict(hint):
        return _object(hint)  # type: ignore[arg-type]
    if hint is Shown:  # of another feature
        return dict[str, Any]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return Union[tuple(map(_plain, arguments))]  # noqa: UP007
    if origin is tuple and arguments[-1] is not Ellipsis:
        return tuple[tuple(map(_plain, arguments))]  # type: ignore[misc]
    if origin is Annotated:
        return _plain(arguments[0])
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return dict[_plain(arguments[0]), _plain(arguments[1])]  # type: ignore[misc]
    if inspect.isclass(origin) and issubclass(origin, Sequence | set | frozenset):
        return list[_plain(arguments[0])]  # type: ignore[misc]
    return hint


def _docstrings(kind: type[Any]) -> dict[str, str]:
    """Return what is written below each field of a class and those it derives from."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        if not is_dataclass(one):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                said = ast.literal_eval(text.value)
                found[ast.unparse(field.target)] = " ".join(said.replace("``", "").split())
    return found


def _untitled(value: Any) -> Any:
    """Return a schema without the titles that only repeat the names."""
    if isinstance(value, dict):
        is_named = "properties" in value or "type" in value or "anyOf" in value or "$ref" in value
        return {
            key: _untitled(one)
            for key, one in value.items()
            if not (key == "title" and is_named and isinstance(one, str))
        }
    return [_untitled(one) for one in value] if isinstance(value, list) else value


def write(schema: Mapping[str, Any]) -> str:
    """Return a schema as it stands in its file."""
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


def file_of(words: str) -> Path:
    """Return the file of a verb's schema."""
    return FOLDER / f"{words.replace(' ', '-')}.json"


if __name__ == "__main__":
    for verb, shown in shown_values():
        file_of(verb).write_text(write(schema_of(verb, shown)), "utf-8")
