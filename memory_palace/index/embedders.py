"""Choose embedders: that of an index, that of a build, and the one recommended for the notes.

The recommendation depends on the languages that the notes are written in.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.registry import (
    DEFAULT,
    MULTILINGUAL,
    NO_VECTORS,
    OFFERED,
    Embedder,
    choose_embedder,
    find_ready,
    get_embedder,
    is_available,
)
from memory_palace.errors import IndexDamagedError, IndexMissingError, WrongEmbedderError
from memory_palace.index.commit import (
    Commit,
    describe_mismatch,
    fits_recipe,
    is_embedder_of,
    read_choice,
    read_commit,
)
from memory_palace.language.words import LanguageShare, tell_tongue
from memory_palace.notes.discovery import discover_notes
from memory_palace.notes.note import NoteUnreadable, read_note
from memory_palace.shown import inner

MOST_ENGLISH = 0.05
"""Share of passages in other languages above which a model that knows them is recommended."""
MOSTLY_OTHER = 0.5
"""Share above which a model that reads English alone makes no vectors, unless it was asked for."""
_SAMPLED_NOTES = 200
_SAMPLED_BYTES = 4096
_MOST_ENTRIES = 10_000


class Embedders:
    """Embedders by name, each opened once; ``of`` checks that the recipe of an index fits."""

    def __init__(self, paths: PalacePaths, config: Config) -> None:
        """Open none yet; the settings may name the one to build with."""
        self._paths, self._config = paths, config
        self._made: dict[str, Embedder] = {}

    def get(self, name: str) -> Embedder:
        """Return the embedder of that name."""
        if name not in self._made:
            self._made[name] = get_embedder(name)
        return self._made[name]

    def share(self, other: Embedders) -> None:
        """Share the opened models with another palace, both ways."""
        other._made = self._made = {**self._made, **other._made}

    def of(self, commit: Commit) -> Embedder:
        """Return the embedder an index was built with.

        Raise ``WrongEmbedderError`` if it, or another part of the recipe, is of another version.
        """
        embedder = self.get(commit.embedder)
        if not fits_recipe(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder

    def to_build_with(
        self, commit: Commit | None, *, asked: str | None, force: bool, takes_up: bool
    ) -> tuple[Embedder, str]:
        """Return the embedder of a build, and which one it waits for; see ``choose_embedder``.

        Without a choice of the user or the settings it is the one recommended for the notes.
        """
        if asked and ":" in asked:
            asked = self.get(asked).name  # an alias, or a folder as it was typed
        configured = self._config.embedder
        if commit is None and not (asked or configured):
            asked = read_choice(self._paths.commit)  # of another version of palace
        is_open = not (asked or configured) and (commit is None or commit.waits_for)
        name, waits_for = choose_embedder(
            asked=asked,
            configured=configured,
            committed=commit.embedder if commit else None,
            waits_for=commit.waits_for if commit else "",
            preferred=choose_for(take_share(self._paths, self._config, commit))
            if is_open
            else OFFERED,
            force=force,
            takes_up=takes_up,
        )
        embedder = self.get(name)
        is_same = commit is None or name == commit.embedder
        if commit is not None and is_same and not force and not is_embedder_of(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder, waits_for


class AwaitedModel(NamedTuple):
    """A recommended embedder that an index was built without, though nothing else was chosen."""

    name: str
    is_ready: bool
    """Whether it is installed now: the next build makes vectors with it."""
    passages: int
    """Rows of the index, dead ones included."""


def find_awaited(paths: PalacePaths, config: Config) -> AwaitedModel | None:
    """Return the recommended model that an index lacks, installed by now or not; else ``None``."""
    commit = _read_commit(paths)
    if config.embedder is not None or (commit is not None and not commit.waits_for):
        return None
    names = choose_for(take_share(paths, config, commit))
    ready = find_ready(names)
    if commit is None and ready:
        return None
    return AwaitedModel(ready or names[0], bool(ready), commit.rows if commit else 0)


def _read_commit(paths: PalacePaths) -> Commit | None:
    with suppress(IndexMissingError, IndexDamagedError):  # a build makes it anew
        return read_commit(paths.commit)
    return None


def choose_for(share: LanguageShare) -> Sequence[str]:
    """Return the embedders recommended for a share of passages not in English, the best first."""
    other = share.not_english or 0
    if other > MOSTLY_OTHER:
        return MULTILINGUAL[:1]
    return OFFERED[::-1] if other > MOST_ENGLISH else OFFERED


def take_share(paths: PalacePaths, config: Config, commit: Commit | None = None) -> LanguageShare:
    """Return the share of passages that are not English, as the last build counted them.

    Without such a count it is that of the beginnings of 200 notes at most, evenly chosen.
    """
    if commit is not None and commit.languages.get("told"):
        return LanguageShare(commit.languages["other"], commit.languages["told"])
    found = discover_notes(paths, ignore=config.ignore, most_entries=_MOST_ENTRIES).files
    files = [file for file in found if not file.is_cold]
    told = other = 0
    for file in files[:: max(-(-len(files) // _SAMPLED_NOTES), 1)]:
        try:
            data, _ = read_note(paths, file.path, limit_bytes=config.max_note_bytes)
        except (OSError, NoteUnreadable):  # a build reports it
            continue
        tongue = tell_tongue(data[:_SAMPLED_BYTES].decode(errors="ignore"))
        told += tongue != "unclear"
        other += tongue == "other"
    return LanguageShare(other, told)


@dataclass(frozen=True, slots=True)
class ModelAdvice:
    """The share of passages that are not English, and a better embedder than the one in use."""

    not_english: float | None
    """Share of the passages that are not English; before a first build, of notes."""
    share: LanguageShare = inner()
    recommended_embedder: str | None = None
    """The embedder to change to; null where the one in use serves."""
    command: str = inner(default="")
    """The command that changes to it."""


def advise(paths: PalacePaths, config: Config) -> ModelAdvice:
    """Return whether another embedder is recommended for the notes, and the command to use it.

    Without an index, a sample of the notes and the embedder of a first build are judged. There is
    no advice against an embedder that reads other languages, a model of a library, or words alone.
    """
    commit = _read_commit(paths)
    share = take_share(paths, config, commit)
    not_english = None if share.not_english is None else round(share.not_english, 4)
    names = choose_for(share)
    used = commit.embedder if commit else config.embedder or find_ready(names) or NO_VECTORS
    if names[0] == DEFAULT or used != DEFAULT:
        return ModelAdvice(not_english, share)
    return ModelAdvice(not_english, share, names[0], _force_command(names[0], config))


def advise_asker(embedder: str, config: Config) -> str:
    """Return a line on why words alone were compared with a question, with the command to type."""
    name = MULTILINGUAL[0]
    first = f"set `embedder: {name}` in the settings, then " if config.embedder else ""
    command = _force_command(name, config)
    return f"{embedder} reads English alone; {first}`{command}` reads a hundred languages"


def _force_command(name: str, config: Config) -> str:
    fetch = "" if is_available(name) else f"palace models fetch {name} && "
    return f"{fetch}palace index --force{'' if config.embedder else f' --embedder {name}'}"
