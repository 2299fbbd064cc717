"""List the public API: ``python tests/api/signatures.py > tests/api/signatures.txt``."""

import inspect
import sys

import memory_palace
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace
from memory_palace.table import FEATURES, load

BELOW = {"ask", "book", "embedder", "follow", "parse", "snapshot", "writing"}
"""Methods for the package itself; they are not promised to anybody, but for ``Palace.ask``."""


class Written:
    """A text that is shown as it is, without quotation marks."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def list_signatures():
    """Yield a line for each public name, method and field, in a stable order."""
    for name in sorted(memory_palace.__all__):
        value = getattr(memory_palace, name)
        if not inspect.isclass(value) or value is Palace:
            continue
        if issubclass(value, PalaceError):
            yield f"{name}({value.__mro__[1].__name__}) exits {value.exit_code}"
        else:
            yield f"{name}{signature(value)}"
    for name, member in public_members():
        yield name if is_feature(member) else f"{name}{signature(member)}"


def public_members():
    """Yield each public method of ``Palace`` and of its features, with its dotted name."""
    yield "Palace", Palace
    features = {name: load(place) for name, place in FEATURES.items()}
    for name, member in members(Palace):
        if name not in features:
            yield f"Palace.{name}", member
    for attribute, feature in sorted(features.items()):
        yield f"Palace.{attribute}", feature
        for name, member in members(feature):
            yield f"Palace.{attribute}.{name}", member


def is_feature(member):
    return inspect.isclass(member) and member is not Palace


def members(owner):
    """Yield the public methods of a class."""
    for name in sorted(set(dir(owner))):
        is_below = name in BELOW and (owner, name) != (Palace, "ask")
        if not name.startswith("_") and not is_below and callable(getattr(owner, name)):
            yield name, getattr(owner, name)


def signature(member):
    """Return a signature as it is written, without the instance."""
    found = inspect.signature(member)
    given = [
        p.replace(annotation=written(p.annotation), default=default(p.default))
        for p in found.parameters.values()
        if p.name not in ("self", "palace")
    ]
    return found.replace(parameters=given, return_annotation=written(found.return_annotation))


def written(annotation):
    return Written(annotation) if isinstance(annotation, str) else annotation


def default(value):
    return Written("...") if inspect.isfunction(value) else value


if __name__ == "__main__":
    sys.stdout.write("".join(f"{line}\n" for line in list_signatures()))
