"""Bring the index up to date with the notes: ``build_index`` names the steps in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256

from memory_palace.index.commit import SegmentRef
from memory_palace.index.diff import Diff, Listing, append_lines, consult, diff_notes, meta_rows
from memory_palace.index.opened import EMPTY, CommittedState
from memory_palace.index.publish import Publisher
from memory_palace.index.rows import Batch, KnownVectors, RowMaker
from memory_palace.index.segment import open_segment, tombstone, write_segment
from memory_palace.index.values import LOOKING, BuildContext, IndexReport
from memory_palace.notes.discovery import Discovery, SourceFile, discover_notes
from memory_palace.notes.note import read_note
from memory_palace.storage import remove_files


def build_index(
    context: BuildContext, state: CommittedState, *, force: bool = False, verify: bool = False
) -> IndexReport:
    """Index every note that changed. The caller holds the writer's lock.

    ``state`` is what is committed. ``force`` uses nothing of it but when undated notes last
    changed, and another recipe or embedder such vectors as fit; ``verify`` hashes every note.
    Nothing is visible to readers until the commit.
    """
    started, paths = context.monotonic(), context.paths
    is_anew = force or (state.commit and state.commit.fingerprint != context.fingerprint)
    base = EMPTY if is_anew else state
    found = _discover(context)
    diff = _compare(context, base, found, verify=verify or bool(state.problems))
    listing = consult(context, base, diff)
    known = _known_vectors(context, state, diff, force=force)
    maker = RowMaker(context, listing, known, _ages(state, diff), may_wait=True)
    opened, tally = {segment.name: segment for segment in state.segments}, maker.tally
    tally.notes_total = len(diff.to_read())
    written: list[SegmentRef] = []
    for is_cold, batch in _batches(base, diff, listing, maker):
        if not context.is_dry_run:
            written.append(_write(context, batch, is_cold=is_cold))
            opened[written[-1].name] = open_segment(paths.index, written[-1])
            known.add_all(opened[written[-1].name])
    publisher = Publisher(
        context,
        state.commit,
        opened,
        manifest=append_lines(context, listing, diff, tally.gone()),
        git_head=listing.head,
        keeps_before=bool(is_anew and state.commit and state.commit.dimension),
    )
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
    problems += [*sorted(tally.problems, key=lambda p: p.path), *publisher.problems]
    before = {note.path for note in state.known()} if is_anew else set()
    return replace(
        _report_fates(diff, before, tally.gone()),
        left_out=found.left_out,
        embedded=tally.embedded if context.embedder.dimension else 0,
        reused=tally.reused,
        failed=tuple(dict.fromkeys(p.path for p in problems if p.is_failure)),
        problems=tuple(dict.fromkeys(problems)),
        seconds=context.monotonic() - started,
        bytes_written=sum(ref.array_bytes + ref.line_bytes for ref in written)
        + publisher.record_bytes,
        embedder=context.embedder.name,
        is_dry_run=context.is_dry_run,
    )


def _discover(context: BuildContext) -> Discovery:
    context.progress(LOOKING, 0, 0)
    found = discover_notes(context.paths, ignore=context.config.ignore).checked()
    context.progress(LOOKING, len(found.files), len(found.files))
    if not context.is_dry_run:
        remove_files(path for path in found.abandoned if not path.is_symlink())
    return found


def _compare(
    context: BuildContext, base: CommittedState, found: Discovery, *, verify: bool
) -> Diff:
    return diff_notes(
        found.files,
        base.known(),
        partial(_read_digest, context),
        scanned_ns=base.commit.scanned_ns if base.commit else 0,
        verify=verify,
    )


def _write(context: BuildContext, batch: Batch, *, is_cold: bool) -> SegmentRef:
    return write_segment(
        context.paths.index,
        batch.rows,
        fingerprint=context.fingerprint,
        dimension=context.embedder.dimension,
        is_cold=is_cold,
        vectors=batch.vectors,
    )


def _read_digest(context: BuildContext, file: SourceFile) -> bytes:
    data, _ = read_note(context.paths, file.path, limit_bytes=context.config.max_note_bytes)
    return sha256(data).digest()[:16]


def _known_vectors(
    context: BuildContext, state: CommittedState, diff: Diff, *, force: bool
) -> KnownVectors:
    """Return the vectors that need not be made: none, where the same are to be made again."""
    known, commit = KnownVectors(), state.commit
    is_same = commit is None or commit.embedder == context.embedder.name
    if force and is_same:
        return known
    for segment in state.segments if is_same else ():
        known.add_all(segment)
    if diff.new or diff.changed or diff.moved:
        known.add_leftovers(
            context.paths.index,
            fingerprint=context.fingerprint,
            committed=[segment.name for segment in state.segments],
        )
    return known


def _ages(state: CommittedState, diff: Diff) -> Callable[[SourceFile], int | None]:
    """Return a function that finds when a file's content last changed, if the index knows it."""
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
    """Yield batches of records, each with whether it is cold; those without text ride first."""
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
        extra += [tombstone(path) for path in sorted(known & maker.tally.gone())]
        if extra:
            yield is_cold, Batch(extra)


def _report_fates(diff: Diff, known: set[str], gone: set[str]) -> IndexReport:
    """Report the fate of each note; ``known`` are those of an index that is made anew."""
    new = {file.path for file in diff.new}
    return IndexReport(
        added=tuple(file.path for file in diff.new if file.path not in gone | known),
        changed=tuple(file.path for file, _ in diff.changed if file.path not in gone),
        moved=tuple((note.path, file.path) for file, note in diff.moved),
        removed=(*(note.path for note in diff.removed), *sorted(known - new)),
        unchanged=len(diff.unchanged) + len(diff.touched) + len(known & new),
    )
