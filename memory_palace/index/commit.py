"""The commit record, whose replacement publishes an index, and the recipe (fingerprint) in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from enum import IntEnum
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace import signals
from memory_palace.embedding.registry import Embedder
from memory_palace.errors import IndexDamagedError, IndexMissingError, WrongEmbedderError
from memory_palace.language.words import Languages
from memory_palace.storage import is_named_by_content, write_atomic
from memory_palace.system import read_file

FORMAT = 3


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """One segment as the commit record names it."""

    name: str
    """``seg-<digest>``: the SHA-256 of the npz, which holds the SHA-256 of the jsonl."""
    is_cold: bool
    rows: int
    notes: int
    dead_rows: int
    array_bytes: int
    line_bytes: int
    checksum: int
    """``segment.checksum`` of the npz, which readers compare when they open it."""
    awaiting: int = 0
    """Live rows without a vector; if any, the vectors made so far are in the files ``vectors``."""
    vectors: tuple[str, ...] = ()
    """``vec-<digest>``: files of vectors by the digests of their texts."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One generation of the index: its segments and what they were made with."""

    generation: int
    embedder: str
    fingerprint: str
    """The recipe, see ``name_recipe``; an index of another one is built anew."""
    dimension: int
    segments: tuple[SegmentRef, ...] = ()
    previous: tuple[str, ...] = ()
    """Names of files of the generation before: kept until the next commit, for open readers."""
    calibration: Mapping[str, float] = field(default_factory=dict)
    scanned_ns: int = 0
    """When the last scan began; a file changed since (less a margin) is hashed, not trusted."""
    built_ns: int = 0
    manifest: str = ""
    """SHA-256 of the manifest whose types and priorities are in the records."""
    git_head: str = ""
    """The commit that git dates were taken from."""
    anchors: tuple[str, ...] = ()
    """Names of the anchor files: the nightly one, then the one of updates since."""
    waits_for: str = ""
    """The embedder that a build switches to once it is installed; empty if this one was chosen."""
    languages: Mapping[str, int] = field(default_factory=dict)
    """Counts of passages: ``other`` than English, and ``told``, whose language is known."""

    @property
    def rows(self) -> int:
        """Rows in all segments, dead ones included."""
        return sum(segment.rows for segment in self.segments)

    @property
    def awaiting(self) -> int:
        """Live rows without a vector, while an index is published by words first."""
        return sum(segment.awaiting for segment in self.segments)

    def files(self) -> tuple[str, ...]:
        """Names of all files of this generation."""
        vectors = (name for segment in self.segments for name in segment.vectors)
        return (*(segment.name for segment in self.segments), *vectors, *self.anchors)

    def names(self) -> set[str]:
        """Return the files that a sweep keeps: those of this generation and of the previous one."""
        return {*self.files(), *self.previous}


def read_commit(path: Path) -> Commit:
    """Read and verify the record, ignoring unknown fields; raise if it is missing or damaged."""
    try:
        record = json.loads(read_file(path))
    except FileNotFoundError:
        raise IndexMissingError(f"there is no index in {path.parent}; run `palace index`") from None
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _damaged(path, "its format is not one this version reads")
    body: dict[str, Any] = record.get("commit", {})
    if record.get("check") != _check(body):
        raise _damaged(path, "it does not match its own digest")
    kept = {known.name: body[known.name] for known in fields(Commit) if known.name in body}
    segments = (
        segment | {"vectors": tuple(segment.get("vectors", ()))} for segment in body["segments"]
    )
    lists = {name: tuple(kept.get(name, ())) for name in ("previous", "anchors")}
    return Commit(**kept | lists | {"segments": tuple(SegmentRef(**each) for each in segments)})


def read_choice(path: Path) -> str | None:
    """Return the embedder of a record in any format; ``None`` if it awaits one, or is damaged."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        record = json.loads(read_file(path))
        body = record["commit"]
        if record["check"] == _check(body) and not body.get("waits_for"):
            return str(body["embedder"])
    return None


def write_commit(path: Path, commit: Commit) -> int:
    """Replace the record, which publishes this generation; return its size in bytes."""
    body = asdict(commit)
    for segment in body["segments"]:
        if not segment["awaiting"]:  # the record of a whole index stays as it was
            del segment["awaiting"], segment["vectors"]
    record = {"format": FORMAT, "check": _check(body), "commit": body}
    data = (json.dumps(record, sort_keys=True) + "\n").encode()
    write_atomic(path, data)
    return len(data)


def next_commit(before: Commit | None, after: Commit) -> Commit:
    """Return a commit with its generation number and the file names of the previous generation."""
    if before is None:
        return replace(after, generation=1)
    kept = set(after.files())
    old = tuple(name for name in before.files() if name not in kept)
    return replace(after, generation=before.generation + 1, previous=old)


def check_companion(folder: Path, name: str) -> Path:
    """Return a file beside the segments after comparing it with the SHA-256 in its name.

    Raise ``IndexDamagedError`` where it is missing or differs.
    """
    path = folder / f"{name}.npz"
    try:
        if is_named_by_content(path):
            return path
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise damaged_companion(path, "it is missing" if missing else "it cannot be read") from None
    raise damaged_companion(path, "it does not match its SHA-256")


def damaged_companion(path: Path, why: str) -> IndexDamagedError:
    """Return the error for a damaged companion file, with the command that makes it again."""
    return IndexDamagedError(
        f"{path.name} is damaged: {why}; run `palace graph anchors build` to make it again"
    )


def _check(body: Any) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def _damaged(path: Path, why: str) -> IndexDamagedError:
    what = f"index file {path.name} is damaged: {why}"
    return IndexDamagedError(f"{what}; run `palace index` to mend it")


CHUNKER = "sections-8"
"""Bump it whenever ``notes`` can cut elsewhere or embed another text."""

TOKENIZER = "words-4"
"""Bump it whenever ``language.words`` can give other tokens for a text."""

FACTS = "plain-11"
"""Bump it whenever ``facts`` can find other names, headings, dates or speakers in a text, or
note records keep other members."""

_LOCALE = "locale-"
"""Prefix of a locale, by which numbers of days in notes are read."""
_OTHER_VERSION = "the index was built by another version of palace; run `palace index` to update it"
_OTHER_LANGUAGES = (
    "the settings name other languages than the index was built for; run `palace index` to make "
    "its words again (vectors are kept)"
)


class Detail(IntEnum):
    """The detail that is indexed of each passage; each level includes those before it."""

    PLAIN = 0
    """Words, dates, speakers, and whether it is a question: all that most profiles read."""
    STRUCTURED = 1
    """Facts and describing words of the extension ``structure`` as well."""


def name_recipe(
    embedder: Embedder, detail: Detail = Detail.PLAIN, languages: Languages = (), locale: str = ""
) -> str:
    """Return the fingerprint of an index; indexes with the same one may share segments.

    ``locale`` is the setting; versions of registered fact readers count. Raise ``MissingPartError``
    if the structure feature is not installed.
    """
    last = signals.structure().version if detail == Detail.STRUCTURED else FACTS
    for other in signals.fact_readers(structured=False):
        last += f"+{other.name}-{other.version}"
    return "|".join([*_first_parts(embedder, languages, locale), last])


def _first_parts(embedder: Embedder, languages: Languages, locale: str) -> list[str]:
    parts = [embedder.fingerprint, CHUNKER, "+".join((TOKENIZER, *languages))]
    return parts + ([f"{_LOCALE}{locale}"] if locale else [])


def read_detail(fingerprint: str) -> Detail:
    """Return the detail that a fingerprint names."""
    is_structured = any(part.startswith("facts-") for part in fingerprint.split("|"))
    return Detail.STRUCTURED if is_structured else Detail.PLAIN


def read_languages(fingerprint: str) -> Languages:
    """Return the languages of the stemmers that a fingerprint names."""
    parts = (part.split("+") for part in fingerprint.split("|"))
    return next((tuple(languages) for first, *languages in parts if first == TOKENIZER), ())


def choose_detail(commit: Commit | None, *, structure: bool | None = None) -> Detail:
    """Return the detail of a build: as asked, else as the index has it."""
    if structure is None:
        return read_detail(commit.fingerprint) if commit else Detail.PLAIN
    return Detail.STRUCTURED if structure else Detail.PLAIN


def has_same_vectors(first: str, second: str) -> bool:
    """Whether two fingerprints have the same embedder and chunker, and so the same vectors."""
    kind = f"|{TOKENIZER.partition('-')[0]}-"
    return first.partition(kind)[0] == second.partition(kind)[0]


def fits_recipe(embedder: Embedder, commit: Commit, *, exactly: bool = False) -> bool:
    """Whether an index has this version's recipe for an embedder.

    Facts of extensions may differ, as all facts are looked up alike; ``exactly`` demands those of
    the registered extensions, and no others.
    """
    fingerprint = commit.fingerprint
    detail, languages = read_detail(fingerprint), read_languages(fingerprint)
    *first, last = fingerprint.split("|")
    locale = next((part for part in first if part.startswith(_LOCALE)), "")
    told = locale.removeprefix(_LOCALE)
    if exactly:
        return name_recipe(embedder, detail, languages, told) == fingerprint
    return first == _first_parts(embedder, languages, told) and _keeps_facts(last)


def check_recipe(commit: Commit, languages: Languages) -> None:
    """Raise ``WrongEmbedderError`` for an index with another chunker, tokenizer or facts version.

    Also if its stemmers are of other languages than the settings name.
    """
    parts = commit.fingerprint.split("|")
    names = {part.partition("+")[0] for part in parts}
    if not {CHUNKER, TOKENIZER}.issubset(names) or not _keeps_facts(parts[-1]):
        raise WrongEmbedderError(_OTHER_VERSION)
    if read_languages(commit.fingerprint) != languages:
        raise WrongEmbedderError(_OTHER_LANGUAGES)


def _keeps_facts(part: str) -> bool:
    version = FACTS if read_detail(part) == Detail.PLAIN else signals.structure().version
    return part.partition("+")[0] == version


def is_embedder_of(embedder: Embedder, commit: Commit) -> bool:
    """Whether an index was built with this version of an embedder."""
    return commit.fingerprint.startswith(f"{embedder.fingerprint}|")


def describe_mismatch(embedder: Embedder, commit: Commit) -> str:
    """Return why an index does not fit this version, and the command that makes it fit."""
    if is_embedder_of(embedder, commit):
        return _OTHER_VERSION
    return (
        f"the index was built with another version of {commit.embedder}; "
        "run `palace index --force` to build it again"
    )
