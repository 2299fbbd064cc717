"""The commit record: the one small file whose replacement makes an index visible."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.errors import IndexDamagedError, IndexMissingError
from memory_palace.storage.atomic import is_named_by_content, write_atomic

FORMAT = 3


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """One segment as the commit record names it."""

    name: str
    """``seg-<digest>``; the digest is that of the npz, which binds the jsonl by its own."""
    is_cold: bool
    rows: int
    notes: int
    dead_rows: int
    array_bytes: int
    line_bytes: int
    checksum: int
    """``npz.checksum`` of the arrays: what a reader compares before it trusts them."""
    awaiting: int = 0
    """Live rows without a vector; the arrays then hold none, and ``vectors`` what there is."""
    vectors: tuple[str, ...] = ()
    """``vec-<digest>``: files of vectors by the digests of their texts."""


@dataclass(frozen=True, slots=True)
class Commit:
    """What one generation of the index consists of."""

    generation: int
    embedder: str
    fingerprint: str
    """Everything that changes vectors or chunks. Another one means another index."""
    dimension: int
    segments: tuple[SegmentRef, ...] = ()
    previous: tuple[str, ...] = ()
    """Names of files of the generation before: kept until the next commit, for open readers."""
    calibration: Mapping[str, float] = field(default_factory=dict)
    scanned_ns: int = 0
    """When the last scan began; a file changed since (less a margin) is hashed, not trusted."""
    built_ns: int = 0
    manifest: str = ""
    """SHA-256 of the manifest whose types and priorities are in the records."""
    git_head: str = ""
    """The commit that git dates were taken from."""
    anchors: tuple[str, ...] = ()
    """Names of the anchor files: the nightly one, then the one of updates since."""
    waits_for: str = ""
    """The embedder that a build takes up once it is here; empty where this one was chosen."""
    languages: Mapping[str, int] = field(default_factory=dict)
    """How many passages are ``other`` than English, of how many that were ``told``."""

    @property
    def rows(self) -> int:
        """Rows in all segments, dead ones included."""
        return sum(segment.rows for segment in self.segments)

    @property
    def awaiting(self) -> int:
        """Live rows without a vector, while an index is published by words first."""
        return sum(segment.awaiting for segment in self.segments)

    def files(self) -> tuple[str, ...]:
        """Names of all files of this generation."""
        vectors = (name for segment in self.segments for name in segment.vectors)
        return (*(segment.name for segment in self.segments), *vectors, *self.anchors)

    def names(self) -> set[str]:
        """Every file that must not be swept."""
        return {*self.files(), *self.previous}


def read_commit(path: Path) -> Commit:
    """Read the record and check it against its own digest. Fields of other versions are ignored."""
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise IndexMissingError(f"there is no index in {path.parent}; run `palace index`") from None
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _damaged(path, "its format is not one this version reads")
    body: dict[str, Any] = record.get("commit", {})
    if record.get("check") != _check(body):
        raise _damaged(path, "it does not match its own digest")
    kept = {known.name: body[known.name] for known in fields(Commit) if known.name in body}
    segments = (
        segment | {"vectors": tuple(segment.get("vectors", ()))} for segment in body["segments"]
    )
    lists = {name: tuple(kept.get(name, ())) for name in ("previous", "anchors")}
    return Commit(**kept | lists | {"segments": tuple(SegmentRef(**each) for each in segments)})


def write_commit(path: Path, commit: Commit) -> int:
    """Replace the record; from here on readers see this generation. Return its size in bytes."""
    body = asdict(commit)
    for segment in body["segments"]:
        if not segment["awaiting"]:  # the record of a whole index stays as it was
            del segment["awaiting"], segment["vectors"]
    record = {"format": FORMAT, "check": _check(body), "commit": body}
    data = (json.dumps(record, sort_keys=True) + "\n").encode()
    write_atomic(path, data)
    return len(data)


def next_commit(before: Commit | None, after: Commit) -> Commit:
    """Give a commit its number and the names that readers of the one before may hold."""
    if before is None:
        return replace(after, generation=1)
    kept = set(after.files())
    old = tuple(name for name in before.files() if name not in kept)
    return replace(after, generation=before.generation + 1, previous=old)


def check_companion(folder: Path, name: str) -> Path:
    """Return a file beside the segments after comparing it with the SHA-256 in its name.

    Raise ``IndexDamagedError`` where it is missing or differs.
    """
    path = folder / f"{name}.npz"
    try:
        if is_named_by_content(path):
            return path
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise damaged_companion(path, "it is missing" if missing else "it cannot be read") from None
    raise damaged_companion(path, "it does not match its SHA-256")


def damaged_companion(path: Path, why: str) -> IndexDamagedError:
    """Name a file that cannot be trusted, and the command that makes it again."""
    return IndexDamagedError(
        f"{path.name} is damaged: {why}; run `palace graph anchors build` to make it again"
    )


def _check(body: Any) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def _damaged(path: Path, why: str) -> IndexDamagedError:
    return IndexDamagedError(
        f"index file {path.name} is damaged: {why}; run `palace index` to mend it"
    )
