"""A note: its data model, reading its bytes once, and its text as indexed or shown.

No file outside the palace is opened, and private and secret text is blanked before anything else is
read from a text. Line numbers stay.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from memory_palace.config import LONG_LINE_BYTES, ROOMS, PalacePaths, Rooms
from memory_palace.errors import CheckFailedError, PalaceError, UsageError
from memory_palace.models import (
    ALWAYS,
    FileStat,
    Link,
    NoteDate,
    Priority,
    Problem,
    ProblemKind,
    Validity,
)
from memory_palace.system import IS_POSIX, read_file

if TYPE_CHECKING:
    from memory_palace.notes.frontmatter import FrontMatter

T = TypeVar("T")
Lost = TypeVar("Lost")
Days: TypeAlias = tuple[date, date]
"""The first and the last day of a span."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a note: the unit that is embedded, scored and shown."""

    heading_path: tuple[str, ...]
    """Headings above the passage, outermost first; the note's own title is not repeated."""
    first_line: int
    last_line: int
    """1-based, inclusive, counted in the file as stored; 0 for a question."""
    text: str
    """The passage itself, as written (private and secret lines blanked)."""
    embed_text: str
    """Text for the embedder: title and headings, then the passage, without the times of turns. The
    file's stem only if the note has neither title nor text."""
    digest: str
    """SHA-256 of ``embed_text``, hexadecimal: the key under which its vector is kept."""
    validity: Validity = ALWAYS
    """Of a claim that a mark below it calls superseded; the note may be valid for longer."""


@dataclass(frozen=True, slots=True)
class Note:
    """A parsed Markdown file. ``type`` and ``priority`` are those of its front matter."""

    path: str
    digest: str
    """SHA-256 of the bytes as stored, hexadecimal."""
    title: str
    """Front matter ``title``, else the first ``#`` heading, else the file's stem."""
    type: str | None = None
    priority: Priority | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    days: tuple[Days, ...] = ()
    """Spans of days that the note gives itself, most reliable first; two at most."""
    yearless: date | None = None
    """Day without a year in the note's name (stored in 2000), only if ``days`` is empty."""
    date: NoteDate | None = None
    """From front matter or file name; ``None`` where git or the modification time decides."""
    validity: Validity = ALWAYS
    is_evergreen: bool = False
    """Front matter ``evergreen: true``: recency does not decay."""
    is_private: bool = False
    """Front matter ``private: true``: the note has no chunks, title or links."""
    body: str = ""
    """The text after the front matter, lines kept, private spans and secrets blanked."""
    body_first_line: int = 1
    chunks: tuple[Chunk, ...] = ()
    originals: tuple[str, ...] = ()
    """Names of the notes that a telegraph quotes word for word; empty for other notes."""
    talkers: frozenset[str] = frozenset()
    """Casefolded names of the speakers in a transcript."""
    questions: tuple[Chunk, ...] = ()
    """Front matter ``questions``, one chunk each: searched, never shown."""
    problems: tuple[Problem, ...] = ()


def default_type(rooms: Rooms, path: str) -> str:
    """Return the default note type of a path: its room's type, else ``note``."""
    room = rooms.room_of(path)
    return ROOMS[room] if room else "note"


def is_cold_path(paths: PalacePaths, path: str) -> bool:
    """Whether a root-relative path, which may be missing, resolves to one in the archive."""
    home = paths.notes.resolve()
    resolved = (paths.root / path).resolve()
    if not resolved.is_relative_to(home):
        return False
    return paths.rooms.is_archived(paths.prefix + resolved.relative_to(home).as_posix())


def stem_of(target: str) -> str:
    """Return the file name of a path or link target, without ``.md`` or ``.markdown``."""
    name = target.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return stem if suffix.lower() in ("md", "markdown") else name


# --- From the file to its text --------------------------------------------------------------------

LINKS_OUT = (
    "leaves the palace; it is not followed. Move what it leads to into the palace, "
    "or make a palace there"
)
LINKS_AWAY = "leads to a file that no source names; it is not followed"
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""Non-blocking: a pipe that is named like a note must not block the run."""
_MOST_BYTES = 32 * 1024 * 1024  # most bytes of a file that is read to measure its prose
_LONG_LINE = re.compile(rb"^[^\n]{%d,}+" % (LONG_LINE_BYTES + 1), re.MULTILINE)
_SAMPLE_BYTES, _FEW, _MANY = 64 * 1024, 0.05, 0.25
"""Bytes sampled by ``is_text``; largest shares of control bytes and of invalid UTF-8 in text."""
_CONTROLS = bytes({*range(32)} - {*b"\a\b\t\n\v\f\r\x1b"})
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NoteUnreadable(PalaceError):  # noqa: N818 - it names a state of the note
    """Raised for a note that is left out; ``problem`` gives the reason."""

    def __init__(self, path: str, message: str, kind: ProblemKind = "unreadable") -> None:
        self.problem = Problem(path, None, kind, message, is_failure=True)
        super().__init__(str(self.problem))


def read_note(paths: PalacePaths, name: str, *, limit_bytes: int) -> tuple[bytes, FileStat]:
    """Return the bytes of the note at a root-relative path, and the stat of the same open file.

    Raise ``FileNotFoundError`` if it has vanished, ``NoteUnreadable`` if it is unreadable, too
    large, not text, not a regular file, or a symbolic link out of the palace.
    """
    path, most_bytes = paths.file_of(name), max(limit_bytes, _MOST_BYTES)
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise NoteUnreadable(name, "is not a regular file")
            if not paths.may_read(name, os.path.realpath(path)):
                end = LINKS_AWAY if paths.source_of(name) else LINKS_OUT
                raise NoteUnreadable(name, f"is a symbolic link that {end}", "link")
            if found.st_size > most_bytes:
                raise _too_large(name, found.st_size, limit_bytes)
            data = opened.read(found.st_size + 1)
            if len(data) > found.st_size:  # the file grew, or its size was unknown
                data += opened.read(most_bytes + 1 - len(data))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoteUnreadable(name, f"cannot be read: {error.strerror}") from error
    if len(data) > limit_bytes < len(_LONG_LINE.sub(b"", data.replace(b"\r", b"\n"))):
        raise _too_large(name, len(data), limit_bytes)
    if not is_text(data):
        words = "is no text (NUL bytes, or no UTF-8); save it as UTF-8, or name it in .palaceignore"
        raise NoteUnreadable(name, words)
    inode = found.st_ino if IS_POSIX else 0  # as Windows lists it
    return data, FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, inode)


def _too_large(name: str, size: int, limit_bytes: int) -> NoteUnreadable:
    message = (
        f"has {size:,} bytes, more than max_note_bytes ({limit_bytes:,}); it is not indexed. "
        "Split it, or raise max_note_bytes in palace.yaml"
    )
    return NoteUnreadable(name, message, "too large")


def is_text(data: bytes) -> bool:
    """Whether bytes are text: few controls and little invalid UTF-8 in the first 64 KiB."""
    head = data[:_SAMPLE_BYTES]
    if head.startswith(_UTF16):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    strange = head.decode("utf-8", "replace").count("\ufffd") - head.count("\ufffd".encode())
    return controls <= _FEW * len(head) and strange <= _MANY * len(head)


def decode_note(data: bytes, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Return the text of UTF-8, UTF-16 or else Windows-1252 bytes, and problems of encoding.

    NUL bytes become spaces. A carriage return, alone or before a line feed, becomes a line feed, so
    that lines are counted as an editor shows them.
    """
    problems: list[Problem] = []
    if data.startswith(_UTF16):
        text = data.decode("utf-16", "replace")
        problems.append(Problem(path, None, "encoding", "is UTF-16; save it as UTF-8"))
    else:
        try:
            text = data.removeprefix(codecs.BOM_UTF8).decode()
        except UnicodeDecodeError as error:
            text, line = data.decode("cp1252", "replace"), 1 + data.count(b"\n", 0, error.start)
            message = "is not UTF-8 from here on and is read as Windows-1252; save it as UTF-8"
            problems.append(Problem(path, line, "encoding", message))
    if "\0" in text:
        line = 1 + text.count("\n", 0, text.index("\0"))
        message = "contains NUL bytes; they are read as spaces"
        problems.append(Problem(path, line, "encoding", message))
        text = text.replace("\0", " ")
    return text.replace("\r\n", "\n").replace("\r", "\n"), tuple(problems)


def decode_stored(path: str, data: bytes) -> str:
    """Return the text of a note to edit; raise ``PalaceError`` where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PalaceError(f"{path} is not UTF-8; save it as UTF-8 first") from error


# --- What may not be indexed or shown -------------------------------------------------------------

_PRIVATE = re.compile(r"<private(?:\s[^<>]*)?>", re.IGNORECASE)
_PRIVATE_END = re.compile(r"</private\s*>", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n(?:[ \t]*+\n){2,}+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_LEFT_OUT = "(left out here: a secret)"
_SCORES = re.compile(
    r"^##[ \t]+SMASHIN\b.*$(?:\n(?:[ \t]*|[ \t]*[-*+][ \t]+\[[ xX]\][ \t].*)$)*"
    r"|^SMASHIN(?:[ \t]+SCOPE)?[ \t]+\d+/12\b.*$",
    re.MULTILINE | re.IGNORECASE,
)
"""SMASHIN score sheet of a memory: its heading with checkboxes, and the line of its total."""


def withhold(text: str, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Return a text with private spans and secret lines blanked, all lines kept, and problems."""
    from memory_palace.language.visible import (
        find_secrets,  # delayed: few notes of an answer need it
    )

    kept, problems, line, position = list[str](), list[Problem](), 1, 0
    while opening := _PRIVATE.search(text, position):
        closing = _PRIVATE_END.search(text, opening.end())
        end = closing.end() if closing else len(text)
        line += text.count("\n", position, opening.start())
        kept += [text[position : opening.start()], "\n" * text.count("\n", opening.start(), end)]
        message = "a private span starts here"
        message += "; it is not" if closing else " and is not closed; nothing below it is"
        problems.append(Problem(path, line, "private", f"{message} indexed"))
        line, position = line + len(kept[-1]), end
    text = "".join([*kept, text[position:]]) if kept else text
    secrets = find_secrets(text)
    lines = text.split("\n") if secrets else []
    for secret in secrets:
        lines[secret.line - 1] = ""
        message = f"contains a secret ({secret.kind}); the line is not indexed"
        problems.append(Problem(path, secret.line, "secret", message))
    return "\n".join(lines) if secrets else text, tuple(problems)


def clean_text(text: str, what: str = "the text") -> str:
    """Return a text with line feeds only, and U+FFFD for each control character.

    Raise ``UsageError`` naming ``what`` if it is blank or cannot be encoded as UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"{what} is not UTF-8; save or send it as UTF-8") from error
    clean = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", re.sub(r"\r\n?", "\n", text))
    if not clean.replace("\N{REPLACEMENT CHARACTER}", "").strip():
        raise UsageError(f"{what} is empty")
    return clean.strip("\n").rstrip()


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A line of a text that was left out on writing, for a secret or a private span."""

    line: int | None
    """1-based, in the text as it was given."""
    why: str

    def __str__(self) -> str:
        return f"line {self.line} was not written: {self.why}"


def leave_out(text: str) -> tuple[str, tuple[Unwritten, ...]]:
    """Return a text without private spans and secret lines, and the lines that were left out.

    Raise ``CheckFailedError`` if nothing is left to write.
    """
    kept, problems = withhold(text, "")
    if not problems:
        return text, ()
    left = [
        Unwritten(one.line, one.message.partition(";")[0])
        if one.kind == "secret"
        else Unwritten(one.line, "begins a private span")
        for one in problems
    ]
    secrets = {problem.line or 1 for problem in problems if problem.kind == "secret"}
    lines = kept.split("\n")
    for number in secrets:
        lines[number - 1] = "" if number - 1 in secrets else _LEFT_OUT
    if not any(line.strip() for line in lines if line != _LEFT_OUT):
        listed = "; ".join(f"line {one.line} {one.why}" for one in left)
        raise CheckFailedError(f"nothing was written: {listed}")
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n"), tuple(left)


class NoteBody(NamedTuple):
    """The front matter of a note, and its body as indexed; withheld lines are empty."""

    matter: FrontMatter
    is_private: bool
    text: str
    """The text after the front matter, with as many lines as stored."""
    first_line: int
    problems: tuple[Problem, ...]

    @property
    def lines(self) -> list[str]:
        """The lines of the whole file; those of the front matter are empty."""
        return [""] * (self.first_line - 1) + self.text.split("\n")


def read_body(path: str, data: bytes, line_bytes: int = LONG_LINE_BYTES) -> NoteBody:
    """Return the front matter and the text to index of a file, and the problems in it.

    Comments, private and secret text, overlong lines, score sheets of memories and verification
    tokens are blanked: an index with the tokens would give away proof of reading.
    """
    from memory_palace.notes.frontmatter import FrontMatter  # delayed: it imports YAML

    defects: list[Problem] = []
    fence = Fence(path, defects.append)
    closed = NoteBody(FrontMatter(), True, "", 1, ())
    read = partial(_read_open, path, data, line_bytes, fence)
    body = fence.read("private and secret lines", read, closed)
    return body._replace(problems=(*body.problems, *defects))


def _read_open(path: str, data: bytes, line_bytes: int, fence: Fence) -> NoteBody:
    from memory_palace.language.visible import drop_markers
    from memory_palace.markdown.markup import drop_comments
    from memory_palace.notes.frontmatter import FrontMatter, split_front_matter

    whole, problems = decode_note(data, path)
    text, long = _drop_long_lines(whole, path, line_bytes)
    text, withheld = withhold(text, path)
    split = partial(split_front_matter, text)
    matter = fence.read("front matter", split, FrontMatter(raw=text), 1)
    problems += (*long, *withheld)
    if matter.error:
        problems += (Problem(path, matter.error_line, "front matter", matter.error),)
    if matter.is_private:
        problems += (Problem(path, None, "private", "is private; it is not indexed"),)
        return NoteBody(matter, True, "", 1, problems)
    first_line = 1 + text.count("\n", 0, matter.end)
    text = drop_markers(text[matter.end :])
    text = _SCORES.sub(lambda sheet: "\n" * sheet[0].count("\n"), text)
    body, open_line = drop_comments(text)
    if open_line is not None:
        words = "a comment that begins here is never closed; what follows is not indexed"
        problems += (Problem(path, first_line + open_line, "comment", words),)
    return NoteBody(matter, False, body, first_line, problems)


def _drop_long_lines(text: str, path: str, most_bytes: int) -> tuple[str, tuple[Problem, ...]]:
    """Return a text with lines of more than ``most_bytes`` blanked, and a problem for each."""
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


# --- Lines as they are shown ----------------------------------------------------------------------

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
WITHHELD = "[withheld]"
_NO_TEXT = re.compile(r"<!--|%%|verify|smashin", re.IGNORECASE)
"""Signs of comments, verification tokens and score sheets, which are not indexed."""
_HEAD_BYTES = 8192
_OPEN = re.compile(r"^status:[ \t]*[\"']?open[\"']?[ \t]*$", re.MULTILINE)


CLAIM_MARK = "**Superseded "
"""Start of a supersession mark, the line below a superseded claim: see ``superseding``."""


@dataclass(frozen=True, slots=True)
class NoteText:
    """Lines of a note as stored, 1-based and inclusive."""

    path: str
    first_line: int
    last_line: int
    total_lines: int
    text: str


def split_line_range(text: str) -> tuple[str, int | None, int | None]:
    """Return the name, first and last line of ``name``, ``name:10`` or ``name:10-20``."""
    name, _, lines = text.rpartition(":")
    match = _RANGE.fullmatch(lines) if name else None
    if match is None:
        return text, None, None
    return name, int(match[1]), int(match[2] or match[1])


def write_line_range(name: str, first: int, last: int) -> str:
    """Return ``name:first-last``, or ``name:first``: the forms that ``split_line_range`` reads."""
    return f"{name}:{first}" + (f"-{last}" if last > first else "")


def excerpt(
    path: str, data: bytes, *, first_line: int | None = None, last_line: int | None = None
) -> NoteText:
    """Return lines of a note, with secrets and private spans shown as ``[withheld]``."""
    from memory_palace.notes.frontmatter import split_front_matter  # delayed: it imports YAML

    whole, _ = decode_note(data, path)
    clean, _ = withhold(whole, path)
    if split_front_matter(clean).is_private:
        raise UsageError(f"{path} is private; open it in an editor")
    lines = [
        kept if kept == original else f"{kept}{WITHHELD}"
        for kept, original in zip(clean.split("\n"), whole.split("\n"), strict=True)
    ]
    if lines[-1] == "":
        lines.pop()
    first = first_line or 1
    last = min(last_line or len(lines), len(lines))
    if first > max(len(lines), 1) or last < first - 1:
        raise UsageError(f"{path} has {len(lines)} lines; it has no lines {first}-{last_line}")
    return NoteText(path, first, last, len(lines), "\n".join(lines[first - 1 : last]))


def read_indexed(
    paths: PalacePaths, path: str, *, size: int, digest: bytes, is_withheld: bool
) -> list[str]:
    """Return the lines of a note as indexed, or an empty list if its file has changed since.

    ``size`` is the file's size in bytes, ``digest`` a prefix of its SHA-256. ``is_withheld`` says
    that it has private or secret text: those lines are empty, and so are comments and verification
    tokens.
    """
    try:
        data, _ = read_note(paths, path, limit_bytes=size)
    except (NoteUnreadable, OSError):
        return []  # the caller reports that the index is behind
    if sha256(data).digest()[: len(digest)] != digest:
        return []
    text, _ = decode_note(data, path)
    return read_body(path, data).lines if is_withheld or _NO_TEXT.search(text) else text.split("\n")


def find_disputes(paths: PalacePaths) -> dict[str, tuple[str, ...]]:
    """Return the paths of the open conflicts, by each note that is a party to them."""
    disputes: dict[str, tuple[str, ...]] = {}
    rooms = paths.rooms.folders.items()
    folders = [paths.root / folder for folder, room in rooms if room == "conflict_room"]
    for file in sorted({file for folder in folders for file in folder.rglob("*.md")}):
        with suppress(OSError):  # vanished or unreadable; the index reports it
            found = file.stat()
            stamp = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
            for party in _open_parties(file, stamp):
                disputes[party] = (*disputes.get(party, ()), paths.shown(file))
    return disputes


@lru_cache(maxsize=4096)
def _open_parties(file: Path, stamp: tuple[int, ...]) -> list[str]:
    """Return the parties of a conflict, none if it is not open; cached by file and ``stamp``."""
    text = read_file(file, _HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    head, _, _ = text.partition("\n---\n")
    if not head.startswith("---\n") or not _OPEN.search(head):
        return []
    from memory_palace.notes.frontmatter import split_front_matter  # delayed: it imports YAML

    parties = split_front_matter(f"{head}\n---\n").values.get("parties")
    return [str(party) for party in parties] if isinstance(parties, list) else []


# --- Defects of readers --------------------------------------------------------------------------


def _tell(problem: Problem) -> None:
    sys.stderr.write(f"palace: {problem}\n")


class Fence:
    """Runs readers of one note or question, and reports their unexpected exceptions.

    A defect in a reader loses only the value that it reads: no text of a note may stop an index
    build, and no text of a question an answer.
    """

    def __init__(
        self, path: str = "the question", tell: Callable[[Problem], object] | None = None
    ) -> None:
        """``tell`` receives each problem; without it, problems are written to stderr."""
        self._path, self._tell = path, tell

    def read(
        self, reader: str, read: Callable[[], T], lost: Lost, line: int | None = None
    ) -> T | Lost:
        """Return the result of ``read``, or ``lost`` if it raises an exception that is a defect."""
        try:
            return read()
        except (PalaceError, OSError, MemoryError):
            raise
        except Exception as error:
            import traceback  # delayed: no reader should fail

            where = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"{type(error).__name__}, {where.filename.rpartition('/')[2]}:{where.lineno}"
            message = (
                f"the reader of {reader} failed ({raised}); all else was read. This is a defect of "
                "Memory Palace: please report it"
            )
            (self._tell or _tell)(Problem(self._path, line, "defect", message, is_failure=True))
            return lost

    def read_lines(
        self, reader: str, read: Callable[[str], Iterable[T]], text: str, line: int
    ) -> list[T]:
        """Return the items a reader finds in a text; if it fails, those in each line by itself."""
        told: list[Problem] = []
        found: list[T] = []
        fence = Fence(self._path, told.append)
        if (whole := fence.read(reader, lambda: [*read(text)], None, line)) is not None:
            return whole
        for at, row in enumerate(text.split("\n"), start=line):
            found += fence.read(reader, lambda: [*read(row)], [], at)  # noqa: B023 - called at once
        for problem in told[1:] or told:
            (self._tell or _tell)(problem)
        return found


ASKED = Fence()
"""The fence for readers of a question; problems are written to stderr."""
