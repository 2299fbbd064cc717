"""Where things are below a root, and the settings with their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
"""What of it is derived or of one machine, for git; the rest is as much to keep as the notes."""

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
"""ISO codes that settings may list: script, and algorithm of Snowball or none for characters."""

ROOMS: Mapping[str, str] = {
    "grand_hall": "palace",
    "chambers": "palace",
    "project_rooms": "project",
    "reflection_wing": "reflection",
    "dispatch_corridor": "task",
    "conflict_room": "conflict",
    ARCHIVE: "archive",
}
"""The seven rooms and the type a note has where neither it nor the manifest names one."""

FOLDERS: Mapping[str, str] = {
    "grand_hall": "Home",
    "chambers": "People",
    "project_rooms": "Projects",
    "reflection_wing": "Insights",
    "dispatch_corridor": "Tasks",
    "conflict_room": "Conflicts",
    ARCHIVE: "Archive",
}
"""A folder that people may have for each room, as an example in messages."""


@dataclass(frozen=True, slots=True)
class Rooms:
    """Which folder is which of the seven rooms. Rooms are named by folder, never by type."""

    folders: Mapping[str, str]
    """Root-relative folder to room. Notes are made in the first folder of a room."""
    prefix: str = ""
    """What the path of every note begins with."""
    settings: str = f"{OWN}/{SETTINGS}"
    """Where a line may be added, for messages."""

    def room_of(self, path: str) -> str | None:
        """Return the room of a root-relative path, or ``None`` outside the seven."""
        return self._split(path)[0]

    def folder_of(self, room: str) -> str:
        """Return the folder in which notes of a room are made.

        Raise ``RoomNotMappedError`` where no folder is that room.
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

        Raise ``RoomNotMappedError`` where no folder is that room.
        """
        room, _, rest = place.partition("/")
        return f"{self.folder_of(room)}/{rest}" if rest else self.folder_of(room)

    def place_of(self, path: str) -> str:
        """Return a path with its room's name for the room's folder: the reverse of ``path_of``.

        It begins with ``./`` outside the rooms. What is archived is named as it was before:
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
        """Return the path that an archived note had by its folders; ``None`` elsewhere."""
        room, rest = self._split(path)
        if room != ARCHIVE:
            return None
        year, _, below = rest.partition("/")
        return self.prefix + (below if below and len(year) == 4 and year.isdecimal() else rest)

    def is_archived(self, path: str) -> bool:
        """Whether a path without links left to follow lies in a folder that is the archive.

        The one rule of the cold zone: a component called ``archive_basement``, or a folder that the
        settings call so. ``discover_notes`` applies it to every note it finds, links followed;
        files, documents, segments and snapshots carry what it found and do not ask again.
        """
        return ARCHIVE in path.split("/") or any(
            room == ARCHIVE and f"{path}/".startswith(f"{folder}/")
            for folder, room in self.folders.items()
        )

    def _split(self, path: str) -> tuple[str | None, str]:
        """Return the room of the deepest folder that is one, and the path below that folder."""
        folder = path if self.folders else ""
        while "/" in folder:
            folder = folder.rpartition("/")[0]
            room = self.folders.get(normalize("NFC", folder))
            if room is not None:
                return room, path[len(folder) + 1 :]
        return None, path


SEVEN = Rooms({f"{PALACE}/{room}": room for room in ROOMS}, f"{PALACE}/", f"{PALACE}/{SETTINGS}")
"""The rooms of the classic layout."""


@dataclass(frozen=True)
class PalacePaths:
    """Every place below a root that the package reads or writes.

    In the classic layout notes and all else lie in ``palace/``. A folder that is taken as it
    stands keeps its notes where they are; ``.palace/`` holds what the package writes.
    """

    root: Path
    """Paths of notes are relative to it."""
    is_classic: bool = True
    rooms: Rooms = SEVEN
    prefix: str = field(init=False)
    """What the path of every note begins with: ``palace/``, or nothing."""
    notes: Path = field(init=False)
    """The folder whose Markdown files are the notes."""
    own: Path = field(init=False)
    """The folder of everything that is not a note: settings, manifest, index, logs."""
    manifest: Path = field(init=False)
    """The list of notes with type and priority that people edit."""
    settings: Path = field(init=False)
    """The optional settings file."""
    golden: Path = field(init=False)
    """The questions that the palace must go on answering; it is no note, and never found."""
    index: Path = field(init=False)
    """Everything derived from the notes; may be deleted at any time."""
    commit: Path = field(init=False)
    """The commit record of the index."""
    lock: Path = field(init=False)
    """The file whose advisory lock a writer holds."""
    server_log: Path = field(init=False)
    """What the resident server says of itself; the part before has ``.1`` behind its name."""
    view: Path = field(init=False)
    """The page that ``palace view`` writes; ``.json`` and ``.lock`` beside it are its own."""
    sessions: Path = field(init=False)
    """Searches that go on over several commands."""
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
            index=index,
            commit=index / COMMIT,
            lock=index / "lock",
            server_log=index / "serve.log",
            view=index / "view.html",
            sessions=own / (".sessions" if is_classic else "sessions"),
            logs=root / CLASSIC_LOGS if is_classic else own / "logs",
        )

    def shown(self, path: Path) -> str:
        """Return a path below the root as it is shown and listed."""
        return path.relative_to(self.root).as_posix()


def find_paths(root: Path) -> PalacePaths | None:
    """Return where things are in a folder that is a palace; ``None`` in any other."""
    own = own_folder(str(root))
    if own is None:
        return None
    return PalacePaths(root) if own == PALACE else PalacePaths(root, False, Rooms({}))


USERS_ONLY = ("llm:", "st:")
"""How the embedders begin that a user may name, and neither a folder nor a store."""
LONG_LINE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """How commands change notes."""

    allow_uncommitted: bool = False
    """Change notes with edits that are not committed to git as well."""


TRUST: Mapping[str, float] = {"own": 1.0, "import": 0.8, "untrusted": 0.5}
"""What the anchor score of a passage is multiplied by, per level of trust in its source."""


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    """Parameters of anchors, with the defaults of source document 003 where it names any."""

    k: int = 20
    """Passages per anchor, at a nightly build."""
    k_max: int = 50
    """Passages per anchor, with those of later updates."""
    max_chunks: int = 30
    """Passages that one lookup returns at most."""
    theta: float | None = None
    """Least cosine of anchor and passage; ``None`` is calibrated per embedder."""
    vocabulary: int = 400
    """Discovered anchors at most, and one per eight passages; curated ones do not count."""
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
    """Name of the embedder for the first build; ``None`` means minilm where it is present."""
    languages: tuple[str, ...] = ()
    """Codes of the languages whose stemmers apply, sorted; empty means by script."""
    locale: str = ""
    """Language and region, ``en-GB``: which number of 3/4/2026 is the month; empty goes by text."""
    ignore: str = "palaceignore"
    """``git`` honours ``.gitignore`` too."""
    manifest: str = "append"
    """``frozen`` forbids appending lines for new notes."""
    max_note_bytes: int = 1024 * 1024
    """A larger file is reported and left out; lines of over ``LONG_LINE_BYTES`` do not count."""
    max_line_bytes: int = LONG_LINE_BYTES
    """A longer line is reported and left out of its note."""
    cold_hint: bool = False
    """Say on stderr that the cold zone holds a better answer."""
    usage_log: str = "auto"
    """``on`` logs which notes are opened or cited, never a question; ``auto`` where metabolism
    has its wing."""
    half_life_days: float = 30.0
    """Age at which recency has halved."""
    anchors: AnchorSettings = field(default_factory=AnchorSettings)
    rooms: Mapping[str, str] = field(default_factory=dict)
    """Folders below the notes, each with the room that it is."""
    inbox: str | None = None
    """The folder below the notes for what agents remember; ``None`` is their chambers, or Inbox."""
    profile: str | None = None
    """The profile of a question that names none; ``None`` is ``DEFAULT_PROFILE``."""
    changes: ChangeSettings = field(default_factory=ChangeSettings)
    deciders: tuple[str, ...] = ()
    """Names of the people who decide on the constitution; empty: nobody may."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Path prefixes with a trust each; a note's source is the longest that fits, else its room."""

    @property
    def reading(self) -> tuple[tuple[str, ...], str]:
        """What decides what an index keeps of a text: stemmers and locale."""
        return self.languages, self.locale
