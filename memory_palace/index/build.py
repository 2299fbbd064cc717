"""Build the index incrementally: ``build_index`` calls the steps in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.errors import PalaceError
from memory_palace.index.chance import measure_chance
from memory_palace.index.commit import (
    Commit,
    SegmentRef,
    has_same_vectors,
    next_commit,
    write_commit,
)
from memory_palace.index.diff import (
    EMPTY,
    MARGIN_NS,
    CommittedState,
    Diff,
    Listing,
    append_lines,
    consult,
    diff_notes,
    meta_rows,
)
from memory_palace.index.rows import Batch, KnownVectors, RowMaker, VectorMaker
from memory_palace.index.segment import SOURCES, STAT, Fold, Segment, fold_segments, open_segment
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.values import LOOKING, WRITING, BuildContext, IndexReport
from memory_palace.index.words import PostingLookup
from memory_palace.index.writing import (
    compact,
    tombstone,
    write_filled,
    write_segment,
    write_vectors,
)
from memory_palace.models import Matrix, Problem
from memory_palace.notes.discovery import Discovery, SourceFile, discover_notes, is_unwanted
from memory_palace.notes.note import read_note
from memory_palace.storage import is_named_by_content, remove_files, sweep_temporaries

STEP_SECONDS = 30.0
"""Seconds between commits of new vectors: a killed build loses no more work than this."""
_HUGE_ROWS = 200
"""Passages above which a note gets its vectors after the others."""


def build_index(
    context: BuildContext, state: CommittedState, *, force: bool = False, verify: bool = False
) -> IndexReport:
    """Index every note that changed. The caller holds the writer's lock.

    ``state`` is the committed index. ``force`` reuses only the change times of undated notes from
    it; another recipe reuses the vectors that fit; ``verify`` hashes every note. Nothing is visible
    to readers until the commit.
    """
    started, paths = time.monotonic(), context.paths
    is_anew = force or (state.commit and state.commit.fingerprint != context.fingerprint)
    base = EMPTY if is_anew else state
    found = _discover(context)
    diff = diff_notes(
        found.files,
        base.known(),
        partial(_read_digest, context),
        scanned_ns=base.commit.scanned_ns if base.commit else 0,
        verify=verify or bool(state.problems),
        may_hold=found.may_hold,
    )
    listing = consult(context, base, diff)
    known = _known_vectors(context, state, diff, force=force)
    maker = RowMaker(context, listing, known, _ages(state, diff), may_wait=True)
    opened = {segment.name: segment for segment in state.segments}
    maker.notes, written = len(diff.to_read()), list[SegmentRef]()
    draft = replace(_draft_commit(context), git_head=listing.head)
    for is_cold, batch in _batches(base, diff, listing, maker):
        if not context.is_dry_run:
            ref = write_segment(
                paths.index, batch.rows, draft, is_cold=is_cold, vectors=batch.vectors
            )
            written.append(ref)
            opened[ref.name] = open_segment(paths.index, ref)
            known.add_all(opened[ref.name])
    draft = replace(draft, manifest=append_lines(context, listing, diff, maker.gone()))
    keeps_before = bool(is_anew and state.commit and state.commit.dimension)
    publisher = Publisher(context, draft, state.commit, opened, keeps_before=keeps_before)
    if not context.is_dry_run:
        refs = [*base.refs, *written]
        if state.commit and base is state and not (written or state.problems):
            publisher.refresh(state.commit, hashed=diff.hashed)
        else:
            publisher.publish(refs)
        read = partial(maker.read_texts, {file.path: file for file in found.files})
        names = {ref.name for ref in (refs if context.fills_all else written)}
        publisher.fill(refs, names, maker.vectors, read)
    problems = [*state.problems, *found.problems, *listing.manifest.problems, *diff.problems]
    problems += [*sorted(maker.problems, key=lambda p: p.path), *publisher.problems]
    return replace(
        _report_fates(diff, {note.path for note in state.known()} if is_anew else set(), maker),
        left_out=found.left_out,
        failed=tuple(dict.fromkeys(p.path for p in problems if p.is_failure)),
        problems=tuple(dict.fromkeys(problems)),
        seconds=time.monotonic() - started,
        bytes_written=sum(ref.array_bytes + ref.line_bytes for ref in written)
        + publisher.record_bytes,
        embedder=context.embedder.name,
        is_dry_run=context.is_dry_run,
    )


def _discover(context: BuildContext) -> Discovery:
    """Return the notes on disk; delete the temporary files that killed writers left."""
    context.progress(LOOKING, 0, 0)
    found = discover_notes(context.paths, ignore=context.config.ignore).checked()
    context.progress(LOOKING, len(found.files), len(found.files))
    if not context.is_dry_run:
        remove_files(path for path in found.abandoned if not path.is_symlink())
    return found


def _draft_commit(context: BuildContext) -> Commit:
    return Commit(
        generation=1,
        embedder=context.embedder.name,
        fingerprint=context.fingerprint,
        dimension=context.embedder.dimension,
        scanned_ns=context.now_ns,
        built_ns=context.now_ns,
        waits_for=context.waits_for,
    )


def _read_digest(context: BuildContext, file: SourceFile) -> bytes:
    data, _ = read_note(context.paths, file.path, limit_bytes=context.config.max_note_bytes)
    return sha256(data).digest()[:16]


def _known_vectors(
    context: BuildContext, state: CommittedState, diff: Diff, *, force: bool
) -> KnownVectors:
    """Return the vectors to reuse; none if ``force`` remakes those of the same embedder."""
    is_same = state.commit is None or state.commit.embedder == context.embedder.name
    if force and is_same:
        return KnownVectors()
    known = KnownVectors(state.segments if is_same else ())
    if diff.new or diff.changed or diff.moved:
        known.add_leftovers(
            context.paths.index,
            fingerprint=context.fingerprint,
            committed=[segment.name for segment in state.segments],
        )
    return known


def _ages(state: CommittedState, diff: Diff) -> Callable[[SourceFile], int | None]:
    """Return a function of a file: its last content change in ns, ``None`` if not indexed."""
    before = {(note.path, note.is_cold): note for note in state.known()} if diff.new else {}
    sources = {file.path: note for file, note in diff.moved}

    def age(file: SourceFile) -> int | None:
        note = sources.get(file.path)
        if note is None:
            note = before.get((file.path, file.is_cold))
            if note is None or note.stat[:2] != file.stat[:2]:  # size and mtime
                return None
        return state.fold(note.is_cold).changed_ns(note.place)

    return age


def _batches(
    state: CommittedState, diff: Diff, listing: Listing, maker: RowMaker
) -> Iterator[tuple[bool, Batch]]:
    """Yield batches of records by zone; a zone's records without text join its first batch."""
    removed = [*diff.removed, *(note for _, note in diff.moved)]
    for is_cold in (False, True):
        files = [file for file in diff.to_read() if file.is_cold == is_cold]
        extra = list(meta_rows(state, diff, listing, is_cold=is_cold))
        extra += [tombstone(note.path) for note in removed if note.is_cold == is_cold]
        for batch in maker.batches(sorted(files, key=lambda file: file.path)):
            rows = sorted([*extra, *batch.rows], key=lambda row: row.path)
            yield is_cold, batch._replace(rows=rows)
            extra = []
        known = {file.path for file, note in diff.changed if note.is_cold == is_cold}
        extra += [tombstone(path) for path in sorted(known & maker.gone())]
        if extra:
            yield is_cold, Batch(extra)


def _report_fates(diff: Diff, known: set[str], maker: RowMaker) -> IndexReport:
    """Return the report; ``known`` are the paths of an index that is rebuilt from scratch."""
    new, gone = {file.path for file in diff.new}, maker.gone()
    return IndexReport(
        added=tuple(file.path for file in diff.new if file.path not in gone | known),
        changed=tuple(file.path for file, _ in diff.changed if file.path not in gone),
        moved=tuple((note.path, file.path) for file, note in diff.moved),
        removed=(*(note.path for note in diff.removed), *sorted(known - new)),
        unchanged=len(diff.unchanged) + len(diff.touched) + len(known & new),
        embedded=maker.vectors.done + maker.unmade if maker.vectors.dimension else 0,
        reused=maker.reused,
    )


class Publisher:
    """Commits the segments of a build, at once or in steps, and counts the bytes of the records."""

    def __init__(
        self,
        context: BuildContext,
        draft: Commit,
        before: Commit | None,
        opened: dict[str, Segment],
        *,
        keeps_before: bool,
    ) -> None:
        """Take the segments of a build, ``opened`` by name, and a commit without segments.

        With ``keeps_before`` readers keep the previous index until every passage has a vector.
        """
        self._context, self._opened = context, opened
        self._before, self._keeps_before = before, keeps_before
        self._draft, self.record_bytes = draft, 0
        self.problems: list[Problem] = []

    def publish(self, refs: Sequence[SegmentRef], *, is_stopped: bool = False) -> None:
        """Commit segments; they are merged once every row has a vector.

        A build that ``is_stopped`` embeds no lines for the calibration of ``chance``.
        """
        context, opened, before = self._context, self._opened, self._before
        folder, draft = context.paths.index, replace(self._draft, segments=tuple(refs))
        if draft.awaiting:
            if self._keeps_before:
                return
            lacking = (opened[ref.name].lacking for ref in refs)
            has_some = any(mask is None or not mask.all() for mask in lacking)
            draft = replace(draft, dimension=draft.dimension if has_some else 0)
        else:
            context.progress(WRITING, 0, 1)
            draft = replace(draft, segments=compact(folder, draft, opened))
        hot = Snapshot(
            draft,
            [fold_segments([opened[ref.name] for ref in draft.segments if not ref.is_cold])],
            rooms=context.paths.rooms,
        )
        may_embed = bool(draft.dimension) and not is_stopped
        chance = measure_chance(hot, folder, context.embedder, may_embed=may_embed)
        draft = replace(draft, calibration=chance, languages=count_languages(hot))
        if before and before.anchors and has_same_vectors(before.fingerprint, draft.fingerprint):
            draft = replace(draft, anchors=before.anchors)
            if not draft.awaiting:
                names, told = context.follow(hot, before.anchors, context.embedder, context.now_ns)
                draft = replace(draft, anchors=names)
                self.problems += told
        self._before = commit = next_commit(before, draft)
        self.record_bytes += write_commit(context.paths.commit, commit)
        sweep(folder, commit)

    def fill(
        self,
        refs: Sequence[SegmentRef],
        names: Collection[str],
        maker: VectorMaker,
        read_texts: Callable[[str], Mapping[bytes, str]],
    ) -> None:
        """Embed the rows without vectors; publish every half minute, per segment, and when stopped.

        ``names`` are the segments to fill; ``refs`` are all segments of the index. ``read_texts``
        returns the texts of a note by digest. The newest notes come first, huge ones last.
        """
        context, opened, refs = self._context, self._opened, list(refs)
        maker.total += sum(ref.awaiting for ref in refs if ref.name in names)
        due = time.monotonic() + STEP_SECONDS
        for is_cold in (False, True):
            places = [place for place, ref in enumerate(refs) if ref.is_cold == is_cold]
            fold = fold_segments([opened[refs[place].name] for place in places])
            for place, notes in zip(places, fold.row_notes(), strict=False):
                if not refs[place].awaiting or refs[place].name not in names:
                    continue
                filling = Filling(context, opened, refs[place], notes >= 0)
                slices = maker.slices(
                    filling.texts(order_notes(fold, notes[filling.live]), read_texts)
                )
                try:
                    for digests, vectors in slices:
                        filling.put(digests, vectors)
                        if time.monotonic() >= due:
                            refs[place] = filling.write()
                            self.publish(refs)
                            due = time.monotonic() + STEP_SECONDS
                except (KeyboardInterrupt, PalaceError):
                    refs[place] = filling.write()
                    self.publish(refs, is_stopped=True)
                    # What is kept, not what was reported before it: a slice may lie between them.
                    maker.done = maker.total - sum(r.awaiting for r in refs if r.name in names)
                    maker.report()
                    raise
                refs[place] = filling.write()
                self.publish(refs)
                due = time.monotonic() + STEP_SECONDS

    def refresh(self, commit: Commit, *, hashed: int) -> None:
        """Rewrite the record if racy files proved unchanged, or manifest or git head changed."""
        draft = self._draft
        sweep(self._context.paths.index, commit)
        is_racy = hashed > 0 and draft.scanned_ns > commit.scanned_ns + MARGIN_NS
        told = {name: getattr(draft, name) for name in ("manifest", "git_head", "waits_for")}
        again = replace(commit, scanned_ns=draft.scanned_ns, **told)
        if is_racy or replace(again, scanned_ns=commit.scanned_ns) != commit:
            self._before = again
            self.record_bytes += write_commit(self._context.paths.commit, again)


class Filling:
    """A segment that was written without vectors, while they are made."""

    def __init__(
        self,
        context: BuildContext,
        opened: dict[str, Segment],
        ref: SegmentRef,
        is_live: NDArray[np.bool_],
    ) -> None:
        """Take a segment of ``opened``; its live rows without a vector need one."""
        segment = opened[ref.name]
        assert segment.lacking is not None
        self._context, self._opened, self._ref, self._segment = context, opened, ref, segment
        self._fresh: list[tuple[Sequence[bytes], Matrix]] = []
        self.live = np.flatnonzero(is_live & segment.lacking)
        self._dead = np.flatnonzero(~is_live & segment.lacking)
        blank = np.zeros((segment.rows, context.embedder.dimension), np.float32)
        self._vectors = segment.vectors if segment.vectors.shape[1] else blank
        self._missing: dict[bytes, list[int]] = {}
        """The rows of each text without a vector, by its digest."""
        for row, digest in zip(
            self.live.tolist(), segment.arrays["chunk_digest"][self.live], strict=True
        ):
            self._missing.setdefault(digest.tobytes(), []).append(row)

    def texts(
        self, paths: Iterable[str], read_texts: Callable[[str], Mapping[bytes, str]]
    ) -> Iterator[tuple[bytes, str]]:
        """Yield the texts of notes that have no vector yet, with their digests."""
        for path in paths:
            for digest, text in read_texts(path).items():
                if digest in self._missing:
                    yield digest, text

    def put(self, digests: Sequence[bytes], vectors: Matrix) -> None:
        """Store the vectors of the texts with these digests."""
        self._fresh.append((digests, vectors))
        for digest, vector in zip(digests, vectors, strict=True):
            self._vectors[self._missing.pop(digest, [])] = vector

    def write(self) -> SegmentRef:
        """Write the new vectors, or the whole segment once none is missing; return its reference.

        ``opened`` gains the segment with its vectors.
        """
        folder, segment, ref = self._context.paths.index, self._segment, self._ref
        waiting = [row for rows in self._missing.values() for row in rows]
        if waiting:
            lacking = np.zeros(segment.rows, np.bool_)
            lacking[[*waiting, *self._dead.tolist()]] = True
            if self._fresh:
                digests = [digest for part, _ in self._fresh for digest in part]
                made = [vectors for _, vectors in self._fresh]
                name = write_vectors(folder, digests, made, self._context.fingerprint)
                ref = replace(ref, awaiting=len(waiting), vectors=(*ref.vectors, name))
                self._fresh.clear()
            self._opened[ref.name] = segment.with_vectors(self._vectors, lacking)
        else:
            ref = write_filled(folder, ref, segment, self._vectors, self._dead)
            self._opened[ref.name] = open_segment(folder, ref)  # under its new name
        self._ref = ref
        return ref


def order_notes(fold: Fold, notes: NDArray[np.signedinteger]) -> list[str]:
    """Return the paths of notes, newest first, huge ones last; ``notes`` has one note per row."""
    is_own = fold.column("date_source") != SOURCES.index("mtime")
    changed = fold.column("stat")[:, STAT.changed_ns] / 1e9
    dates = np.where(is_own, fold.column("date"), changed)
    places, counts = np.unique(notes, return_counts=True)
    order = np.lexsort((places, -dates[places], counts > _HUGE_ROWS))
    return [fold.paths[place] for place in places[order].tolist()]


def sweep(folder: Path, commit: Commit) -> None:
    """Delete files that neither this generation nor the previous one names, and conflict copies."""
    sweep_temporaries(folder)
    remove_files(path for path in folder.iterdir() if is_unwanted(path.name, is_folder=False))
    named = commit.names()
    derived = [path for kind in ("seg", "vec", "anchors") for path in folder.glob(f"{kind}-*")]
    remove_files(path for path in derived if path.stem not in named)
    remove_files(path for path in folder.glob("null-*") if not is_named_by_content(path))


def count_languages(snapshot: Snapshot) -> dict[str, int]:
    """Return counts of passages outside the cold zone: not English, and of known language."""
    facts = PostingLookup(snapshot, "facts")
    other, unclear = (facts.document_frequency("tongue", key) for key in ("other", "unclear"))
    return {"other": other, "told": snapshot.passages - unclear}
