"""The status of an index, and its verification against the notes."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import filterfalse

import numpy as np

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.registry import Embedder
from memory_palace.errors import CheckFailedError, IndexDamagedError
from memory_palace.index.commit import Commit, describe_mismatch, fits_recipe, read_commit
from memory_palace.index.diff import MENDED, open_state
from memory_palace.index.rows import chunk_row, parse
from memory_palace.index.segment import FIELDS, chunk_record, group_rows, same_keys
from memory_palace.index.snapshot import FreshnessState, Snapshot, check_freshness
from memory_palace.index.values import Derive
from memory_palace.models import Problem
from memory_palace.notes.discovery import SourceFile, discover_notes, find_copies
from memory_palace.notes.manifest import read_manifest
from memory_palace.notes.note import NoteUnreadable, read_note
from memory_palace.notes.sources import SourceNotes, count_notes
from memory_palace.places import HOOK_LOG, HOOK_MARKS
from memory_palace.shown import Shown, plural
from memory_palace.storage import is_named_by_content, is_own_record, parse_record
from memory_palace.system import read_file

VECTOR_TOLERANCE = 1e-5
"""Largest difference in any component between a stored vector and one made again."""
SAMPLE = 20
"""Number of vectors that are made again."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One mismatch between the index and its sources."""

    what: str
    """``index file``, ``change``, ``note``, ``chunk``, ``vector``, ``manifest``, ``leftover``,
    ``copy``."""
    where: str
    message: str
    is_derived: bool = True
    """Whether building the index again mends it."""


@dataclass(frozen=True, slots=True)
class Examination(Shown):
    """The counts of what was compared, and the mismatches."""

    findings: tuple[Finding, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)
    fixed: tuple[Finding, ...] = ()
    """What disagreed before the index was built again."""

    @property
    def needs_build(self) -> bool:
        """Whether nothing was compared, or a build fixes one of the findings."""
        return not self.checked or any(finding.is_derived for finding in self.findings)

    def lines(self) -> Iterator[str]:
        """Yield a line for each finding, then one with the counts of what was compared."""
        for mark, findings in (("fixed", self.fixed), ("problem", self.findings)):
            for finding in findings:
                yield f"{mark:<8} {finding.what}: {finding.where}: {finding.message}"
        counts = {what: f"{count:,} {what}" for what, count in self.checked.items()}
        if self.checked.get("vectors", 0) < self.checked.get("chunks", 0):
            counts["vectors"] = f"a sample of {counts['vectors']}"
        if counts:
            yield "checked  " + ", ".join(counts.values())

    def failure(self) -> CheckFailedError | None:
        """Return the error that counts the findings, or ``None`` without any."""
        if not self.findings:
            return None
        can_mend = not self.fixed and any(finding.is_derived for finding in self.findings)
        hint = "; `palace doctor --fix` rebuilds what is derived" if can_mend else ""
        verb = "does" if len(self.findings) == 1 else "do"
        return CheckFailedError(f"{plural(len(self.findings), 'thing')} {verb} not match{hint}")


def examine_index(
    paths: PalacePaths,
    config: Config,
    find_embedder: Callable[[str], Embedder],
    derive: Derive,
    *,
    fix: bool,
) -> Examination:
    """Compare the index with the notes and the manifest. Nothing is written.

    Raise ``IndexMissingError`` if there is no index, unless ``fix``.
    """
    state = open_state(paths, verify=True)
    commit = state.commit
    if commit is None and not (fix or state.problems):
        read_commit(paths.commit)  # raises IndexMissingError
    damage = [Finding("index file", p.path, p.message.removesuffix(MENDED)) for p in state.problems]
    if paths.journal.exists():
        is_own = is_own_record(paths.journal, parse_record(read_file(paths.journal)) or {})
        cure = "`palace doctor --fix` takes it back" if is_own else "its machine or a sync ends it"
        where = paths.shown(paths.journal)
        damage.append(Finding("change", where, f"a change was interrupted; {cure}", is_own))
    if commit is None:
        return Examination(tuple(damage))
    embedder, checked = find_embedder(commit.embedder), {"segments": len(commit.segments)}
    if not fits_recipe(embedder, commit, exactly=True):
        where = paths.commit.relative_to(paths.root).as_posix()
        unlike = Finding("index file", where, describe_mismatch(embedder, commit))
        return Examination((*damage, unlike))
    if len(state.refs) < len(commit.segments):
        return Examination(tuple(damage), checked)
    snapshot = Snapshot(commit, [state.hot, state.cold], rooms=paths.rooms)
    examiner = _Examiner(paths, config, embedder, derive, snapshot)
    copies = (Finding("copy", p.path, p.message, is_derived=False) for p in find_copies(paths))
    findings = (*damage, *examiner.examine(), *_leftovers(paths, commit), *copies)
    return Examination(findings, checked | examiner.checked)


@dataclass(slots=True)
class _Examiner:
    """Walks the notes once and compares each with the snapshot."""

    paths: PalacePaths
    config: Config
    embedder: Embedder
    derive: Derive
    snapshot: Snapshot
    embedded: list[tuple[bytes, int, str]] = field(default_factory=list)
    """Digest of each text that has a vector, the row that it is embedded for, and the text."""
    checked: dict[str, int] = field(
        default_factory=lambda: {"notes": 0, "chunks": 0, "vectors": 0, "manifest lines": 0}
    )

    def examine(self) -> Iterator[Finding]:
        """Yield the mismatches; count what was compared."""
        found = discover_notes(self.paths, ignore=self.config.ignore)
        for problem in found.problems:
            if problem.is_failure:
                yield Finding("note", problem.path, problem.message, is_derived=False)
        for left in found.abandoned:
            yield Finding("leftover", self.paths.shown(left), "is of a command that was ended")
        if not found.is_complete:
            return  # an incomplete scan cannot tell which notes are gone
        places = {path: place for place, path in enumerate(self.snapshot.paths)}
        rows = group_rows(self.snapshot.row_owner)
        for file in found.files:
            yield from self._note(file, places.pop(file.path, None), rows)
        for path in filterfalse(found.may_hold, places):
            yield Finding("note", path, "is in the index but not among the notes")
        yield from self._vectors()
        yield from self._manifest({file.path for file in found.files if not file.is_cold})

    def _note(
        self, file: SourceFile, place: int | None, rows: Mapping[int, list[int]]
    ) -> Iterator[Finding]:
        self.checked["notes"] += 1
        try:
            data, _ = read_note(self.paths, file.path, limit_bytes=self.config.max_note_bytes)
        except FileNotFoundError:
            yield Finding("note", file.path, "has just vanished", is_derived=False)
        except NoteUnreadable as error:
            yield Finding("note", file.path, error.problem.message, is_derived=False)
        else:
            if place is None:
                yield Finding("note", file.path, "is not in the index")
            elif sha256(data).digest()[:16] != bytes(self.snapshot.note_digests[place]):
                yield Finding("note", file.path, "has changed since it was indexed")
            else:
                yield from self._chunks(file, data, rows.get(place, []))

    def _chunks(self, file: SourceFile, data: bytes, rows: list[int]) -> Iterator[Finding]:
        snapshot = self.snapshot
        note = parse(file.path, data, self.embedder, self.config)
        chunks = (*note.chunks, *note.questions)
        derived = self.derive(note, snapshot.detail, self.config)
        expected = list(map(chunk_row, chunks, derived))
        self.checked["chunks"] += len(rows)
        if [bytes(snapshot.row_digests[row]) for row in rows] != [row.digest for row in expected]:
            yield Finding("chunk", file.path, "its chunks are not those of its text")
            return
        for row, chunk, own in zip(rows, chunks, expected, strict=True):
            where = f"{file.path}:{chunk.first_line}"
            lines = (chunk.first_line, chunk.last_line)
            shown = chunk_record(json.loads(own.line), file.path, lines, own.digest)
            try:
                if snapshot.chunk(row) != shown:
                    yield Finding("chunk", where, "its record is not of its text")
            except IndexDamagedError as error:
                yield Finding("index file", file.path, str(error))
            if not same_keys(snapshot.row_keys(row), own.keys):
                yield Finding("chunk", where, "its words or facts are not those of its text")
            if snapshot.lacking is None or not snapshot.lacking[row]:
                self.embedded.append((own.digest, row, chunk.embed_text))

    def _vectors(self) -> Iterator[Finding]:
        """Yield the stored vectors that differ from new ones, for the chunks of smallest digest."""
        sample = sorted(self.embedded)[:SAMPLE]
        if not sample:
            return
        self.checked["vectors"] += len(sample)
        again = self.embedder.embed_passages([text for _, _, text in sample])
        rows = np.array([row for _, row, _ in sample])
        distances = np.abs(again - self.snapshot.rows_of(rows)).max(axis=1, initial=0)
        for row, distance in zip(rows.tolist(), distances, strict=True):
            if distance > VECTOR_TOLERANCE:
                path = self.snapshot.paths[int(self.snapshot.row_owner[row])]
                yield Finding("vector", path, f"differs by {distance:.1e} when made again")

    def _manifest(self, hot: Collection[str]) -> Iterator[Finding]:
        manifest = read_manifest(self.paths)
        self.checked["manifest lines"] = len(manifest.entries)
        for problem in manifest.problems:
            where = str(replace(problem, message="")).removesuffix(": ")
            yield Finding("manifest", where, problem.message, is_derived=False)
        if self.config.manifest == "frozen":
            return
        for path in sorted(hot):
            if unicodedata.normalize("NFC", path) not in manifest.entries:
                yield Finding("manifest", path, "has no line")


def _leftovers(paths: PalacePaths, commit: Commit) -> Iterator[Finding]:
    """Yield the files in the index folder that no commit record names."""
    named = commit.names()
    logs = {name + end for name in (paths.server_log.name, HOOK_LOG) for end in ("", ".1")}
    kept = {paths.commit.name, paths.lock.name, ".gitignore", HOOK_MARKS, *logs}
    for path in sorted(paths.index.iterdir()):
        is_null = path.name.startswith("null-") and is_named_by_content(path)
        is_kept = path.name in kept or path.stem in named or path.stem == paths.view.stem
        if not (is_kept or is_null):
            where = path.relative_to(paths.root).as_posix()
            yield Finding("leftover", where, "belongs to no generation of the index")


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The state of a palace."""

    notes: int
    cold: int
    chunks: int
    dead_rows: int
    embedder: str
    dimension: int
    generation: int
    segments: int
    index_bytes: Mapping[str, int]
    """Size of each part: vectors, postings, other arrays, records for showing, commit record."""
    rooms: Mapping[str, int]
    sources: tuple[SourceNotes, ...]
    """Folders outside the palace whose Markdown is searched too, and never written."""
    freshness: FreshnessState
    manifest_orphans: tuple[str, ...]
    """Paths that the manifest lists and that are not there."""
    awaiting: int
    """Passages without a vector so far; the next build makes them."""
    problems: tuple[Problem, ...]
    """What was found in notes when they were indexed; in folders and in the manifest now."""
    built: datetime
    """UTC, in whole seconds."""
    behind: int
    """Notes that are new, changed or gone since."""
    left_out: tuple[str, ...]
    """What is left out by default, by path; folders end with a slash."""


def take_status(paths: PalacePaths, config: Config, snapshot: Snapshot) -> IndexStatus:
    """Return the status of an index; ``snapshot`` includes the cold zone."""
    commit = snapshot.commit
    freshness = check_freshness(paths, config, snapshot, most_entries=None)
    manifest = read_manifest(paths)
    present = set(snapshot.paths)
    orphans = [entry.path for entry in manifest.entries.values() if entry.path not in present]
    noted = [snapshot.note(place) for place in np.flatnonzero(snapshot.has_problems).tolist()]
    rooms = Counter(room or "(no room)" for room in snapshot.rooms)
    vectors = commit.rows * commit.dimension * 4
    fields = tuple(f"{field}_" for field in FIELDS)
    members = (member for segment in snapshot.segments for member in segment.arrays.items())
    postings = sum(array.nbytes for name, array in members if name.startswith(fields))
    arrays = sum(ref.array_bytes for ref in commit.segments)
    return IndexStatus(
        notes=len(snapshot.paths),
        cold=int(snapshot.cold.sum()),
        chunks=int(np.count_nonzero(snapshot.row_note >= 0)),
        dead_rows=sum(ref.dead_rows for ref in commit.segments),
        embedder=commit.embedder,
        dimension=commit.dimension,
        generation=commit.generation,
        segments=len(commit.segments),
        index_bytes={
            "vectors": vectors,
            "postings": postings,
            "records": arrays - vectors - postings,
            "previews": sum(ref.line_bytes for ref in commit.segments),
            "commit": paths.commit.stat().st_size,
        },
        rooms=dict(sorted(rooms.items())),
        sources=count_notes(paths, snapshot.paths),
        freshness=freshness.state,
        manifest_orphans=tuple(orphans),
        awaiting=commit.awaiting,
        problems=(
            *freshness.problems,
            *manifest.problems,
            *find_copies(paths),
            *(p for note in noted for p in note.problems),
        ),
        built=datetime.fromtimestamp(commit.built_ns // 10**9, UTC),
        behind=freshness.behind,
        left_out=freshness.left_out,
    )
