"""Create a palace, and walk its folders for the Markdown files to index; no note is opened."""

from __future__ import annotations

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from memory_palace.config import IGNORED, ROOMS, Config, NoteSource, PalacePaths, find_paths
from memory_palace.errors import ConfigError, UsageError
from memory_palace.models import FileStat, Problem, ProblemKind
from memory_palace.notes.note import LINKS_AWAY, LINKS_OUT
from memory_palace.notes.sources import read_sources
from memory_palace.places import OWN, PALACE, is_used
from memory_palace.storage import TEMPORARY, is_abandoned, make_ignored_folder
from memory_palace.system import read_file

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".md", ".markdown")
"""File name suffixes of notes."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Markdown file that discovery found. It has not been opened."""

    path: str
    """POSIX path relative to the root, as written on disk (not NFC-normalised)."""
    stat: FileStat
    is_cold: bool
    """Whether the path, symbolic links resolved, lies in the archive: see ``Rooms.is_archived``."""


@dataclass(frozen=True, slots=True)
class Discovery:
    """The result of a walk."""

    files: tuple[SourceFile, ...]
    """Sorted by path."""
    problems: tuple[Problem, ...]
    is_complete: bool
    """False if ``most_entries`` was exceeded or an ignore file at the top cannot be used."""
    left_out: tuple[str, ...] = ()
    """Paths excluded by a built-in rule instead of an ignore file; folders end with a slash."""
    abandoned: tuple[Path, ...] = ()
    """Temporary files of this program beside the notes, left by writers that have ended."""
    folders: tuple[str, ...] | None = ()
    """Folders whose changes may alter the result; ``None`` if a symbolic link was met."""

    def may_hold(self, path: str) -> bool:
        """Whether a note that was not found may still be there: its folder could not be read."""
        unread = (problem.path for problem in self.problems if problem.kind == "unreadable")
        return any(path == one or path.startswith(f"{one}/") for one in unread)

    def checked(self) -> Self:
        """Return this result; raise ``ConfigError`` unless the walk is complete.

        Call this before treating notes that were not found as deleted.
        """
        if not self.is_complete:
            raise ConfigError("; ".join(problem.message for problem in self.problems))
        return self


def discover_notes(
    paths: PalacePaths, *, ignore: str = "palaceignore", most_entries: int | None = None
) -> Discovery:
    """Return the notes below a palace; stop at the folder that exceeds ``most_entries``.

    Hidden names, other suffixes and ignored paths are skipped. A symbolic link that leaves the
    palace or is broken is reported; a loop is not followed. A folder whose ignore file cannot be
    used is skipped and reported; at the top this ends the walk.
    """
    walk = _Walk(paths, _IgnoreRules(paths, use_git=ignore == "git"), most_entries)
    walk.run()
    return Discovery(
        tuple(sorted(walk.files, key=lambda file: file.path)),
        tuple(sorted(walk.problems, key=lambda problem: problem.path)),
        walk.is_complete,
        tuple(sorted(walk.left_out)),
        tuple(walk.abandoned),
        None if walk.has_links else (str(paths.root), str(paths.own), *walk.folders),
    )


class _Walk:
    """Collects files, problems and folders in one depth-first walk."""

    def __init__(self, paths: PalacePaths, rules: _IgnoreRules, most_entries: int | None) -> None:
        self.paths, self.rules, self.most_entries = paths, rules, most_entries
        self.files: list[SourceFile] = []
        self.problems: list[Problem] = []
        self.left_out: list[str] = []
        self.abandoned: list[Path] = []
        self.folders: list[str] = []
        self.is_complete, self.has_links = True, False
        self._entries = 0
        self._visited: set[tuple[int, int]] = set()
        self._home, self._golden = os.path.realpath(paths.notes), paths.shown(paths.golden)
        self._top = paths.prefix.rstrip("/")
        self._stack: list[tuple[str, str, bool]] = [
            *((source.folder, source.prefix, False) for source in paths.sources),
            (str(paths.notes), self._top, False),
        ]

    def run(self) -> None:
        paths, top = self.paths, self._top
        self.is_complete = self._enter("") if top else True
        for folder, prefix in {one.folder: one.prefix for one in paths.sources}.items():
            if not os.path.isdir(folder):  # noqa: PTH112 - as in _follow
                message = f"there is no folder {folder} any more; its notes leave the index"
                self.problems.append(Problem(prefix, None, "name", message))
        while self._stack and self.is_complete:
            folder, path, is_cold = self._stack.pop()
            self.folders.append(folder)
            if self._enter(path):
                self._read_folder(folder, path, is_cold=is_cold)
            elif path == top:
                self.is_complete = False
        for folder, room in paths.rooms.folders.items() if not top else ():
            if not (paths.root / folder).is_dir():
                message = f"there is no folder {folder} for {room}; make it, or correct `rooms:`"
                self.problems.append(Problem(paths.shown(paths.settings), None, "name", message))

    def _fail(self, path: str, message: str, kind: ProblemKind = "unreadable") -> None:
        self.problems.append(Problem(path, None, kind, message, is_failure=True))

    def _enter(self, path: str) -> bool:
        """Read a folder's ignore files; return whether the folder may be walked."""
        try:
            self.rules.enter(path)
        except ConfigError as error:
            self._fail(path or ".", str(error))
            return False
        return True

    def _read_folder(self, folder: str, path: str, *, is_cold: bool) -> None:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            name = folder if path == self._top else "the folder"
            self._fail(path or ".", f"{name} cannot be read: {error.strerror}")
            self.is_complete = path != self._top
            return
        self._entries += len(found)
        if self.most_entries is not None and self._entries > self.most_entries:
            self.is_complete = False
            return
        source = self.paths.source_of(path)
        for entry in found:
            below = f"{path}/{entry.name}".lstrip("/")
            if self.paths.source_of(below) is not source:
                continue  # a source of that path hides it
            if source is not None or not entry.name.startswith("."):
                self._read_entry(entry, below, source, is_cold=is_cold)
            elif entry.name.endswith(TEMPORARY) and is_abandoned(entry.name):
                self.abandoned.append(Path(entry.path))

    def _read_entry(
        self, entry: os.DirEntry[str], path: str, source: NoteSource | None, *, is_cold: bool
    ) -> None:
        is_link = entry.is_symlink()
        is_folder = entry.is_dir(follow_symlinks=False)
        may_lead = is_link or is_folder
        if source is not None:
            inside = path[len(source.prefix) + 1 :]
            kinds = {is_folder, may_lead}  # a link may be either
            is_wanted = any(source.takes(inside, is_folder=each) for each in kinds)
        else:
            is_wanted = may_lead or entry.name.lower().endswith(SUFFIXES)
        if not is_wanted or path == self._golden:  # whose questions would be hits for themselves
            return
        shown = path.encode("utf-8", "backslashreplace").decode()
        if shown != path:
            self._fail(shown, "the file name is not UTF-8; rename the file", "name")
            return
        is_unwelcome = is_unwanted(entry.name, is_folder=is_folder) or self.rules.is_template(path)
        if self.rules.is_ignored(path, is_folder=is_folder, verdict=is_unwelcome):
            if is_unwelcome and not self.rules.is_ignored(path, is_folder=is_folder):
                self.left_out.append(f"{path}/" if is_folder else path)
        elif is_link:
            self._follow(entry, path)
        elif is_folder:
            self._stack.append((entry.path, path, is_cold or self.paths.rooms.is_archived(path)))
        else:
            self._add(entry, path, is_cold=is_cold)

    def _follow(self, entry: os.DirEntry[str], path: str) -> None:
        self.has_links, target = True, os.path.realpath(entry.path)
        if self.paths.source_of(path) is not None:
            if self.paths.may_read(path, target):
                self._add(entry, path, is_cold=False)
            else:
                message = f"is a symbolic link that {LINKS_AWAY}"
                self.problems.append(Problem(path, None, "link", message))
            return
        is_folder = os.path.isdir(target)  # noqa: PTH112 - Path.is_dir raises where it may not look
        if not is_folder and not entry.name.lower().endswith(SUFFIXES):
            return
        if _holds(target, self._home):
            return  # the link leads to the palace itself or above
        inside = _holds(self._home, target)
        if not inside or not os.path.exists(target):  # noqa: PTH110
            end = "leads nowhere; it is not followed" if inside else LINKS_OUT
            self.problems.append(Problem(path, None, "link", f"is a symbolic link that {end}"))
            return
        relative = target[len(self._home) + 1 :].replace(os.sep, "/")
        if any(part.startswith(".") for part in relative.split("/")):
            return
        is_cold = self.paths.rooms.is_archived(self.paths.prefix + relative)
        if not is_folder:
            self._add(entry, path, is_cold=is_cold)
            return
        found = Path(target).stat()
        key = (found.st_dev, found.st_ino)
        is_loop = _holds(target, os.path.realpath(os.path.dirname(entry.path)))  # noqa: PTH120
        if not is_loop and key not in self._visited:
            self._visited.add(key)
            self._stack.append((entry.path, path, is_cold))

    def _add(self, entry: os.DirEntry[str], path: str, *, is_cold: bool) -> None:
        try:
            found = entry.stat()
        except FileNotFoundError:
            return
        except OSError as error:
            self._fail(path, f"cannot be read: {error.strerror}")
            return
        if not S_ISREG(found.st_mode):
            self._fail(path, "is not a regular file", "name")
            return
        stat = FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        self.files.append(SourceFile(path, stat, is_cold))


def _holds(folder: str, path: str) -> bool:
    """Whether a path equals a folder or lies below it; both must be resolved."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def read_settings(paths: PalacePaths, config: Config | None = None) -> tuple[PalacePaths, Config]:
    """Return the paths of a palace with its configured rooms and sources, and its settings.

    ``config`` replaces the settings file, which is then not read.
    """
    if sources := read_sources(paths.root):
        paths = replace(paths, sources=sources)
    if config is None and not paths.settings.exists():
        return paths, Config()
    from memory_palace.settings import map_rooms, read_config  # delayed: it imports YAML

    config = read_config(paths.settings) if config is None else config
    return (map_rooms(paths, config.rooms) if config.rooms else paths), config


_TEMPLATES = (
    (".obsidian/templates.json", "folder"),
    (".obsidian/daily-notes.json", "template"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
)
"""Obsidian's settings files, and the key in each that names a template folder or note."""
_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}(-\w{7})?"
    r"| ?\([^()]*conflicted copy[^()]*\d{4}[^()]*\)(?=\.|$)",
    re.IGNORECASE,
)
"""Marks in names of conflict copies made by Syncthing, and by Dropbox, Nextcloud and Obsidian."""

_MOST_DEEP = 4
"""Most ``**`` in one pattern: each further one multiplies the ways to match a deep path."""
_STARS = re.compile(r"\[\^/\]\*((?:\\.|(?!\[\^/\]\*)[^()*\\])+)(?=\[\^/\]\*)")


def is_unwanted(name: str, *, is_folder: bool) -> bool:
    """Whether a name is excluded by default; ``!name`` in an ignore file includes it.

    True for ``node_modules`` and for conflict copies of sync programs. Hidden names (``.obsidian``,
    ``.trash``, ``.git``) are skipped elsewhere, always.
    """
    return name.casefold() == "node_modules" if is_folder else original_name(name) is not None


def original_name(name: str) -> str | None:
    """Return the name of the file that a conflict copy is of; ``None`` if a name is not of one."""
    original, count = _COPY.subn("", name)
    return original if count else None


def find_copies(paths: PalacePaths) -> Iterator[Problem]:
    """Yield the conflict copies of settings, manifest, logs and searches; they are never read.

    Those of notes are ``Discovery.left_out``; the next build removes those of the index.
    """
    own = {paths.settings.name, paths.manifest.name, paths.journal.name}
    for folder in (paths.own, paths.logs, paths.sessions):
        for path in sorted(folder.glob("*")):
            original = original_name(path.name)
            if original and (folder != paths.notes or original in own):
                message = f"is a sync program's copy of {original}, not read; merge it by hand"
                where = paths.shown(path)
                yield Problem(where, None, "name", f"{message}, then delete it")


def advise_sync(paths: PalacePaths) -> Iterator[str]:
    """Yield what to leave out of the sync of a folder that Syncthing or Dropbox carries.

    See https://docs.syncthing.net/users/ignoring.html and
    https://help.dropbox.com/desktop-web/cache-folder, as of November 2026. git has ``IGNORED``.
    """
    own = paths.own.absolute()
    local = ",".join(path.name for path in (paths.index, paths.sessions, paths.journal))
    for folder in own.parents:
        if (folder / ".stfolder").exists():
            inside = re.sub(r"([]\[*?{}\\])", r"\\\1", own.relative_to(folder).as_posix())
            how = f"add the line `/{inside}/{{{local}}}` to {folder}/.stignore"
            yield f"Syncthing carries this folder; on each machine, {how}"
        if (folder / ".dropbox.cache").is_dir():
            how = f"let it ignore {own}/{{{local}}}: https://help.dropbox.com/sync/ignored-files"
            yield f"Dropbox carries this folder; on each machine, {how}"


def fold_case(name: str) -> str:
    """Return the comparison key of names that are one on macOS and Windows: NFC, casefolded."""
    return unicodedata.normalize("NFC", name).casefold()


def fold_names(folder: Path) -> dict[str, str]:
    """Return the names in a folder by their folded names; none if there is no folder."""
    return {fold_case(path.name): path.name for path in folder.iterdir()} if folder.is_dir() else {}


def check_twins(root: Path, sources: Mapping[str, str]) -> None:
    """Raise ``UsageError`` for a new path that differs from another only in case.

    ``sources`` maps new paths to those that they had before, which may differ only in case.
    """
    list_names = cache(fold_names)
    for path, source in sources.items():
        new = root / path
        while not new.parent.exists():
            new = new.parent
        twin = list_names(new.parent).setdefault(fold_case(new.name), new.name)
        if twin != new.name and new.with_name(twin) != root / source:
            raise UsageError(f"{path} differs from {twin} only in case; rename one of them")


def vault_address(folder: Path) -> str:
    """Return the address of a folder's files in Obsidian, up to their names; empty outside a vault.

    See https://help.obsidian.md/Extending+Obsidian/Obsidian+URI, as of November 2026.
    """
    for vault in (folder, *folder.parents):
        if vault.name and (vault / ".obsidian").is_dir():
            inside = "/".join((*folder.relative_to(vault).parts, ""))
            name, file = (quote(s, safe="", errors="surrogateescape") for s in (vault.name, inside))
            return f"obsidian://open?vault={name}&file={file}"
    return ""


class _IgnoreRules:
    """Reads the ignore files of folders as the walk enters them. Deeper files win."""

    def __init__(self, paths: PalacePaths, *, use_git: bool) -> None:
        self._paths, self._use_git = paths, use_git
        self._names = (".gitignore", ".palaceignore") if use_git else (".palaceignore",)
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        self._templates: set[str] = set()

    def enter(self, path: str) -> None:
        """Read the ignore files and template settings of a folder, given by its root-relative path.

        Raise ``ConfigError`` for an ignore file that cannot be used: walking on would index notes
        that it may exclude.
        """
        is_above = not path and self._paths.is_classic
        for name in (".gitignore",) * self._use_git if is_above else self._names:
            file = self._paths.file_of(path) / name
            if os.path.exists(file):  # noqa: PTH110 - Path.exists raises where it may not look
                self._specs.append((path, _read_patterns(file)))
        vault = self._paths.file_of(path)
        if not os.path.isdir(vault / ".obsidian"):  # noqa: PTH112 - as above
            return
        for name, key in _TEMPLATES:
            with suppress(OSError, ValueError, RecursionError):  # absent, or of another form
                settings = json.loads(read_file(vault / name))
                called = settings.get(key) if isinstance(settings, dict) else None
                if isinstance(called, str) and called.strip("/ "):
                    template = f"{path}/{called.strip('/ ')}".lstrip("/")
                    self._templates.add(fold_case(template).removesuffix(".md"))

    def is_template(self, path: str) -> bool:
        """Whether a vault's settings name the folder or note as a template."""
        return bool(self._templates) and fold_case(path).removesuffix(".md") in self._templates

    def is_ignored(self, path: str, *, is_folder: bool, verdict: bool = False) -> bool:
        """Whether the last matching rule excludes a path; ``verdict`` if no rule matches."""
        for base, spec in self._specs:
            if not base or path.startswith(f"{base}/"):
                inside = path[len(base) + 1 :] if base else path
                found = spec.check_file(f"{inside}/" if is_folder else inside).include
                verdict = verdict if found is None else found
        return verdict


def _read_patterns(file: Path) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # delayed: most palaces have no such file

    patterns: list[Any] = []
    try:
        lines = read_file(file).decode("utf-8-sig", "replace").splitlines()
    except OSError as error:
        message = f"{file} cannot be used ({error.strerror}); make it readable or remove it"
        raise ConfigError(message) from error
    for number, line in enumerate(lines, start=1):
        try:
            patterns += map(_bounded, GitIgnoreSpec.from_lines([line]).patterns)
        except (ValueError, re.error) as error:
            message = f"{file} cannot be used (line {number}, {line!r}: {error}); correct it"
            raise ConfigError(message) from error
    return GitIgnoreSpec(patterns)


def _bounded(pattern: Any) -> Any:
    """Rewrite the regex of a pattern so that ``*`` never backtracks: time linear in the path.

    The first match of the text between two stars is as good as any later one, so a lookahead finds
    each star with that text once and a back-reference consumes it. Atomic groups would do the same,
    but backtrack in Python 3.11.2. Raise ``ValueError`` for too many ``**``.
    """
    compiled = getattr(pattern, "regex", None)
    if compiled is not None:
        if compiled.pattern.count(".+") > _MOST_DEEP:
            raise ValueError(f"more than {_MOST_DEEP} `**` in one pattern")
        stars = count()

        def once(found: re.Match[str]) -> str:
            name = f"star{next(stars)}"
            return f"(?=(?P<{name}>[^/]*?{found[1]}))(?P={name})"

        pattern.regex = re.compile(_STARS.sub(once, compiled.pattern))
    return pattern


_MOST_ENTRIES = 10_000
"""Most files and folders that ``count_outside`` visits."""


def make_palace(root: Path, *, here: bool = False) -> PalacePaths:
    """Create the seven rooms in ``palace/``, or with ``here`` make the folder itself a palace.

    Idempotent. With ``here``, raise ``UsageError`` if the folder does not exist or holds a classic
    palace in use, whose notes would then be in two palaces.
    """
    found = find_paths(root)
    if here and not root.is_dir():
        raise UsageError(f"there is no folder {root} that could be taken as it stands")
    if here and found and found.is_classic and is_used(str(root)):
        raise UsageError(
            f"{found.own} is a palace already; to take {root} as it stands, move its notes up "
            "first, as references/layouts.md says"
        )
    if here and found and found.is_classic:  # remove the empty classic rooms
        shutil.rmtree(found.index, ignore_errors=True)
        for folder in (*(found.notes / room for room in ROOMS), found.notes):
            with suppress(OSError):
                folder.rmdir()
    if here or (found and not found.is_classic):
        make_ignored_folder(root / OWN, ignored="\n".join(IGNORED))
    else:
        for room in ROOMS:
            (root / PALACE / room).mkdir(parents=True, exist_ok=True)
    return find_paths(root) or PalacePaths(root)


def count_outside(root: Path) -> tuple[int, bool]:
    """Return the number of notes outside ``palace/``, and whether every file was counted."""
    count, seen = 0, 0
    for folder, folders, files in os.walk(root):
        kept = (name for name in folders if not name.startswith("."))
        kept = (name for name in kept if not is_unwanted(name, is_folder=True))
        folders[:] = [name for name in kept if name != PALACE or Path(folder) != root]
        seen += len(files) + len(folders)
        count += sum(not name.startswith(".") and name.lower().endswith(SUFFIXES) for name in files)
        if seen > _MOST_ENTRIES:
            return count, False
    return count, True
