"""Make a build visible: merge, calibrate, replace the commit record, sweep what nothing names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memory_palace.index.advice import count_languages
from memory_palace.index.calibration import calibrate
from memory_palace.index.chat import SmallTalk
from memory_palace.index.commit import Commit, SegmentRef, next_commit, write_commit
from memory_palace.index.compact import compact
from memory_palace.index.context import WRITING, BuildContext
from memory_palace.index.diff import MARGIN_NS
from memory_palace.index.fold import fold_segments
from memory_palace.index.questions import (
    embed_null_lines,
    find_best_null,
    find_null_lines,
)
from memory_palace.index.recipes import has_same_vectors
from memory_palace.index.segment import Segment
from memory_palace.index.snapshot import Snapshot
from memory_palace.models import Problem
from memory_palace.storage.atomic import is_named_by_content, remove_files, sweep_temporaries


def draft_commit(context: BuildContext, *, manifest: str, git_head: str) -> Commit:
    """Return a record without segments, with all that does not depend on them."""
    return Commit(
        generation=1,
        embedder=context.embedder.name,
        fingerprint=context.fingerprint,
        dimension=context.embedder.dimension,
        scanned_ns=context.now_ns,
        built_ns=context.now_ns,
        manifest=manifest,
        git_head=git_head,
        waits_for=context.waits_for,
    )


class Publisher:
    """Makes the segments of a build visible, once or in steps, and counts what that wrote."""

    def __init__(
        self,
        context: BuildContext,
        before: Commit | None,
        draft: Commit,
        opened: dict[str, Segment],
        *,
        keeps_before: bool,
    ) -> None:
        """Take the segments of a build, ``opened`` by name, and its record without them.

        ``keeps_before`` leaves readers what they have until every passage has a vector.
        """
        self._context, self._draft, self._opened = context, draft, opened
        self._before, self._keeps_before = before, keeps_before
        self.record_bytes = self.bytes_merged = 0
        self.problems: list[Problem] = []

    def publish(self, refs: Sequence[SegmentRef], *, is_stopped: bool = False) -> None:
        """Commit segments; they are merged once no row is without a vector.

        Who stops a build does not wait for the vectors of what refers to nothing.
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
            made = context.fingerprint, draft.dimension
            merged, size = compact(folder, refs, opened, fingerprint=made[0], dimension=made[1])
            draft = replace(draft, segments=merged)
            self.bytes_merged += size
        hot = Snapshot(
            draft,
            [fold_segments([opened[ref.name] for ref in draft.segments if not ref.is_cold])],
            rooms=context.paths.rooms,
        )
        waits = bool(draft.dimension) and not is_stopped
        embedder = context.embedder
        lines = (embed_null_lines if waits else find_null_lines)(folder, embedder)
        chance = calibrate(hot, embedder.embed_passages if waits else None)
        if lines is None or not (draft.dimension and hot.embedded_rows.any()):
            chance |= SmallTalk(hot, None).calibrate()
        else:
            chance |= find_best_null(hot, lines.questions)
            chance |= SmallTalk(hot, lines.chat).calibrate()
        advised = before.advised if before else ""
        draft = replace(
            draft,
            calibration=chance,
            languages=count_languages(hot),
            advised=advised,
        )
        if before and before.anchors and has_same_vectors(before.fingerprint, draft.fingerprint):
            draft = replace(draft, anchors=before.anchors)
            if not draft.awaiting:
                followed = context.follow(hot, before.anchors, context.embedder, context.now_ns)
                draft = replace(draft, anchors=followed.names)
                self.problems += followed.problems
        self._before = commit = next_commit(before, draft)
        self.record_bytes += write_commit(context.paths.commit, commit)
        sweep(folder, commit)

    def refresh(self, commit: Commit, *, hashed: int) -> None:
        """Note that files which looked racy were hashed and are the same, or who listed them."""
        draft = self._draft
        sweep(self._context.paths.index, commit)
        is_racy = hashed > 0 and draft.scanned_ns > commit.scanned_ns + MARGIN_NS
        told = {name: getattr(draft, name) for name in ("manifest", "git_head", "waits_for")}
        again = replace(commit, scanned_ns=draft.scanned_ns, **told)
        if is_racy or any(getattr(commit, name) != value for name, value in told.items()):
            self._before = again
            self.record_bytes += write_commit(self._context.paths.commit, again)


def is_calibrated(commit: Commit) -> bool:
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
