"""Where imported notes go, and what stands there already."""

from __future__ import annotations

import os
import unicodedata
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePosixPath

from memory_palace.changes.composing import file_name
from memory_palace.config import PalacePaths
from memory_palace.errors import RoomNotMappedError, UsageError
from memory_palace.notes.discovery import SUFFIXES, discover_notes
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.note import is_cold_path
from memory_palace.palace import Palace

CHAMBER, FOLDER = "chambers/imports", "Imports"
_HEAD_BYTES = 4096


def choose_folder(paths: PalacePaths, source: str, folder: str | None) -> str:
    """Return the folder, relative to the root, that notes of a source go into.

    It is below ``folder``, else below ``imports`` among the chambers, and below ``Imports`` in
    notes taken as they stand.
    """
    if folder is not None:
        inside = folder.removeprefix(paths.prefix).strip("/")
        return f"{paths.prefix}{inside}/{source}" if inside else f"{paths.prefix}{source}"
    try:
        return f"{paths.rooms.path_of(CHAMBER)}/{source}"
    except RoomNotMappedError:
        return f"{paths.prefix}{FOLDER}/{source}"


def check_foreign(paths: PalacePaths, path: Path) -> None:
    """Raise ``UsageError`` for what is no export but this palace, ``OSError`` where nothing is."""
    path.stat()
    here, home = os.path.realpath(path), os.path.realpath(paths.notes)
    if path.is_dir() and os.path.commonpath((here, home)) in (here, home):
        raise UsageError(f"{path} is this palace, or a part of it; its notes are here already")


class Places:
    """The files of a palace, and those that are about to be made."""

    def __init__(self, palace: Palace) -> None:
        self._palace, self._paths = palace, palace.paths
        self._taken: dict[str, dict[str, str]] = {}
        self._planned: dict[str, bytes] = {}

    def plan(self, path: str, data: bytes) -> None:
        """Take a path for bytes that are about to be written."""
        self._names(path.rpartition("/")[0])[_fold(path.rpartition("/")[2])] = path
        self._planned[path] = data

    def forget(self) -> None:
        """Plan nothing more: what was planned is written."""
        self._planned.clear()

    def read(self, path: str) -> bytes | None:
        """Return what a file holds, or is about to; ``None`` where there is none."""
        if path in self._planned:
            return self._planned[path]
        file = self._paths.root / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    def choose(self, path: str, data: bytes, identity: str) -> tuple[str, bytes | None]:
        """Return the path for bytes of an id, and what stands there already and is the same thing.

        Where the name belongs to another note, a digest of the id is added to it.
        """
        folder, _, name = path.rpartition("/")
        mark = digest_of(identity.encode("utf-8", "replace"))
        stem = name.removesuffix(".md")
        for chosen in (name, file_name(f"{stem} {mark[:8]}"), file_name(f"{stem} {mark}")):
            taken = self._names(folder).get(_fold(chosen))
            if taken is None:
                return f"{folder}/{chosen}", None
            standing = self.read(taken)
            if standing is not None and (standing == data or source_id_of(standing) == identity):
                return taken, standing
        raise UsageError(f"{path} and other names for it are taken; move some of them")

    def find(self, path: str, identity: str, written: str) -> str | None:
        """Return where a note is now that was written to a path; ``None`` where it is gone.

        A moved or renamed one is found by its ``source_id``; an archived one is gone.
        """
        found = path if self.read(path) is not None else None
        if found is None:
            moved = self._by_source.get(identity, [])
            same = [place for place in moved if digest_of(self.read(place) or b"") == written]
            found = [*moved, *same][-1] if moved else None
        return None if found is None or is_cold_path(self._paths, found) else found

    @cached_property
    def _by_source(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for file in discover_notes(self._paths, ignore=self._palace.config.ignore).files:
            with (self._paths.root / file.path).open("rb") as opened:
                identity = source_id_of(opened.read(_HEAD_BYTES))
            if identity:
                found.setdefault(identity, []).append(file.path)
        return found

    def _names(self, folder: str) -> dict[str, str]:
        """Return the names in a folder as a file system without case has them."""
        if folder not in self._taken:
            place = self._paths.root / folder
            names = [entry.name for entry in place.iterdir()] if place.is_dir() else []
            self._taken[folder] = {_fold(name): f"{folder}/{name}" for name in names}
        return self._taken[folder]


def safe_path(hint: str) -> str:
    """Return a path of another program, every part a name that is safe here."""
    parts = PurePosixPath(hint.replace("\\", "/")).parts
    *folders, file = [part for part in parts if part not in ("/", "..")] or ["untitled"]
    stem, suffix = os.path.splitext(file)  # noqa: PTH122
    suffix = suffix if suffix.lower() in SUFFIXES else ".md"
    return "/".join([*map(_safe_name, folders), _safe_name(stem) + suffix])


def _safe_name(name: str) -> str:
    try:
        return file_name(name.lstrip(".")).removesuffix(".md")
    except UsageError:
        return f"untitled {digest_of(name.encode('utf-8', 'replace'))[:8]}"


def source_id_of(data: bytes) -> str:
    """Return the id in its source that a note says it has, or nothing."""
    if not data.startswith(b"---"):
        return ""
    text = data[:_HEAD_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")
    value = split_front_matter(text).values.get("source_id")
    return "" if value is None else str(value)


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hex digits."""
    return sha256(data).hexdigest()
