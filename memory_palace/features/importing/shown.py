"""How an import is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from memory_palace.features.importing.items import Broken, Fate, ImportReport, Sighted, Withheld
from memory_palace.shown import Shown, plural

_FATES: dict[Fate, str] = {
    "new": "new",
    "grown": "with more",
    "present": "there already",
    "changed": "changed at its source, left",
    "edited": "edited here, left",
    "gone": "gone from here, left out",
}
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class ImportShown(Shown):
    """What an import wrote, or would write."""

    format: str
    """The program that the export is of."""
    folder: str
    """Where new notes go, relative to the root."""
    applied: bool
    """Whether anything was written; else it is what would be."""
    counts: Mapping[Fate, int]
    turns: int
    """Of conversations, written or to be written."""
    bytes: int
    notes: Sequence[Sighted]
    """Those that are not there already as they are; ten thousand at most."""
    left_out: Mapping[str, int]
    """Parts that are no memory, counted by kind: tools, thinking, hidden ones."""
    withheld: Sequence[Withheld]
    """Secrets and private passages; ten thousand at most."""
    withheld_count: int
    broken: Sequence[Broken]
    """Entries that could not be read."""
    remark: str | None
    """Why the index is behind the notes; else null."""

    @classmethod
    def of(cls, report: ImportReport, remark: str | None) -> ImportShown:
        """Return a report as it is shown."""
        return cls(
            *(report.source, report.folder, report.is_applied),
            counts={fate: report.fates[fate] for fate in get_args(Fate)},
            turns=report.turns,
            bytes=report.written_bytes,
            notes=report.seen,
            left_out={kind: count for kind, count in report.read.dropped.items() if count},
            withheld=report.withheld,
            withheld_count=report.withheld_count,
            broken=report.read.broken,
            remark=remark,
        )

    def lines(self) -> Iterator[str]:
        """Return the figures, and the first of the notes."""
        written = "written to" if self.applied else "would be written to"
        turns = f"{plural(self.turns, 'turn')}, " if self.turns else ""
        yield f"{self.format}: {turns}{self.bytes / 1e6:.1f} MB {written} {self.folder}/"
        counts = (f"{count:,} {_FATES[fate]}" for fate, count in self.counts.items() if count)
        yield "; ".join(counts) or "nothing to import"
        yield from (f"{_FATES[seen.fate]}: {seen.path}" for seen in self.notes[:_MOST_LISTED])
        if len(self.notes) > _MOST_LISTED:
            more = sum(self.counts.values()) - self.counts["present"] - _MOST_LISTED
            yield f"and {more:,} more"
        left_out = sorted(self.left_out.items(), key=lambda item: -item[1])
        if left_out:
            yield f"left out: {', '.join(f'{count:,} {kind}' for kind, count in left_out)}"
        if self.withheld_count:
            count = plural(self.withheld_count, "secret or private passage")
            yield f"not to be indexed: {count}"
        if self.broken:
            yield f"not read: {plural(len(self.broken), 'entry')}"

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return what was not read or not written, and why the index is behind."""
        for broken in self.broken[:_MOST_LISTED]:
            yield f"{broken.file}, {broken.position}: {broken.reason}"
        for one in self.withheld[:_MOST_LISTED]:
            turn = f", turn {one.turn}" if one.turn else ""
            line = f", line {one.line}" if one.line else ""
            yield f"“{one.title}”{turn}{line}: {one.why}"
        if self.remark:
            yield self.remark
        if not self.applied and (self.counts["new"] or self.counts["grown"]):
            yield "nothing was written; add --apply"
