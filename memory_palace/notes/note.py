"""A note: its values, its bytes read once, and its text as it may be indexed or shown.

Nothing outside the palace is opened, and what is private or secret leaves a text before anything
else is taken from it. Every line stays where it was.
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
    """1-based, inclusive, counted in the file as stored; 0 of what is no passage."""
    text: str
    """The passage itself, as written (private and secret lines blanked)."""
    embed_text: str
    """The text for the embedder: title and headings, then the passage, without the times of turns.
    Never the file name."""
    digest: str
    """SHA-256 of ``embed_text``, hexadecimal: the key under which its vector is kept."""
    validity: Validity = ALWAYS
    """Of a claim that a line below it says is superseded; the note may hold longer."""


@dataclass(frozen=True, slots=True)
class Note:
    """One parsed Markdown file. ``type`` and ``priority`` are what its front matter says."""

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
    """The days that the note names as its own, the most telling first; two at most."""
    yearless: date | None = None
    """A day of any year, where its name gives no more."""
    date: NoteDate | None = None
    """From front matter or file name; ``None`` where git or mtime has to say."""
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
    """Stems of the notes that say all it says, word for word."""
    talkers: frozenset[str] = frozenset()
    """The people who take turns in it, casefolded."""
    questions: tuple[Chunk, ...] = ()
    """Questions of its front matter, a chunk each: they are searched, and never shown."""
    problems: tuple[Problem, ...] = ()


def default_type(rooms: Rooms, path: str) -> str:
    """Return the type of a note that neither itself nor the manifest names."""
    room = rooms.room_of(path)
    return ROOMS[room] if room else "note"


def is_cold_path(paths: PalacePaths, path: str) -> bool:
    """Whether a root-relative path is cold, links followed, whether or not it exists."""
    home = paths.notes.resolve()
    resolved = (paths.root / path).resolve()
    if not resolved.is_relative_to(home):
        return False
    return paths.rooms.is_archived(paths.prefix + resolved.relative_to(home).as_posix())


def stem_of(target: str) -> str:
    """Return the file name without ``.md`` or ``.markdown``, of a path or of what a link names."""
    name = target.rpartition("/")[2]
    stem, _, suffix = name.rpartition(".")
    return stem if suffix.lower() in ("md", "markdown") else name


# --- From the file to its text --------------------------------------------------------------------

LINKS_OUT = (
    "leaves the palace; it is not followed. Move what it leads to into the palace, "
    "or make a palace there"
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""A pipe that is named like a note must not block the run."""
_MOST_BYTES = 32 * 1024 * 1024  # of a file that is read to see how much of it is prose
_LONG_LINE = re.compile(rb"^[^\n]{%d,}+" % (LONG_LINE_BYTES + 1), re.MULTILINE)
_SAMPLE_BYTES, _FEW, _MANY = 64 * 1024, 0.05, 0.25
"""Bytes that tell whether a file is text; the largest shares of controls and of no UTF-8 in one."""
_CONTROLS = bytes({*range(32)} - {*b"\a\b\t\n\v\f\r\x1b"})
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class NoteUnreadable(PalaceError):  # noqa: N818 - it names a state of the note
    """A note that is left out; ``problem`` says why."""

    def __init__(self, path: str, message: str, kind: ProblemKind = "unreadable") -> None:
        self.problem = Problem(path, None, kind, message, is_failure=True)
        super().__init__(str(self.problem))


def read_note(paths: PalacePaths, name: str, *, limit_bytes: int) -> tuple[bytes, FileStat]:
    """Return the bytes of the note at a root-relative path, and the stat of the very same file.

    Raise ``FileNotFoundError`` where it has vanished, ``NoteUnreadable`` where it may not or
    cannot be read, or has become a link that leads out of the palace.
    """
    path, most_bytes = paths.root / name, max(limit_bytes, _MOST_BYTES)
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as opened:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise NoteUnreadable(name, "is not a regular file")
            home, real = os.path.realpath(paths.notes), os.path.realpath(path)
            if not real.startswith(home.rstrip(os.sep) + os.sep):
                raise NoteUnreadable(name, f"is a symbolic link that {LINKS_OUT}", "link")
            if found.st_size > most_bytes:
                raise _too_large(name, found.st_size, limit_bytes)
            data = opened.read(found.st_size + 1)
            if len(data) > found.st_size:  # it grew, or its size is not known before
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
    return data, FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _too_large(name: str, size: int, limit_bytes: int) -> NoteUnreadable:
    message = (
        f"has {size:,} bytes, more than max_note_bytes ({limit_bytes:,}); it is not indexed. "
        "Split it, or raise max_note_bytes in palace.yaml"
    )
    return NoteUnreadable(name, message, "too large")


def is_text(data: bytes) -> bool:
    """Return whether bytes are text: few at their beginning are controls or no UTF-8."""
    head = data[:_SAMPLE_BYTES]
    if head.startswith(_UTF16):
        return True
    controls = len(head) - len(head.translate(None, _CONTROLS))
    strange = head.decode("utf-8", "replace").count("\ufffd") - head.count("\ufffd".encode())
    return controls <= _FEW * len(head) and strange <= _MANY * len(head)


def decode_note(data: bytes, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Decode UTF-8 (with or without BOM) or UTF-16; take anything else for Windows-1252.

    NUL bytes become spaces. Lines are counted as an editor shows them: a carriage return, a line
    feed, or one after the other ends a line.
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
"""The ticks of a memory's image, and the line that adds them up."""


def withhold(text: str, path: str) -> tuple[str, tuple[Problem, ...]]:
    """Blank private spans and lines with secrets, keeping every line where it was."""
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


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A line of a text that was not written: a secret, or a private span."""

    line: int | None
    """1-based, in the text as it was given."""
    why: str

    def __str__(self) -> str:
        return f"line {self.line} was not written: {self.why}"


def leave_out(text: str) -> tuple[str, tuple[Unwritten, ...]]:
    """Return a text without private spans, and with a remark for lines that hold a secret.

    Raise ``CheckFailedError`` where nothing is left to write.
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
    """The text of a file that is indexed, and its front matter; withheld lines are empty."""

    matter: FrontMatter
    is_private: bool
    text: str
    """The lines after the front matter, each where it was."""
    first_line: int
    problems: tuple[Problem, ...]

    @property
    def lines(self) -> list[str]:
        """The lines of the whole file, those of the front matter empty."""
        return [""] * (self.first_line - 1) + self.text.split("\n")


def read_body(path: str, data: bytes, line_bytes: int = LONG_LINE_BYTES) -> NoteBody:
    """Read what is to be indexed of a file.

    That is the text without comments, without what is private or secret, without the score sheet of
    a memory, and without verification tokens: an index with them would give away proof of reading.
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


# --- Lines as they are shown ----------------------------------------------------------------------

_RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
WITHHELD = "[withheld]"
_NO_TEXT = re.compile(r"<!--|%%|verify|smashin", re.IGNORECASE)
"""Signs of comments, verification tokens and the score sheets of memories."""
_HEAD_BYTES = 8192
_OPEN = re.compile(r"^status:[ \t]*[\"']?open[\"']?[ \t]*$", re.MULTILINE)


CLAIM_MARK = "**Superseded "
"""Begins a line that says what took the place of a claim above it: see ``superseding``."""


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
    """Return what ``split_line_range`` reads."""
    return f"{name}:{first}" + (f"-{last}" if last > first else "")


def excerpt(
    path: str, data: bytes, *, first_line: int | None = None, last_line: int | None = None
) -> NoteText:
    """Cut lines out of a note; lines with secrets and private spans are shown as withheld."""
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
    """Return the lines of a note as they were indexed; none where it is no longer what it was.

    ``size`` is that of the file, ``digest`` the beginning of its SHA-256. ``is_withheld`` says that
    something of it is private or secret: such lines are empty, and so are comments and verification
    tokens.
    """
    try:
        data, _ = read_note(paths, path, limit_bytes=size)
    except (NoteUnreadable, OSError):
        return []  # whoever asks says that the index is behind
    if sha256(data).digest()[: len(digest)] != digest:
        return []
    text, _ = decode_note(data, path)
    return read_body(path, data).lines if is_withheld or _NO_TEXT.search(text) else text.split("\n")


def find_disputes(paths: PalacePaths) -> dict[str, tuple[str, ...]]:
    """Return the open conflicts of every note that is party to one."""
    disputes: dict[str, tuple[str, ...]] = {}
    rooms = paths.rooms.folders.items()
    folders = [paths.root / folder for folder, room in rooms if room == "conflict_room"]
    for file in sorted({file for folder in folders for file in folder.rglob("*.md")}):
        with suppress(OSError):  # it vanished, or it may not be read: the index names it
            found = file.stat()
            stamp = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
            for party in _open_parties(file, stamp):
                disputes[party] = (*disputes.get(party, ()), paths.shown(file))
    return disputes


@lru_cache(maxsize=4096)
def _open_parties(file: Path, stamp: tuple[int, ...]) -> list[str]:
    """Return the parties of a conflict that is open; read once, while its file stays as it is."""
    with file.open("rb") as opened:
        text = opened.read(_HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
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
    """Calls readers of one note, or of a question, and tells what they could not read.

    A defect in a reader costs the one fact that it reads, and is named: no text of a note may stop
    a build, and none of a question an answer.
    """

    def __init__(
        self, path: str = "the question", tell: Callable[[Problem], object] | None = None
    ) -> None:
        """``tell`` is given each problem; without it they are lines on stderr."""
        self._path, self._tell = path, tell

    def read(
        self, reader: str, read: Callable[[], T], lost: Lost, line: int | None = None
    ) -> T | Lost:
        """Return what a reader returns, or ``lost`` where it raises what nobody can mend."""
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
        """Return what a reader finds in a text; where it fails, in each line that it can read."""
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
"""Of a question, whatever it is."""
