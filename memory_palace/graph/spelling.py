"""When two ways of writing a note's path or name mean the same."""

from __future__ import annotations

import posixpath
import unicodedata

_SUFFIXES = (".md", ".markdown")


def strip_suffix(name: str) -> str:
    """Return a name in NFC without ``.md`` or ``.markdown``."""
    name = unicodedata.normalize("NFC", name)
    for suffix in _SUFFIXES:
        if name[-len(suffix) :].lower() == suffix:
            return name[: -len(suffix)]
    return name


def fold_name(name: str) -> str:
    """Return a name for comparing: NFC, without case, outer blanks or suffix."""
    return unicodedata.normalize("NFC", strip_suffix(name.strip()).casefold())


def fold_target(target: str) -> str:
    """Return a link target or typed path for comparing; a leading ``/`` means the top."""
    return fold_name(target).lstrip("/")


def join_path(folder: str, target: str) -> str | None:
    """Follow a relative path from a folder, ``.`` and ``..`` included; ``None`` if it leaves."""
    if "." not in target:
        return f"{folder}/{target}" if folder else target
    path = posixpath.normpath(posixpath.join(folder, target))
    return None if path.startswith("..") else path
