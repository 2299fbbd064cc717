"""Take out of a text what must never be indexed: private spans and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.language.secrets import find_secrets
from memory_palace.models import Problem

_OPEN = re.compile(r"<private(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</private\s*>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_LEFT_OUT = "(left out here: a secret)"
_SAYS_PRIVATE = re.compile(
    r"^[ \t]*[\"']?private[\"']?[ \t]*[:=][ \t]*[\"']?(?:true|yes|on|1)\b",
    re.IGNORECASE | re.MULTILINE,
)


def says_private(raw: str) -> bool:
    """Whether front matter that could not be parsed still asks to be private."""
    return _SAYS_PRIVATE.search(raw) is not None


def drop_long_lines(text: str, path: str, most_bytes: int) -> tuple[str, tuple[Problem, ...]]:
    """Blank lines that are too long to be read; every line stays where it was."""
    if len(text) * 4 <= most_bytes:
        return text, ()
    lines, problems = text.split("\n"), list[Problem]()
    for number, line in enumerate(lines, start=1):
        if (size := len(line.encode())) > most_bytes:
            lines[number - 1] = ""
            said = f"a line of {size:,} bytes, more than max_line_bytes ({most_bytes:,}), is not "
            said += "indexed; `palace index --force` reads it once palace.yaml has a higher one"
            problems.append(Problem(path, number, "too large", said))
    return "\n".join(lines) if problems else text, tuple(problems)


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


def clean_text(text: str, what: str = "the text") -> str:
    """Return a text with line feeds alone, and with a mark for each control character.

    Raise ``UsageError`` naming ``what`` where it is blank, or no UTF-8 can be made of it.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not UTF-8; save or send it as UTF-8") from error
    clean = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\r\n?", "\n", text))
    if not clean.replace("\N{REPLACEMENT CHARACTER}", "").strip():
        raise UsageError(f"{what} is empty")
    return clean.strip("\n").rstrip()


def leave_out(text: str) -> tuple[str, tuple[Problem, ...]]:
    """Return a text without private spans, and with a remark for lines that hold a secret.

    The problems have the lines of the text as it was given. Raise ``CheckFailedError`` where
    nothing is left to write.
    """
    kept, problems = withhold(text, "")
    if not problems:
        return text, ()
    found = tuple(replace(problem, message=_describe(problem)) for problem in problems)
    secrets = {problem.line for problem in problems if problem.kind == "secret"}
    lines = kept.split("\n")
    for number in secrets:
        lines[(number or 1) - 1] = "" if (number or 0) - 1 in secrets else _LEFT_OUT
    if not any(line.strip() for line in lines if line != _LEFT_OUT):
        listed = "; ".join(f"line {problem.line} {problem.message}" for problem in found)
        raise CheckFailedError(f"nothing was written: {listed}")
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n"), found


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A line of a text that was not written: a secret, or a private span."""

    line: int | None
    why: str

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> tuple[Self, ...]:
        """Return the withheld lines as they are shown."""
        return tuple(cls(one.line, one.message) for one in problems)

    def __str__(self) -> str:
        return f"line {self.line} was not written: {self.why}"


def _describe(problem: Problem) -> str:
    """Return the kind of what was not written, without its text."""
    if problem.kind == "secret":
        return problem.message.partition(";")[0]
    return "begins a private span"


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
