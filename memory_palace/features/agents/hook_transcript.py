"""The words of the user in a conversation, read from the transcript that a harness keeps.

Claude Code, Codex and OpenClaw write a line of JSON for each thing that happens; what is read here
is the text of messages whose role is the user's, wherever it stands in such a line.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from memory_palace.language.sentences import split_sentences
from memory_palace.language.word_lists import read_table
from memory_palace.markdown.markup import Markup
from memory_palace.notes.withholding import withhold
from memory_palace.storage.logs import parse_record

MOST_BYTES = 4 << 20
"""Of a transcript that are read at once; of what is longer the end."""
_MOST_CHARACTERS = 4_000
"""Of one message: a longer one has something pasted into it. The first and the last half."""
_SUFFIX = ".jsonl"
_NOT_TYPED = (
    "isMeta",
    "isSidechain",
    "isCompactSummary",
    "isVisibleInTranscriptOnly",
    "toolUseResult",
)
"""Fields of lines that Claude Code writes in the user's name."""
_TEXTS = frozenset(("text", "input_text"))
_OPEN = re.compile(r"<([A-Za-z][\w-]{0,40})(?:\s[^<>]{0,200})?>")
_OF_HARNESS = re.compile(
    r"\A\s*(?:\[Request interrupted|Caveat: |# AGENTS\.md |This session is being )"
)

_SHORTEST, _LONGEST = 12, 400
"""Characters of a sentence that is worth keeping."""
_BULLET = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+")


def read_typed(path: str, offset: int) -> tuple[list[str], int]:
    """Return the messages typed after an offset, and the offset behind the last whole line.

    Nothing is read of what is no regular file of the user's own, or not called ``.jsonl``. A file
    shorter than the offset is another one, read from its beginning.
    """
    data, start = _read(path, offset)
    end = data.rfind(b"\n") + 1
    records = (parse_record(line) for line in data[:end].split(b"\n") if line.strip())
    typed = (_clean_typed(text) for record in records if record for text in _typed_in(record))
    return [text for text in typed if text], start + end


def _read(path: str, offset: int) -> tuple[bytes, int]:
    if not path.startswith("/") or not path.endswith(_SUFFIX) or "\0" in path:
        return b"", offset
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b"", offset
    with os.fdopen(descriptor, "rb") as opened:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return b"", offset
        start = offset if offset <= found.st_size else 0
        start = max(start, found.st_size - MOST_BYTES)  # in a line: what is torn is no record
        opened.seek(start)
        return opened.read(MOST_BYTES), start


def _typed_in(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the user's own words in a line of a transcript."""
    if any(record.get(field) for field in _NOT_TYPED):
        return
    inner = next((v for k in ("message", "payload") if isinstance(v := record.get(k), dict)), {})
    if inner.get("type") == "user_message":
        content = inner.get("message")
    else:
        content = inner.get("content") if inner.get("role") == "user" else None
    if isinstance(content, str):
        yield content
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in _TEXTS:
            text = block.get("text")
            if isinstance(text, str):
                yield text


def _clean_typed(text: str) -> str:
    """Return a message without tags of harnesses, code, quotes and pasted logs."""
    text = "" if _OF_HARNESS.match(text) else _drop_tagged(text)
    if len(text) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        text = f"{text[:half].rpartition(chr(10))[0]}\n{text[-half:].partition(chr(10))[2]}"
    lines = zip(text.split("\n"), Markup(text).fenced, strict=True)
    kept = (
        line for line, is_fenced in lines if not is_fenced and not line.lstrip().startswith(">")
    )
    return "\n".join(kept).strip()


def _drop_tagged(text: str) -> str:
    """Return a text without elements such as ``<system-reminder>``; one may have no end."""
    kept: list[str] = []
    place, unclosed = 0, set()
    while found := _OPEN.search(text, place):
        name = found[1]
        end = -1 if name in unclosed else text.find(f"</{name}>", found.end())
        kept.append(text[place : found.start()])
        if end >= 0:
            place = end + len(name) + 3
        elif "-" in name or "_" in name or name.lower() == "private":
            return "".join(kept)
        else:
            unclosed.add(name)
            kept.append(found[0])
            place = found.end()
    return "".join([*kept, text[place:]])


def find_statements(text: str) -> Iterator[str]:
    """Yield the sentences of what a user said that are worth keeping, in order."""
    open_text, _ = withhold(text, "")
    for line in open_text.split("\n"):
        for sentence in split_sentences(_BULLET.sub("", line).strip()):
            if _SHORTEST <= len(sentence) <= _LONGEST and says_to_keep(sentence):
                yield sentence


def says_to_keep(sentence: str) -> bool:
    """Whether a sentence states a decision, a rule or a preference, or asks to be remembered."""
    plain = sentence.replace("’", "'")
    return not plain.rstrip("\"') ").endswith("?") and any(cue.search(plain) for cue in _cues())


@cache
def _cues() -> tuple[re.Pattern[str], ...]:
    table = read_table("keeping.txt")
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in table.values())
