"""What a store says of a palace as a whole: the row that makes a push visible."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from memory_palace.config import ROOMS, Config, Rooms
from memory_palace.errors import IndexDamagedError
from memory_palace.features.store.statements import Statements
from memory_palace.index.commit import Commit
from memory_palace.models import Matrix

KEPT = ("half_life_days", "locale", "profile")
"""Settings that decide on answers, and neither run nor open anything."""
_OF_FILES = ("segments", "previous", "anchors")
_OF_ONE_BUILD = ("generation", "scanned_ns", "built_ns", "manifest", "git_head")
"""Fields of the record that differ between two builds of the same notes."""
_BESIDE: Mapping[str, type] = {"settings": dict, "rooms": dict, "disputes": dict}
"""What the record holds beside the fields of ``Commit``."""
_COLUMNS = ("number", "record", "built_by", "notes", "passages", "rows", "next_note")
READ = f"SELECT {', '.join(_COLUMNS)} FROM generation WHERE palace = %(palace)s"
_WRITE = (
    f"INSERT INTO generation (palace, {', '.join(_COLUMNS)}, sample) VALUES"
    f" (%(palace)s, {', '.join(f'%({name})s' for name in _COLUMNS)}, %(sample)b)"
    " ON CONFLICT (palace) DO UPDATE SET built_at = now(), sample = EXCLUDED.sample, "
    + ", ".join(f"{name} = EXCLUDED.{name}" for name in _COLUMNS)
)


@dataclass(frozen=True, slots=True)
class Generation:
    """The row of a palace in the table ``generation``, but for the sample of vectors."""

    number: int = 0
    record: Mapping[str, Any] = field(default_factory=dict)
    built_by: str = ""
    notes: int = 0
    passages: int = 0
    """Those outside the cold zone, without questions."""
    rows: int = 0
    """All of them, those of the cold zone and questions as well."""
    next_note: int = 0
    """The last number that a note was given."""

    @property
    def commit(self) -> Commit:
        """The record as a reader of files has it, without segments."""
        fields = {name: value for name, value in self.record.items() if name not in _BESIDE}
        return Commit(generation=self.number, **fields)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was pushed of the settings; see ``kept_settings``."""
        found: Mapping[str, Any] = self.record.get("settings", {})
        return found

    @property
    def rooms(self) -> Rooms:
        """Which folder is which room."""
        return Rooms(self.record.get("rooms", {}))

    @property
    def disputes(self) -> dict[str, tuple[str, ...]]:
        """The open conflicts of every note that is party to one."""
        return {path: tuple(found) for path, found in self.record.get("disputes", {}).items()}


def read_generation(statements: Statements) -> Generation | None:
    """Return what is committed for a palace; nothing was pushed to it where there is no row.

    Raise ``IndexDamagedError`` for a row that cannot be read.
    """
    found = statements.ask(READ)
    if not found:
        return None
    generation = Generation(*found[0])
    try:
        commit = generation.commit
        is_whole = all(
            type(value) is kind
            for value, kind in (
                (commit.fingerprint, str),
                (commit.embedder, str),
                (commit.dimension, int),
                (commit.calibration, dict),
                (commit.languages, dict),
                *((generation.record.get(name, {}), kind) for name, kind in _BESIDE.items()),
            )
        )
        is_whole = is_whole and commit.dimension >= 0
        is_whole = is_whole and set(generation.rooms.folders.values()) <= ROOMS.keys()
        is_whole = is_whole and all(
            isinstance(path, str) for paths in generation.disputes.values() for path in paths
        )
        sum(commit.calibration.values())
    except (AttributeError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise damaged("the record of the generation")
    return generation


def read_sample(statements: Statements, dimension: int) -> Matrix:
    """Return the vectors of the passages that say what a cosine is by chance."""
    ((data,),) = statements.ask("SELECT sample FROM generation WHERE palace = %(palace)s")
    return read_matrix(data, dimension, "the sample of the generation")


def read_matrix(data: bytes, dimension: int, what: str) -> Matrix:
    """Return vectors from their bytes; raise ``IndexDamagedError`` where they are none."""
    if len(data) % (4 * dimension or 1) or (data and not dimension):
        raise damaged(what)
    found: Matrix = np.frombuffer(data, "<f4").reshape(-1, dimension) if dimension else _NO_VECTORS
    if not np.isfinite(found).all():
        raise damaged(what)
    return found


_NO_VECTORS: Matrix = np.zeros((0, 0), np.float32)


def begin_anew(statements: Statements) -> Generation:
    """Return a generation that holds nothing, after the one that is there."""
    found = statements.ask("SELECT number FROM generation WHERE palace = %(palace)s")
    return Generation(number=found[0][0] if found else 0)


def write_generation(statements: Statements, generation: Generation, sample: bytes) -> None:
    """Replace the row: with the commit of this transaction readers see the new generation."""
    values = {name: getattr(generation, name) for name in _COLUMNS}
    values["record"] = json.dumps(generation.record)
    statements.run(_WRITE, sample=sample, **values)


def record_of(
    commit: Commit,
    settings: Mapping[str, Any],
    rooms: Rooms,
    disputes: Mapping[str, tuple[str, ...]],
) -> dict[str, Any]:
    """Return what a store keeps of a commit record, and what its readers need beside it."""
    record = asdict(replace(commit, segments=()))
    for name in (*_OF_FILES, "generation"):
        del record[name]
    told = {path: [*found] for path, found in disputes.items()}
    return record | {"settings": settings, "rooms": dict(rooms.folders), "disputes": told}


def is_same_record(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Say whether two records are of the same notes, whenever they were built."""
    names = {*first, *second} - {*_OF_FILES, *_OF_ONE_BUILD}
    return all(first.get(name) == second.get(name) for name in names)


def damaged(what: str) -> IndexDamagedError:
    """Return the error for what a store holds and nobody can read."""
    return IndexDamagedError(
        f"{what} cannot be read from the store: `palace config store verify` says what else is "
        "damaged, `palace index --verify --store …` writes it again"
    )


def kept_settings(config: Config) -> dict[str, Any]:
    """Return the settings that readers of a store need, as JSON has them; no defaults."""
    usual = Config()
    found = {name: getattr(config, name) for name in KEPT}
    return {name: value for name, value in found.items() if value != getattr(usual, name)}


def read_kept(values: Mapping[str, Any], source: str) -> Config:
    """Check what a store holds of settings; raise ``ConfigError`` as for a settings file."""
    known = {name: values[name] for name in KEPT if name in values}
    if not known:
        return Config()
    from memory_palace.settings import parse_config  # delayed: most palaces have the defaults

    return parse_config(known, source=source)
