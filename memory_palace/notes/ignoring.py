"""Which paths people do not want indexed: ``.palaceignore``, and ``.gitignore`` where asked."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.errors import ConfigError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


class IgnoreRules:
    """Reads the ignore files of folders as the walk enters them. Deeper files win."""

    def __init__(self, root: Path, *, use_git: bool) -> None:
        self._root = root
        self._names = (".gitignore", ".palaceignore") if use_git else (".palaceignore",)
        self._specs: list[tuple[str, GitIgnoreSpec]] = []
        if use_git:
            self._read("", (".gitignore",))

    def enter(self, path: str) -> None:
        """Read the ignore files of a folder, by its root-relative path."""
        self._read(path, self._names)

    def is_ignored(self, path: str, *, is_folder: bool) -> bool:
        """Whether any rule that reaches this path excludes it."""
        verdict = False
        for base, spec in self._specs:
            if not base or path.startswith(f"{base}/"):
                inside = path[len(base) + 1 :] if base else path
                found = spec.check_file(f"{inside}/" if is_folder else inside).include
                verdict = verdict if found is None else found
        return verdict

    def _read(self, path: str, names: tuple[str, ...]) -> None:
        for name in names:
            file = self._root / path / name
            if os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises where it may not look
                from pathspec import GitIgnoreSpec  # delayed: most palaces have no such file

                try:
                    lines = file.read_text("utf-8-sig", "replace").splitlines()
                    self._specs.append((path, GitIgnoreSpec.from_lines(lines)))
                except (OSError, ValueError, re.error) as error:
                    # Going on without it would index what somebody wants kept out.
                    raise ConfigError(f"{file} cannot be used ({error}); correct it") from error
