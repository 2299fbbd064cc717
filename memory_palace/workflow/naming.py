"""Names of new forms: a date and a slug."""

from __future__ import annotations

import re
import unicodedata

from memory_palace.errors import UsageError

_LONGEST = 60


def make_slug(title: str) -> str:
    """Return a title in small letters, digits and hyphens; letters of any script are letters.

    Raise ``UsageError`` where nothing is left.
    """
    words = re.findall(r"\w+", unicodedata.normalize("NFC", title).casefold().replace("_", " "))
    slug = "-".join(words)[:_LONGEST].strip("-")
    if not slug:
        raise UsageError(f"a file cannot be named after {title!r}; give it a title with letters")
    return slug


def one_line(text: str, what: str) -> str:
    """Return a text on one line; raise ``UsageError`` where it is blank."""
    found = " ".join(text.split())
    if not found:
        raise UsageError(f"{what} is empty")
    return found
