"""Where things are below a root, and the settings with their defaults."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from unicodedata import normalize

from memory_palace.errors import RoomNotMappedError
from memory_palace.places import (
    ARCHIVE,
    CLASSIC_LOGS,
    COMMIT,
    GOLDEN,
    INDEX,
    MANIFEST,
    OWN,
    PALACE,
    SETTINGS,
    own_folder,
)

IGNORED = (".index/", "sessions/", ".journal.json", ".*.tmp")
"""Lines of ``.palace/.gitignore``: derived or machine-local files. All others belong in git."""

_STEMMERS = {
    "Latin": "ca:catalan cs:czech da:danish de:german en:english eo:esperanto es:spanish "
    "et:estonian eu:basque fi:finnish fr:french ga:irish hu:hungarian id:indonesian it:italian "
    "lt:lithuanian nl:dutch no:norwegian pl:polish pt:portuguese ro:romanian sv:swedish tr:turkish",
    "Cyrillic": "ru:russian sr:serbian",
    "Greek": "el:greek",
    "Armenian": "hy:armenian",
    "Arabic": "ar:arabic fa:persian",
    "Devanagari": "hi:hindi ne:nepali",
    "Tamil": "ta:tamil",
    "": "ja: ko: th: zh:",
}
LANGUAGES: Mapping[str, tuple[str, str]] = {
    code: (script, algorithm)
    for script, listed in _STEMMERS.items()
    for code, _, algorithm in (entry.partition(":") for entry in listed.split())
}
"""ISO codes allowed in the settings: script and Snowball algorithm, empty where there is none."""

ROOMS: Mapping[str, str] = {
    "grand_hall": "palace",
    "chambers": "palace",
    "project_rooms": "project",
    "reflection_wing": "reflection",
    "dispatch_corridor": "task",
    "conflict_room": "conflict",
    ARCHIVE: "archive",
}
"""The seven rooms, each with the default type of its notes."""

FOLDERS: Mapping[str, str] = {
    "grand_hall": "Home",
    "chambers": "People",
    "project_rooms": "Projects",
    "reflection_wing": "Insights",
    "dispatch_corridor": "Tasks",
    "conflict_room": "Conflicts",
    ARCHIVE: "Archive",
}
"""Example folder of each room, for messages."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """The mapping of folders to the seven rooms. Rooms are named by folder, never by type."""

    folders: Mapping[str, str]
    """Root-relative folder to room. Notes are made in the first folder of a room."""
    prefix: str = ""
    """Common prefix of all note paths."""
    settings: str = f"{OWN}/{SETTINGS}"
    """The settings file that messages name."""

    def room_of(self, path: str) -> str | None:
        """Return the room of a root-relative path, or ``None`` outside the seven."""
        return self._split(path)[0]

    def folder_of(self, room: str) -> str:
        """Return the folder in which new notes of a room are created.

        Raise ``RoomNotMappedError`` for a room without a folder.
        """
        for folder, name in self.folders.items():
            if name == room:
                return folder
        raise RoomNotMappedError(
            f"no folder of this palace is its {room}; name one in {self.settings}, "
            f"for example `rooms: {{{FOLDERS[room]}: {room}}}`",
            room=room,
        )

    def path_of(self, place: str) -> str:
        """Return the path of a place such as ``dispatch_corridor/active/card.md``.

        Raise ``RoomNotMappedError`` for a room without a folder.
        """
        room, _, rest = place.partition("/")
        return f"{self.folder_of(room)}/{rest}" if rest else self.folder_of(room)

    def place_of(self, path: str) -> str:
        """Return the place of a path: the room's name replaces its folder, inverse of ``path_of``.

        A path outside the rooms begins with ``./``. An archived note keeps its earlier place:
        ``archive_basement/2026/dispatch_corridor/completed/card.md``.
        """
        room, rest = self._split(path)
        if room is None:
            return f"./{path.removeprefix(self.prefix)}"
        if room != ARCHIVE:
            return f"{room}/{rest}"
        before = self.before_archived(path) or ""
        year = rest.removesuffix(before.removeprefix(self.prefix))
        return f"{ARCHIVE}/{year}{self.place_of(before).removeprefix('./')}"

    def before_archived(self, path: str) -> str | None:
        """Return the path that an archived note had before; ``None`` for any other note."""
        room, rest = self._split(path)
        if room != ARCHIVE:
            return None
        year, _, below = rest.partition("/")
        return self.prefix + (below if below and len(year) == 4 and year.isdecimal() else rest)

    def is_archived(self, path: str) -> bool:
        """Whether a path, symbolic links resolved, lies in an archive folder.

        The only definition of the cold zone: a path component ``archive_basement``, or a folder
        mapped to the archive in the settings. ``discover_notes`` applies it to every note it finds;
        files, documents, segments and snapshots store the result.
        """
        return ARCHIVE in path.split("/") or any(
            room == ARCHIVE and f"{path}/".startswith(f"{folder}/")
            for folder, room in self.folders.items()
        )

    def _split(self, path: str) -> tuple[str | None, str]:
        """Return the room of the deepest mapped folder, and the path below that folder."""
        folder = path if self.folders else ""
        while "/" in folder:
            folder = folder.rpartition("/")[0]
            room = self.folders.get(normalize("NFC", folder))
            if room is not None:
                return room, path[len(folder) + 1 :]
        return None, path


SEVEN = Rooms({f"{PALACE}/{room}": room for room in ROOMS}, f"{PALACE}/", f"{PALACE}/{SETTINGS}")
"""The rooms of the classic layout."""


@dataclass(frozen=True, slots=True)
class NoteSource:
    """A folder outside the palace: its files that a pattern names are notes, and never written."""

    prefix: str
    """First components of its notes' paths: the tool, then the project if it is one's."""
    folder: str
    """Absolute, links resolved."""
    patterns: tuple[str, ...]
    """Paths below the folder: ``*`` stands for visible names, ``**/`` for visible folders."""

    def takes(self, inside: str, *, is_folder: bool = False) -> bool:
        """Whether a pattern names a path below the folder, or a folder on the way to such paths."""
        names = inside.split("/")
        return any(_leads_to(names, each.split("/"), is_folder) for each in self.patterns)


def _leads_to(names: list[str], pattern: list[str], is_folder: bool) -> bool:
    if not names:
        return is_folder or not pattern
    if not pattern or (names[0].startswith(".") and names[0] != pattern[0]):
        return False
    if pattern[0] == "**" and _leads_to(names[1:], pattern, is_folder):
        return True
    pattern = pattern[pattern[0] == "**" :]
    return fnmatchcase(names[0], pattern[0]) and _leads_to(names[1:], pattern[1:], is_folder)


@dataclass(frozen=True)
class PalacePaths:
    """All paths below a root that the package reads or writes.

    The classic layout keeps notes and other files in ``palace/``. A folder adopted with ``init
    --here`` keeps its notes in place; ``.palace/`` holds the files of the package.
    """

    root: Path
    """Paths of notes are relative to it."""
    is_classic: bool = True
    rooms: Rooms = SEVEN
    sources: tuple[NoteSource, ...] = ()
    """Folders outside the palace, of the user's own configuration."""
    prefix: str = field(init=False)
    """Prefix of all note paths: ``palace/`` or empty."""
    notes: Path = field(init=False)
    """The folder whose Markdown files are the notes."""
    own: Path = field(init=False)
    """Folder of everything but the notes: settings, manifest, index, logs."""
    manifest: Path = field(init=False)
    """The list of notes with type and priority that people edit."""
    settings: Path = field(init=False)
    """The optional settings file."""
    golden: Path = field(init=False)
    """The golden questions; not a note, and never indexed."""
    journal: Path = field(init=False)
    """The change that is being made, until it is logged."""
    index: Path = field(init=False)
    """Everything derived from the notes; may be deleted at any time."""
    commit: Path = field(init=False)
    """The commit record of the index."""
    lock: Path = field(init=False)
    """The file whose advisory lock a writer holds."""
    server_log: Path = field(init=False)
    """Log of the resident server; its rotated predecessor ends in ``.1``."""
    view: Path = field(init=False)
    """Page written by ``palace view``, with its ``.json`` and ``.lock`` beside it."""
    sessions: Path = field(init=False)
    """Saved states of searches that span several commands."""
    logs: Path = field(init=False)
    """Append-only records that are sources of truth."""

    def __post_init__(self) -> None:
        root, is_classic = self.root, self.is_classic
        own = root / (PALACE if is_classic else OWN)
        index = own / INDEX
        vars(self).update(
            prefix=f"{PALACE}/" if is_classic else "",
            notes=own if is_classic else root,
            own=own,
            manifest=own / MANIFEST,
            settings=own / SETTINGS,
            golden=own / GOLDEN,
            journal=own / ".journal.json",
            index=index,
            commit=index / COMMIT,
            lock=index / "lock",
            server_log=index / "serve.log",
            view=index / "view.html",
            sessions=own / (".sessions" if is_classic else "sessions"),
            logs=root / CLASSIC_LOGS if is_classic else own / "logs",
        )

    def shown(self, path: Path) -> str:
        """Return a path relative to the root, with ``/``."""
        return path.relative_to(self.root).as_posix()

    def source_of(self, path: str) -> NoteSource | None:
        """Return the source of a path, that of the longest prefix; ``None`` for an own note."""
        found = [one for one in self.sources if f"{path}/".startswith(f"{one.prefix}/")]
        return max(found, key=lambda one: len(one.prefix), default=None)

    def file_of(self, path: str) -> Path:
        """Return the file of a note's path, in the palace or in a source."""
        source = self.source_of(path)
        if source is None:
            return self.root / path
        return Path(source.folder, path.removeprefix(source.prefix).lstrip("/"))

    def may_read(self, path: str, real: str) -> bool:
        """Whether a note's file, links resolved, is below the notes or named by its source.

        A link may also lead to what another source of the same folder names.
        """
        source = self.source_of(path)
        home = os.path.realpath(source.folder if source else self.notes).rstrip(os.sep) + os.sep
        inside = real.removeprefix(home).replace(os.sep, "/")
        return real.startswith(home) and (
            source is None
            or any(one.takes(inside) for one in self.sources if one.folder == source.folder)
        )


def find_paths(root: Path) -> PalacePaths | None:
    """Return the paths of a palace's root; ``None`` for a folder that is not one."""
    own = own_folder(str(root))
    if own is None:
        return None
    return PalacePaths(root) if own == PALACE else PalacePaths(root, False, Rooms({}))


USERS_ONLY = ("llm:", "st:")
"""Prefixes of embedders that only a user may choose, never ``palace.yaml`` or a store."""
LONG_LINE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """How commands change notes."""

    allow_uncommitted: bool = False
    """Also change notes that have edits not committed to git."""


TRUST: Mapping[str, float] = {"own": 1.0, "import": 0.8, "untrusted": 0.5}
"""Factor of a passage's anchor score, by the trust in its source."""


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    """Parameters of anchors; source document 003 gives some of the defaults."""

    k: int = 20
    """Passages per anchor, at a nightly build."""
    k_max: int = 50
    """Passages per anchor at most, those of later updates included."""
    max_chunks: int = 30
    """Maximum number of passages of one lookup."""
    theta: float | None = None
    """Minimum cosine of anchor and passage; ``None``: calibrated per embedder."""
    vocabulary: int = 400
    """Maximum number of discovered, not of curated anchors, and one per eight passages."""
    deny: tuple[str, ...] = ()
    """Anchors that never trigger."""
    allow: tuple[str, ...] = ()
    """Path prefixes that anchors may lead to; empty means all."""
    source_cap: float = 0.34
    """Largest share of an answer that one source below trust ``own`` may fill."""


@dataclass(frozen=True, slots=True)
class Config:
    """Settings with their defaults. A palace can only narrow what the program may do."""

    embedder: str | None = None
    """Embedder of the first build; ``None`` means minilm if it is installed."""
    languages: tuple[str, ...] = ()
    """Codes of the languages whose stemmers apply, sorted; empty means by script."""
    locale: str = ""
    """Language and region, ``en-GB``, that order day and month; empty: derived from the text."""
    ignore: str = "palaceignore"
    """``git`` honours ``.gitignore`` too."""
    manifest: str = "append"
    """``frozen`` forbids appending lines for new notes."""
    max_note_bytes: int = 1024 * 1024
    """Larger files are reported and skipped; lines above ``LONG_LINE_BYTES`` are not counted."""
    max_line_bytes: int = LONG_LINE_BYTES
    """Longer lines are reported and left out of their note."""
    cold_hint: bool = False
    """Say on stderr that the cold zone holds a better answer."""
    usage_log: str = "auto"
    """``on`` logs which notes are opened or cited, never a question; ``auto`` does if metabolism
    has its wing."""
    half_life_days: float = 30.0
    """Age at which recency has halved."""
    anchors: AnchorSettings = field(default_factory=AnchorSettings)
    rooms: Mapping[str, str] = field(default_factory=dict)
    """Folders below the notes, mapped to rooms."""
    inbox: str | None = None
    """Folder, below the notes, of entries by agents; ``None``: the agents' chambers, or Inbox."""
    profile: str | None = None
    """Default profile of questions; ``None`` is ``DEFAULT_PROFILE``."""
    changes: ChangeSettings = field(default_factory=ChangeSettings)
    deciders: tuple[str, ...] = ()
    """Names of the people who decide on the constitution; empty: nobody may."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Path prefix to trust; a note's source is its longest matching prefix, else its room."""

    @property
    def reading(self) -> tuple[tuple[str, ...], str]:
        """The settings that an index's tokens depend on: languages and locale."""
        return self.languages, self.locale
