"""Which embedder would serve the notes, by the languages that they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.registry import (
    DEFAULT,
    MULTILINGUAL,
    NO_VECTORS,
    OFFERED,
    find_ready,
    is_available,
    reads_english_alone,
)
from memory_palace.errors import IndexDamagedError, IndexLockedError, IndexMissingError
from memory_palace.index.commit import Commit, read_commit, write_commit
from memory_palace.index.postings import PostingLookup
from memory_palace.index.snapshot import Snapshot
from memory_palace.language.detect import LanguageShare, tell_tongue
from memory_palace.notes.discovery import SourceFile, discover_notes
from memory_palace.shown import inner
from memory_palace.storage.lock import writer_lock

MOST_ENGLISH = 0.05
"""Share of passages in other languages above which a model that knows them is recommended."""
MOSTLY_OTHER = 0.5
"""Share above which a model that knows English alone makes no vectors, unless it was asked for."""
_SAMPLED_NOTES = 200
_SAMPLED_BYTES = 4096
_MOST_ENTRIES = 10_000


@dataclass(frozen=True, slots=True)
class ModelAdvice:
    """How many passages are not English, and what would serve them better than what is in use."""

    not_english: float | None
    """Share of the passages that are not English; before a first build, of notes."""
    share: LanguageShare = inner()
    recommended_embedder: str | None = None
    """The embedder to change to; null where the one in use serves."""
    command: str = inner(default="")
    """What to type for it."""
    is_told: bool = inner(default=False)
    """Whether somebody was told already."""


def count_languages(snapshot: Snapshot) -> dict[str, int]:
    """Count the passages that are not English, and those that tell, outside the cold zone."""
    facts = PostingLookup(snapshot, "facts")
    other, unclear = (facts.document_frequency("tongue", key) for key in ("other", "unclear"))
    return {"other": other, "told": int(snapshot.hot_rows.sum()) - unclear}


def sample_languages(paths: PalacePaths, config: Config) -> LanguageShare:
    """Read the beginnings of 200 notes at most, evenly chosen, and count those not English."""
    found = discover_notes(paths, ignore=config.ignore, most_entries=_MOST_ENTRIES).files
    files = [file for file in found if not file.is_cold]
    step = max(-(-len(files) // _SAMPLED_NOTES), 1)
    return _count(paths, files[::step])


def _count(paths: PalacePaths, files: Sequence[SourceFile]) -> LanguageShare:
    told = other = 0
    for file in files:
        try:
            with (paths.root / file.path).open("rb") as opened:
                text = opened.read(_SAMPLED_BYTES).decode(errors="ignore")
        except OSError:  # the build says so
            continue
        tongue = tell_tongue(text)
        told += tongue != "unclear"
        other += tongue == "other"
    return LanguageShare(other, told)


def take_share(paths: PalacePaths, config: Config, commit: Commit | None = None) -> LanguageShare:
    """Return what the last build counted of passages; of a sample of notes where none told."""
    if commit is not None and commit.languages.get("told"):
        return LanguageShare(commit.languages["other"], commit.languages["told"])
    return sample_languages(paths, config)


def choose_for(share: LanguageShare) -> Sequence[str]:
    """Return the embedders that serve notes of which so many are not English, the best first."""
    other = share.not_english or 0
    if other > MOSTLY_OTHER:
        return MULTILINGUAL[:1]
    return OFFERED[::-1] if other > MOST_ENGLISH else OFFERED


def prefer_embedders(paths: PalacePaths, config: Config, commit: Commit | None) -> Sequence[str]:
    """Return the embedders that would serve the notes, by the index or else a sample of them."""
    return choose_for(take_share(paths, config, commit))


def advise_asker(embedder: str, config: Config) -> str:
    """Return in one line why words alone were compared with a question, and what to type."""
    name = MULTILINGUAL[0]
    first = f"set `embedder: {name}` in the settings, then " if config.embedder else ""
    command = _force_command(name, config)
    return f"{embedder} reads English alone; {first}`{command}` reads a hundred languages"


def advise(paths: PalacePaths, config: Config) -> ModelAdvice:
    """Say whether another embedder would serve the notes, and how to change to it.

    Where there is no index it is judged by a sample of the notes, and by what a first build would
    take. Nothing is advised against an embedder that knows other languages, a model of a library,
    or words alone.
    """
    commit = None
    with suppress(IndexMissingError, IndexDamagedError):
        commit = read_commit(paths.commit)
    share = take_share(paths, config, commit)
    not_english = None if share.not_english is None else round(share.not_english, 4)
    names = choose_for(share)
    used = commit.embedder if commit else config.embedder or find_ready(names) or NO_VECTORS
    if names[0] == DEFAULT or not reads_english_alone(used):
        return ModelAdvice(not_english, share)
    is_told = commit is not None and commit.advised == names[0]
    return ModelAdvice(not_english, share, names[0], _force_command(names[0], config), is_told)


def _force_command(name: str, config: Config) -> str:
    fetch = "" if is_available(name) else f"palace models fetch {name} && "
    return f"{fetch}palace index --force{'' if config.embedder else f' --embedder {name}'}"


def remember_advice(paths: PalacePaths, embedder: str) -> None:
    """Note in the commit record that somebody was told of an embedder.

    Where another process writes, it is told once more.
    """
    with suppress(IndexLockedError), writer_lock(paths.lock):
        commit = read_commit(paths.commit)
        if commit.advised != embedder:
            write_commit(paths.commit, replace(commit, advised=embedder))
