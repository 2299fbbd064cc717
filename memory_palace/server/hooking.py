"""``palace hook`` as a harness calls it: one message is read, the server asked, and nothing fails.

It waits for no end of standard input, which harnesses keep open, and for no answer longer than a
limit. Whatever happens the exit status is 0: another one would stop the agent's turn. The reason
is in ``hook.log`` in the folder of the index, and on stderr. Like ``cli.client`` it imports C
modules only, until the command has to run here.
"""

from __future__ import annotations

import os
import sys
from _json import make_scanner
from _signal import (  # type: ignore[import-not-found]  # the module signal takes 2 ms
    ITIMER_REAL,
    SIG_IGN,
    SIGALRM,
    SIGHUP,
    SIGINT,
    SIGTERM,
    setitimer,
    signal,
)
from select import select
from time import monotonic

from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import INDEX, find_meant, find_server, read_place, read_registered
from memory_palace.server.resident import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

ANSWER_SECONDS, KEEP_SECONDS = 5.0, 25.0
"""What a whole call may take: one that somebody waits for, and one that writes and indexes."""
MESSAGE_SECONDS = 2.0
"""A message is sent at once, or never."""
MOST_MESSAGE_BYTES = 8 << 20
_AGAIN_SECONDS = 0.5
_PIECE_BYTES = 1 << 16
_MANIFESTS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "openclaw.plugin.json")
"""Where the version of a plug-in is, in the folder that its harness names to its hooks."""
_MOST_MANIFEST_BYTES = 1 << 16
_KEEPING = ("pre-compact", "stop")
"""Events whose answer is what is written, where the user's configuration says so."""
_MOST_CHARACTERS = 16_000
"""Of a prompt: the first and the last half; more is not read of what was said."""
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "session_id": ("session_id", "sessionId", "sessionKey"),
    "transcript_path": ("transcript_path", "transcriptPath", "sessionFile"),
    "cwd": ("cwd", "workspaceDir"),
    "source": ("source",),
    "prompt": ("prompt",),
    "plugin": ("plugin",),
}
"""What is read of a message, under the names that harnesses have for it."""


class _StoppedError(BaseException):
    """The time is up, or somebody ends the process. No command may catch it."""


def run_hook(given: Sequence[str], run_here: Callable[[list[str]], int]) -> int:
    """Answer one message of a harness; return 0."""
    call = _Call(given)
    handlers = _limit(KEEP_SECONDS if call.keeps else ANSWER_SECONDS)
    try:
        try:
            call.answer(run_here)
        finally:
            setitimer(ITIMER_REAL, 0)
    except BaseException as error:  # whatever it is: it must never fail
        for number, _ in handlers:
            signal(number, SIG_IGN)
        call.note_failure(error)
    finally:
        for number, handler in handlers:
            signal(number, handler)
    return 0


class _Call:
    """One call of a harness: its command line, and the palace that is meant."""

    def __init__(self, given: Sequence[str]) -> None:
        self._given = [word for word in given if word != "--no-serve"]
        self._is_alone = len(self._given) < len(given)
        self._index: str | None = None
        self.keeps = any(event in given for event in _KEEPING)

    def answer(self, run_here: Callable[[list[str]], int]) -> None:
        """Print what the notes have to say; raise whatever goes wrong."""
        message = {**read_message(), "plugin": self._read_version(os.environ)}
        found = self._find(message["cwd"])
        if found is None or (self.keeps and read_registered()[3] != "on"):
            return  # nothing to speak of, and nowhere to say so
        root, own = found
        self._index = f"{root}/{own}/{INDEX}"
        os.chdir(root)
        line, text = ["-C", root, *_drop_place(self._given)], encode(message).decode()
        server = None if self.keeps or self._is_alone else find_server(line, os.environ)
        if server and self._ask(server.address, line, text):
            return
        sys.stdin = _Text(text)
        if run_here(line):
            raise PalaceError("the command failed")
        sys.stdout.flush()
        if server and read_registered()[2] == "auto":
            from memory_palace.server.starting import start_server  # delayed: few want it

            start_server(server)

    def _read_version(self, environ: Mapping[str, str]) -> str:
        """Return the version of the plug-in whose hook this is; "" where a person calls, or later.

        A session is told once that the plug-in and the program are not of one version.
        """
        folder = environ.get("CLAUDE_PLUGIN_ROOT", "") if "session-start" in self._given else ""
        for manifest in _MANIFESTS if folder else ():
            try:
                with open(f"{folder}/{manifest}", "rb") as file:  # noqa: PTH123
                    found = _parse(file.read(_MOST_MANIFEST_BYTES)) or {}
            except (OSError, ValueError):
                continue
            return take_fields({"plugin": found.get("version")})["plugin"]  # type: ignore[no-any-return]
        return ""

    def _find(self, folder: str) -> tuple[str, str] | None:
        """Return the root and the own folder of the palace that is meant, and stand in a folder."""
        place = read_place(self._given) or os.environ.get("PALACE_ROOT", "")
        if not place:
            _enter(folder)
        return find_meant(place)

    def _ask(self, address: str, line: Sequence[str], text: str) -> bool:
        """Print what the server answers; whether it did."""
        if not os.path.exists(address):  # noqa: PTH110 - pathlib takes 8 ms
            return False
        from memory_palace.server.client import exchange  # delayed: only a server needs it

        reply = exchange(address, line, text)
        if reply is None:
            return False
        status, parts = reply
        if status:
            raise PalaceError("".join(part for stream, part in parts if stream == 2).strip())
        sys.stdout.write("".join(part for stream, part in parts if stream == 1))
        sys.stdout.flush()
        return True

    def note_failure(self, error: BaseException) -> None:
        """Say on stderr and in the log why there is no answer; nothing where that fails too."""
        try:
            from memory_palace.cli.faults import FAULTS, describe, silence
            from memory_palace.features.agents.hook_log import (  # delayed: seldom needed
                explain,
                log_failure,
            )

            try:
                sys.stdout.flush()
            except (OSError, ValueError):
                silence(sys.stdout)
            why = describe(error) if isinstance(error, FAULTS) else explain(error)
            if self._index is None and (found := self._find("")):
                self._index = "/".join((*found, INDEX))
            if self._index is not None:
                log_failure(self._index, self._given, why)
            print(f"palace hook: {why}", file=sys.stderr, flush=True)
        except Exception:  # a full disk, no memory: nobody can be told
            return


class _Text:
    """Standard input that was read already; ``io`` has more of one than a verb asks for."""

    def __init__(self, text: str) -> None:
        self._text = text

    def read(self) -> str:
        """Return the message."""
        return self._text


def read_message() -> dict[str, Any]:
    """Return the fields of the message on standard input, as ``take_fields`` does.

    Raise ``UsageError`` where no whole JSON object comes in time.
    """
    try:
        number = sys.stdin.fileno()
        data = b"" if os.isatty(number) else _receive(number)
    except (AttributeError, ValueError, OSError):
        data = b""  # it is closed, or none of the system's
    message = _parse(data) if data.strip() else {}
    if message is None:
        raise UsageError("no whole JSON object was sent on standard input")
    return take_fields(message)


def take_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of ``HookMessage``, texts of bounded length, whatever a message holds."""
    taken = {}
    for field, names in _FIELDS.items():
        values = [value for name in names if isinstance(value := message.get(name), str)]
        text = _bound(values[0]) if values else ""
        taken[field] = text.encode("utf-8", "replace").decode()  # lone surrogates are no text
    return {**taken, "stop_hook_active": message.get("stop_hook_active") is True}


def _receive(number: int) -> bytes:
    """Return what is sent until it is one JSON object, until its end, or until the time is up."""
    data, deadline = bytearray(), monotonic() + MESSAGE_SECONDS
    while len(data) <= MOST_MESSAGE_BYTES:
        left = deadline - monotonic()
        if left <= 0 or not select([number], (), (), left)[0]:
            break
        piece = os.read(number, _PIECE_BYTES)
        data += piece
        if not piece or (piece.rstrip().endswith(b"}") and _parse(data) is not None):
            break
    return bytes(data)


class _Lenient:
    """What the C scanner asks of ``json.JSONDecoder``: numbers that nobody reads may be any."""

    strict, object_hook, object_pairs_hook, memo = False, None, None, None
    parse_float = parse_int = parse_constant = staticmethod(lambda text: None)


_scan = make_scanner(_Lenient())  # type: ignore[arg-type]


def _parse(data: bytes | bytearray) -> dict[str, Any] | None:
    """Return the JSON object that bytes begin with; ``None`` where they hold no whole one."""
    text = data.decode("utf-8-sig", "replace").lstrip()
    try:
        value, _ = _scan(text, 0)
    except (StopIteration, SystemError, ValueError, RecursionError):
        return None  # the second where json is not imported
    return value if isinstance(value, dict) else None


def _bound(text: str) -> str:
    half = _MOST_CHARACTERS // 2
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:half]} {text[-half:]}"


def _enter(folder: str) -> None:
    """Stand where the harness does; where that folder is gone, stay."""
    try:
        os.chdir(folder or ".")
    except (OSError, ValueError):
        return


def _drop_place(arguments: Sequence[str]) -> list[str]:
    """Return a line without ``-C`` and what it says."""
    kept, words = [], iter(arguments)
    for word in words:
        if word in ("-C", "--root"):
            next(words, "")
        elif not word.startswith(("-C", "--root=")):
            kept.append(word)
    return kept


def _limit(seconds: float) -> list[tuple[int, Any]]:
    """Let the clock and whoever ends the process raise; return the handlers there were."""

    def stop(number: int, frame: object) -> None:
        why = "the time was up" if number == SIGALRM else f"signal {number}"
        raise _StoppedError(why)

    try:
        before = [(number, signal(number, stop)) for number in (SIGALRM, SIGTERM, SIGHUP, SIGINT)]
    except ValueError:  # another thread than the first
        return []
    setitimer(ITIMER_REAL, seconds, _AGAIN_SECONDS)
    return before
