"""Take out of a text what must never be indexed: private spans and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.language.secrets import find_secrets
from memory_palace.models import Problem

_OPEN = re.compile(r"<private(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</private\s*>", re.IGNORECASE)
_SAYS_PRIVATE = re.compile(
    r"^[ \t]*[\"']?private[\"']?[ \t]*:[ \t]*[\"']?(?:true|yes|on|1)\b",
    re.IGNORECASE | re.MULTILINE,
)


def says_private(raw: str) -> bool:
    """Whether front matter that could not be parsed still asks to be private."""
    return _SAYS_PRIVATE.search(raw) is not None


def withhold(text: str, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Blank private spans and lines with secrets, keeping every line where it was."""
    if "<" in text and _OPEN.search(text):
        text, private = _blank_private(text, path)
    else:
        private = []
    secrets = find_secrets(text)
    if not secrets:
        return text, tuple(private)
    lines = text.split("\n")
    for secret in secrets:
        lines[secret.line - 1] = ""
    found = (
        Problem(path, s.line, "secret", f"contains a secret ({s.kind}); the line is not indexed")
        for s in secrets
    )
    return "\n".join(lines), (*private, *found)


def _blank_private(text: str, path: str) -> tuple[str, list[Problem]]:
    kept: list[str] = []
    problems: list[Problem] = []
    for before, span, line, is_closed in _spans(text):
        kept += [before, "\n" * span.count("\n")]
        if span:
            end = "" if is_closed else " and is not closed; nothing below it is indexed"
            message = f"a private span starts here{end or '; it is not indexed'}"
            problems.append(Problem(path, line, "private", message))
    return "".join(kept), problems


def _spans(text: str) -> Iterator[tuple[str, str, int, bool]]:
    """Yield the text before each span, the span, its first line, and whether it is closed."""
    position, line = 0, 1
    while opening := _OPEN.search(text, position):
        closing = _CLOSE.search(text, opening.end())
        end = closing.end() if closing else len(text)
        line += text.count("\n", position, opening.start())
        yield text[position : opening.start()], text[opening.start() : end], line, bool(closing)
        line += text.count("\n", opening.start(), end)
        position = end
    yield text[position:], "", line, True
