"""Make a build visible: merge, calibrate, replace the commit record, sweep what nothing names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from memory_palace.embedding.base import find_parts
from memory_palace.index.advice import count_languages
from memory_palace.index.calibration import calibrate
from memory_palace.index.chat import SmallTalk
from memory_palace.index.commit import Commit, SegmentRef, next_commit, write_commit
from memory_palace.index.compact import compact
from memory_palace.index.context import WRITING, BuildContext
from memory_palace.index.diff import MARGIN_NS
from memory_palace.index.fold import fold_segments
from memory_palace.index.questions import NullVectors, find_best_null
from memory_palace.index.recipes import has_same_vectors
from memory_palace.index.segment import Segment
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.state import CommittedState
from memory_palace.models import Problem
from memory_palace.storage.atomic import is_named_by_content, remove_files, sweep_temporaries


@dataclass(frozen=True, slots=True)
class Written:
    """What a build has on disk before it commits."""

    refs: tuple[SegmentRef, ...]
    opened: dict[str, Segment]
    """Every mapped segment by name, old and new."""

    @property
    def size_bytes(self) -> int:
        """Bytes of the new segments."""
        return sum(ref.array_bytes + ref.line_bytes for ref in self.refs)


@dataclass(frozen=True, slots=True)
class Published:
    """What publishing wrote."""

    record_bytes: int = 0
    bytes_merged: int = 0
    problems: tuple[Problem, ...] = ()


def draft_commit(context: BuildContext, *, manifest: str, git_head: str) -> Commit:
    """Return a record without segments, with all that does not depend on them."""
    return Commit(
        generation=1,
        embedder=context.embedder.name,
        fingerprint=context.fingerprint,
        dimension=context.embedder.dimension,
        second_dimension=sum(part.dimension for part in find_parts(context.embedder)[1:]),
        scanned_ns=context.now_ns,
        built_ns=context.now_ns,
        manifest=manifest,
        git_head=git_head,
        waits_for=context.waits_for,
    )


def publish(
    context: BuildContext,
    state: CommittedState,
    base: CommittedState,
    written: Written,
    draft: Commit,
    find_lines: Callable[[], NullVectors | None],
    *,
    hashed: int,
) -> Published:
    """Commit the build. ``state`` is what readers see now, ``base`` what the build kept of it.

    ``find_lines`` waits for the vectors of what refers to nothing.
    """
    is_same = not written.refs and base is state and not state.problems
    if is_same and state.commit and _is_calibrated(state.commit):
        return _refresh(context, state.commit, draft, hashed=hashed)
    context.progress(WRITING, 0, 1)
    folder = context.paths.index
    refs, bytes_merged = compact(
        folder,
        [*base.refs, *written.refs],
        written.opened,
        fingerprint=context.fingerprint,
        dimension=context.embedder.dimension,
    )
    draft = replace(draft, segments=refs)
    hot = Snapshot(
        draft,
        [fold_segments([written.opened[ref.name] for ref in refs if not ref.is_cold])],
        rooms=context.paths.rooms,
    )
    problems: tuple[Problem, ...] = ()
    chance = _calibrate(context, hot, find_lines())
    before = state.commit
    advised = before.advised if before else ""
    languages = count_languages(hot)
    draft = replace(draft, calibration=chance, languages=languages, advised=advised)
    if before and before.anchors and has_same_vectors(before.fingerprint, draft.fingerprint):
        followed = context.follow(hot, before.anchors, context.embedder, context.now_ns)
        draft, problems = replace(draft, anchors=followed.names), followed.problems
    commit = next_commit(state.commit, draft)
    size = write_commit(context.paths.commit, commit)
    sweep(folder, commit)
    return Published(size, bytes_merged, problems)


def _calibrate(context: BuildContext, hot: Snapshot, lines: NullVectors | None) -> dict[str, float]:
    chance = calibrate(hot, context.embedder.embed_passages)
    if lines is not None:
        chance |= find_best_null(hot, lines.questions)
    return chance | SmallTalk(hot, lines.chat if lines else None).calibrate()


def _is_calibrated(commit: Commit) -> bool:
    """Say whether a commit has what small talk reaches, which older ones have not."""
    live = sum(ref.rows - ref.dead_rows for ref in commit.segments if not ref.is_cold)
    return not live or "chat_bar" in commit.calibration


def sweep(folder: Path, commit: Commit) -> None:
    """Delete what neither this generation nor the one before it names, and damaged vectors."""
    sweep_temporaries(folder)
    named = commit.names()
    derived = [path for kind in ("seg", "vec", "anchors") for path in folder.glob(f"{kind}-*")]
    remove_files(path for path in derived if path.stem not in named)
    remove_files(path for path in folder.glob("null-*") if not is_named_by_content(path))


def _refresh(context: BuildContext, commit: Commit, draft: Commit, *, hashed: int) -> Published:
    """Note that files which looked racy were hashed and are the same, or who listed them."""
    sweep(context.paths.index, commit)
    is_racy = hashed > 0 and draft.scanned_ns > commit.scanned_ns + MARGIN_NS
    is_same = (draft.manifest, draft.git_head, draft.waits_for) == (
        commit.manifest,
        commit.git_head,
        commit.waits_for,
    )
    if is_same and not is_racy:
        return Published()
    again = replace(
        commit,
        scanned_ns=draft.scanned_ns,
        manifest=draft.manifest,
        git_head=draft.git_head,
        waits_for=draft.waits_for,
    )
    return Published(write_commit(context.paths.commit, again))
