"""When two ways of writing a note's path or name mean the same."""

from __future__ import annotations

import posixpath
import re
import unicodedata

_SUFFIX = re.compile(r"\.(md|markdown)$", re.IGNORECASE)


def strip_suffix(name: str) -> str:
    """Return a name in NFC without ``.md`` or ``.markdown``."""
    return _SUFFIX.sub("", unicodedata.normalize("NFC", name))


def fold_name(name: str) -> str:
    """Return a name for comparing: NFC, without case, outer blanks or suffix."""
    return unicodedata.normalize("NFC", strip_suffix(name.strip()).casefold())


def fold_target(target: str) -> str:
    """Return a link target or typed path for comparing; a leading ``/`` means the top."""
    return fold_name(target).lstrip("/")


def join_path(folder: str, target: str) -> str | None:
    """Follow a relative path from a folder, ``.`` and ``..`` included; ``None`` if it leaves."""
    path = posixpath.normpath(posixpath.join(folder, target))
    return None if path.startswith("..") else path
