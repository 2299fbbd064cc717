"""Find the note that a person means, by path, stem, title or alias."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath

from memory_palace.errors import UsageError
from memory_palace.graph.resolve import Resolver, fold_name
from memory_palace.index.snapshot import Snapshot
from memory_palace.notes.excerpt import split_line_range

_SHOWN = 8


class NoteNames:
    """Every name of every note. Letter case and Unicode form do not matter."""

    def __init__(
        self, paths: Sequence[str], titles: Sequence[str], aliases: Sequence[Sequence[str]]
    ) -> None:
        self._paths = paths
        self._titles = titles
        self._aliases = aliases
        self._resolver = Resolver(paths, aliases)

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> NoteNames:
        """Take the names of every note of a snapshot, cold ones included where it holds them."""
        return cls(snapshot.paths, snapshot.titles, snapshot.aliases())

    def find(self, text: str) -> str:
        """Return the path of the note called ``text``; the first kind of name that fits decides.

        Lines behind a name, as answers have them, are passed over: ``name:10-20``.
        Raise ``UsageError`` with the candidates where several notes are called so, and with the
        nearest names where none is.
        """
        found = self._resolver.by_path(text) or self._titled(text) or self._resolver.by_alias(text)
        if len(found) == 1:
            return self._paths[found[0]]
        if found:
            shown = "".join(f"\n  {self._paths[place]}" for place in found[:_SHOWN])
            rest = f"\n  and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
            raise UsageError(f"{len(found)} notes match {text!r}; give a path:{shown}{rest}")
        name, line, _ = split_line_range(text)
        if line is not None:
            return self.find(name)
        near = self._nearest(text)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"no note matches {text!r}. {hint}`palace list` prints every note.")

    def _titled(self, text: str) -> list[int]:
        wanted = fold_name(text)
        return [i for i, title in enumerate(self._titles) if fold_name(title) == wanted]

    def _nearest(self, text: str) -> list[str]:
        names = {fold_name(PurePosixPath(path).name): path for path in self._paths}
        names |= {
            fold_name(name): path
            for path, title, others in zip(self._paths, self._titles, self._aliases, strict=True)
            for name in (title, *others)
        }
        near = get_close_matches(fold_name(PurePosixPath(text).name), names, n=3, cutoff=0.7)
        return list(dict.fromkeys(names[name] for name in near))
