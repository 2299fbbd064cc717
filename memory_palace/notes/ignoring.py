"""Which paths people do not want indexed: by ``.palaceignore``, ``.gitignore``, and by default."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_palace.config import PalacePaths
from memory_palace.errors import ConfigError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SUFFIXES = (".md", ".markdown")
"""Of files that are notes."""
_TEMPLATES = (
    (".obsidian/templates.json", "folder"),
    (".obsidian/daily-notes.json", "template"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
)
"""The settings of a vault that name a folder of templates, or a note that is one."""
_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\([^()]*conflicted copy[^()]*\d{4}[^()]*\)\.", re.IGNORECASE
)
"""Names that Syncthing, and that Dropbox, Nextcloud and Obsidian give the loser of a conflict."""

_MOST_DEEP = 4
"""``**`` in one pattern at most: each more multiplies the ways to match a deep path."""
_STARS = re.compile(r"\[\^/\]\*((?:\\.|(?!\[\^/\]\*)[^()*\\])++)(?=\[\^/\]\*)")


def is_unwanted(name: str, *, is_folder: bool) -> bool:
    """Whether a name is left out unless an ignore file says ``!name``.

    Installed packages, and copies that a sync program could not merge. What is hidden
    (``.obsidian``, ``.trash``, ``.git``) is never looked at.
    """
    return name.casefold() == "node_modules" if is_folder else _COPY.search(name) is not None


def find_templates(vault: Path) -> Iterator[str]:
    """Yield the folders and notes that the settings of a vault call templates, folded."""
    for name, key in _TEMPLATES:
        with suppress(OSError, ValueError, RecursionError):  # settings of something else
            settings = json.loads((vault / name).read_bytes())
            path = settings.get(key) if isinstance(settings, dict) else None
            if isinstance(path, str) and path.strip("/ "):
                yield fold_path(path.strip("/ "))


def fold_path(path: str) -> str:
    """Return a path as settings are compared with it: NFC, without case or ``.md``."""
    return unicodedata.normalize("NFC", path).casefold().removesuffix(".md")


class IgnoreRules:
    """Reads the ignore files of folders as the walk enters them. Deeper files win."""

    def __init__(self, paths: PalacePaths, *, use_git: bool) -> None:
        self._root, self._is_classic, self._use_git = paths.root, paths.is_classic, use_git
        self._names = (".gitignore", ".palaceignore") if use_git else (".palaceignore",)
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        self._templates: set[str] = set()

    def enter(self, path: str) -> None:
        """Read the ignore files of a folder, by its root-relative path, and which are templates.

        Raise ``ConfigError`` where one cannot be used: going on in that folder would index what
        somebody wants kept out.
        """
        is_above = not path and self._is_classic
        for name in (".gitignore",) * self._use_git if is_above else self._names:
            file = self._root / path / name
            if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises where it may not look
                self._specs.append((path, _read_patterns(file)))
        vault = self._root / path
        if os.path.isdir(vault / ".obsidian"):  # noqa: PTH112 - as above
            found = find_templates(vault)
            self._templates |= {f"{fold_path(path)}/{name}".lstrip("/") for name in found}

    def is_template(self, path: str) -> bool:
        """Whether the settings of a vault call a folder or note a template."""
        return bool(self._templates) and fold_path(path) in self._templates

    def is_ignored(self, path: str, *, is_folder: bool, verdict: bool = False) -> bool:
        """Whether any rule that reaches this path excludes it; ``verdict`` where none does."""
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
        lines = file.read_text("utf-8-sig", "replace").splitlines()
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
    """Make a pattern take time linear in the path, as git does: a star never takes back.

    The first place where the text between two stars fits is as good as any later one, so each
    star with that text is found once, in a lookahead, and taken by reference. Atomic groups say
    the same, but take back in Python 3.11.2. Raise ``ValueError`` for too many ``**``.
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
