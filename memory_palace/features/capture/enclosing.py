"""Text of others as it may stand in a note of several entries: nothing of it reaches beyond it."""

from __future__ import annotations

from memory_palace.changes.composing import fence_text
from memory_palace.errors import CheckFailedError
from memory_palace.language.secrets import find_secrets
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Markup
from memory_palace.notes.withholding import withhold

_DEMOTED_BY, _DEEPEST = 2, 6
_PROBE = "## probe"


def check_open(text: str, what: str) -> str:
    """Return a title, tag or source; raise ``CheckFailedError`` where it holds a secret."""
    if find_secrets(text) or withhold(text, "")[1]:
        raise CheckFailedError(f"nothing was written: {what} holds a secret or is private")
    return text


def enclose(text: str) -> str:
    """Return a text that opens no section of its own, and leaves and hides nothing.

    It stays as it is where that is so. Headings become deeper ones; where that is not enough the
    text is put into a fence.
    """
    if is_enclosed(text):
        return text
    demoted = _demote(text)
    return demoted if is_enclosed(demoted) else fence_text(text, "text")


def is_enclosed(text: str) -> bool:
    """Whether a text between two headings leaves them alone, and shows all that it says."""
    whole = f"{_PROBE}\n\n{text}\n\n{_PROBE}\n"
    sections = [h for h in Markup(whole).headings if h.level <= 2 and not h.is_nested]
    last = whole.count("\n") - 1
    if [heading.first for heading in sections] != [0, last]:
        return False
    return drop_comments(whole) == (whole, None)


def _demote(text: str) -> str:
    lines, kept, position = text.split("\n"), [], 0
    for heading in Markup(text).headings:
        if not heading.is_nested:
            marks = "#" * min(heading.level + _DEMOTED_BY, _DEEPEST)
            kept += [*lines[position : heading.first], f"{marks} {heading.text}"]
            position = heading.last + 1
    return "\n".join([*kept, *lines[position:]])
