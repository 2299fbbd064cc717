"""The passages that our own questions ask for: turns of talk, and parts of files of packages.

``questions.jsonl`` names for each question a source, a document in it, and a place: a turn counted
from 0, lines counted from 1, or sentences counted from 0 where a file is one line. Nothing of the
texts is kept here; ``sources.toml`` pins the archives that hold them, with their licences.
"""

from __future__ import annotations

import json
import re
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest, sha256
from pathlib import Path

from benchmarks.datasets.reading import read_jsonl
from memory_palace.errors import UsageError
from memory_palace.markdown.markup import strip_markup

HERE = Path(__file__).parent
TURNS_BEFORE = 60
"""Most words kept of the turn before a turn."""
_MARKS = re.compile(r"\{[a-z]+\}|\bdisfmarker\b")
_SPACED = re.compile(r"\s+(?=[,.;:?!%)]|n't\b|'(?:s|m|re|ve|ll|d)\b)")
_SENTENCES = re.compile(r"(?<=[a-z)\"][.?!])\s+(?=[A-Z\"])")
_HEADING = re.compile(r"#{1,6}\s+(.+?)[\s#]*$")
_RULE = re.compile(r"([=\-~^\"'`*+#.:])\1{2,}\s*$")


@dataclass(frozen=True, slots=True)
class AskedPassage:
    """A passage, and a question that somebody wrote for it."""

    kind: str
    document: str
    place: int
    before: str
    """The turn before it, or its heading."""
    text: str
    question: str


def read_passages(archives: Path, given: Path) -> Iterator[AskedPassage]:
    """Yield every passage of ``questions.jsonl`` with its question.

    ``archives`` holds the files that ``sources.toml`` names; ``given`` the sets of talk. Raise
    ``UsageError`` for an archive that is another, and for a place with another text.
    """
    for number, row in read_jsonl(HERE / "questions.jsonl"):
        source, name, (first, last) = row["source"], row["doc"], row["at"]
        if row["kind"] == "talk":
            turns = _read_talks(given)[name]
            past = turns[first - 1] if first else ""
            before, text = " ".join(past.split()[:TURNS_BEFORE]), turns[first]
        else:
            before, text = _cut(_read_member(archives, source, name), name, first, last)
        if _digest(text) != row["digest"]:
            raise UsageError(f"{HERE}/questions.jsonl:{number}: {name} has another text there")
        yield AskedPassage(row["kind"], f"{source} {name}", first, before, text, row["question"])


def _digest(text: str) -> str:
    """Return what tells one text from another."""
    return sha256(text.encode()).hexdigest()[:16]


@cache
def _read_talks(given: Path) -> Mapping[str, list[str]]:
    """Return the turns of every meeting of QMSum's train half and scene of FriendsQA, by name."""
    talks = {}
    for _, meeting in read_jsonl(given / "qmsum_train.jsonl"):
        turns = [(turn["speaker"], turn["content"]) for turn in meeting["meeting_transcripts"]]
        talks[meeting["meeting_id"]] = [f"{who}: {_tidy(said)}" for who, said in turns]
    for part in ("dev", "tst"):
        whole = json.loads((given / f"friendsqa_{part}.json").read_text("utf-8"))
        for scene in whole["data"]:
            said = scene["paragraphs"][0]["utterances:"]
            turns = [(" and ".join(turn["speakers"]), turn["utterance"]) for turn in said]
            talks[scene["title"]] = [f"{who}: {_tidy(words)}" for who, words in turns]
    return talks


def _tidy(said: str) -> str:
    """Return a turn without the marks of its transcript, and with the usual spaces."""
    return " ".join(_SPACED.sub("", _MARKS.sub(" ", said)).split())


@cache
def _read_sources() -> Mapping[str, Mapping[str, str]]:
    table = tomllib.loads((HERE / "sources.toml").read_text("utf-8"))
    return {f"{row['name']}=={row['version']}": row for row in table["source"]}


@cache
def _read_member(archives: Path, source: str, name: str) -> str:
    file = _open(archives, source).extractfile(name)
    if file is None:
        raise UsageError(f"{source} has no file {name}")
    return file.read().decode("utf-8", "replace").replace("\r\n", "\n")


@cache
def _open(archives: Path, source: str) -> tarfile.TarFile:
    pinned = _read_sources()[source]
    path = archives / pinned["file"]
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != pinned["sha256"]:
            raise UsageError(f"{path} is another file than the one that sources.toml pins")
    return tarfile.open(path)


def _cut(text: str, name: str, first: int, last: int) -> tuple[str, str]:
    """Return the heading above some lines, or none, and their text without markup."""
    lines = text.splitlines()
    if len(lines) == 1:
        return "", " ".join(_SENTENCES.split(text.strip())[first : last + 1])
    part = "\n".join(lines[first - 1 : last])
    if name.endswith(".json"):
        return "", str(json.loads("{" + part.strip().rstrip(",") + "}").popitem()[1])
    if name.endswith(".txt"):
        return "", " ".join(part.split())
    return _find_heading(lines[: first - 1]), " ".join(strip_markup(part, keep_spans=True).split())


def _find_heading(lines: list[str]) -> str:
    """Return the last heading in Markdown or reStructuredText."""
    for place in range(len(lines) - 1, -1, -1):
        if found := _HEADING.match(lines[place]):
            return strip_markup(found[1])
        if place and _RULE.match(lines[place]) and lines[place - 1].strip():
            return strip_markup(lines[place - 1].strip())
    return ""
