"""Public hook: register signals, the facts that they read, and profiles that weight them.

``register`` takes an ``Extension``. An installed package provides one as an entry point of the
group ``memory_palace.signals``, imported when a name is otherwise unknown and when notes are
indexed. The package's own feature ``structure`` is an extension too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from memory_palace.errors import MissingPartError, UsageError
from memory_palace.table import EXTENSIONS, load

if TYPE_CHECKING:
    from memory_palace.config import Config
    from memory_palace.index.values import Derived
    from memory_palace.models import Scores
    from memory_palace.notes.note import Chunk, Note
    from memory_palace.retrieval.evidence import Evidence, Places

__all__ = ["Extension", "ProfileSettings", "Signal", "register"]

GROUP = "memory_palace.signals"
"""The group of entry points."""
STRUCTURE = "structure"
"""The extension whose facts are kept only with `palace index --structure`."""


SIGNALS = frozenset(
    "semantic dense note_dense lexical note_lexical covered replied asked_kind beside_words "
    "beside_meaning speaker statement called titled anchor anchoring questions question_words "
    "recency importance temporal dated".split()
)
"""Signals of the engine, functions of ``retrieval.signals`` and ``retrieval.times``; others are
registered."""

METADATA = frozenset({"recency", "importance"})
"""Query-independent signals: ungated, they would rank a fresh note above the relevant one."""

OF_VECTORS = frozenset(
    {"semantic", "dense", "note_dense", "beside_meaning", "anchoring", "questions"}
)
"""Signals that are 0 without vectors."""

SHIPPED = ("compound", "raw", "hybrid", "anchors", "bm25")
"""Profiles of the engine; extensions have others."""

DEFAULT_PROFILE = "hybrid"
"""The most accurate profile for notes; see the measurements in references/decisions.md."""


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """A profile of an extension; ``None`` inherits the value of the extended profile."""

    extends: str | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight by signal; 0 removes an inherited one."""
    gated: tuple[str, ...] | None = None
    capped: tuple[str, ...] | None = None
    cap: float | None = None
    preserve_rank: bool | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """A function from evidence and rows to one score per row, at least 0; 0 means no evidence."""

    measure: Callable[[Evidence, Places], Scores]
    is_share: bool = False
    """Whether scores are shares in [0, 1], standardized by the other passages' deviation."""
    needs_structure: bool = False
    """Whether it reads facts that only `palace index --structure` keeps."""
    needs_vectors: bool = False
    """Whether it is 0 without vectors, and recomputed in double precision."""
    is_imprecise: bool = False
    """Whether a profile's ``cap`` applies to it if the profile gives no ``capped``."""


@dataclass(frozen=True, slots=True)
class Extension:
    """The signals, profiles and facts that one package adds to the ranking."""

    name: str
    signals: Mapping[str, Signal] = field(default_factory=dict)
    profiles: Mapping[str, ProfileSettings] = field(default_factory=dict)
    facts: Callable[[Note, Chunk, Config], Derived] | None = None
    """Derives facts of one passage; only ``facts`` (kind and key) and ``extras`` are used."""
    version: str = "1"
    """Version of its facts; if it changes, `palace index` derives them again."""


_registered: dict[str, Extension] = {}


def register(extension: Extension) -> None:
    """Register an extension in this process; it replaces one of the same name.

    Raise ``UsageError`` if a signal's or a profile's name is taken.
    """
    others = [other for other in _registered.values() if other.name != extension.name]
    signals = chain(SIGNALS, *(other.signals for other in others))
    profiles = chain(SHIPPED, *(other.profiles for other in others))
    for what, names, taken in (
        ("signal", extension.signals, set(signals)),
        ("profile", extension.profiles, set(profiles)),
    ):
        if both := sorted(taken & names.keys()):
            raise UsageError(f"the extension {extension.name}: the {what} {both[0]} is taken")
    _registered[extension.name] = extension


def extensions() -> list[Extension]:
    """Return every extension, including those of installed packages."""
    _load_own()
    _load_installed()
    return list(_registered.values())


def fact_readers(*, structured: bool) -> list[Extension]:
    """Return the extensions that derive facts; ``structure`` only if ``structured``."""
    _load_installed()
    if structured:
        _load_own()
    return [e for e in _registered.values() if e.facts and (structured or e.name != STRUCTURE)]


def find_signal(name: str) -> Signal | None:
    """Return a signal by name, searching installed packages last; ``None`` if unknown."""
    return next((e.signals[name] for e in _by_cost() if name in e.signals), None)


def find_profile(name: str) -> ProfileSettings | None:
    """Return a profile by name, searching installed packages last; ``None`` if unknown."""
    return next((e.profiles[name] for e in _by_cost() if name in e.profiles), None)


def structure() -> Extension:
    """Return the extension whose facts `palace index --structure` keeps.

    Raise ``MissingPartError`` if that feature is not installed.
    """
    _load_own()
    if STRUCTURE not in _registered:
        raise MissingPartError("this installation has no feature that reads structure")
    return _registered[STRUCTURE]


def _by_cost() -> Iterator[Extension]:
    yield from list(_registered.values())
    for load_more in (_load_own, _load_installed):
        load_more()
        yield from list(_registered.values())


def _load_own() -> None:
    for name, place in EXTENSIONS.items():
        if name not in _registered:
            register(load(place))


@cache
def _load_installed() -> None:
    from importlib.metadata import entry_points  # delayed: it takes longer than a question

    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            extension = entry.load()
        except Exception as error:
            raise MissingPartError(
                f"the extension {entry.name} ({entry.value}) cannot be loaded: {error!r:.200}; "
                "mend or uninstall its package"
            ) from error
        if not isinstance(extension, Extension):
            raise MissingPartError(f"{entry.value} is no Extension of memory_palace.signals")
        register(extension)
