"""``palace hook``: read one message of a harness, ask the server, and never fail.

It does not wait for the end of standard input, which harnesses keep open, and the time of an answer
is limited. The exit status is always 0: another one would stop the agent's turn. Failures are
reported in ``hook.log`` beside the index, and on stderr.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
from contextlib import suppress
from time import monotonic

from memory_palace.errors import PalaceError, UsageError
from memory_palace.places import INDEX, find_meant, find_server, read_place, read_registered
from memory_palace.system import IS_POSIX, wait_for_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

ANSWER_SECONDS = 5.0
"""Time limit of a whole call."""
MESSAGE_SECONDS = 2.0
"""Time limit of a message, which a harness sends at once."""
MOST_MESSAGE_BYTES = 8 << 20
_AGAIN_SECONDS = 0.5
_MOST_CHARACTERS = 16_000
"""Maximum characters of a field; of a longer one the first and the last half are kept."""
_FIELDS = {
    "session_id": ("session_id", "sessionId", "sessionKey"),
    "cwd": ("cwd", "workspaceDir"),
    "source": ("source",),
    "prompt": ("prompt",),
}
"""Fields of a message, each with the names that harnesses use for it."""
_JSON = json.JSONDecoder(parse_int=float, strict=False)
"""Integers are parsed as floats, so that they may be of any length."""


class _StoppedError(BaseException):
    """A time limit or signal stopped the call; no ``Exception``, so that no command catches it."""


def run_hook(given: Sequence[str], run_here: Callable[[list[str]], int]) -> int:
    """Answer one message of a harness; return 0."""
    words = [word for word in given if word != "--no-serve"]
    handlers, index = _limit(ANSWER_SECONDS), ""
    try:
        try:
            message = _read_message()
            found = _find_palace(words, message["cwd"])
            if found is None:
                return 0  # no palace, and so no log
            index = "/".join((*found, INDEX))
            os.chdir(found[0])
            line, text = ["-C", found[0], *_drop_place(words)], json.dumps(message)
            _answer(line, text, run_here, asks=len(words) == len(given))
        finally:
            if IS_POSIX:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:  # a hook must never fail
        for number in handlers:
            signal.signal(number, signal.SIG_IGN)
        _note_failure(error, words, index)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return 0


def _answer(
    line: list[str], text: str, run_here: Callable[[list[str]], int], *, asks: bool
) -> None:
    """Print the answer of the server, else of the command; raise an error of either."""
    server = find_server(line, os.environ) if asks else None
    if server and os.path.exists(server.address):  # noqa: PTH110 - pathlib takes 8 ms
        from memory_palace.server.client import exchange  # delayed: only a server needs it

        if reply := exchange(server.address, line, text):
            status, parts = reply
            if status:
                raise PalaceError("".join(part for stream, part in parts if stream == 2).strip())
            sys.stdout.write("".join(part for stream, part in parts if stream == 1))
            sys.stdout.flush()
            return
    sys.stdin = io.StringIO(text)
    if run_here(line):
        raise PalaceError("the command failed")
    sys.stdout.flush()
    if server and read_registered()[2] == "auto":
        from memory_palace.server.starting import start_server  # delayed: few want it

        start_server(server)


def _find_palace(words: Sequence[str], folder: str) -> tuple[str, str] | None:
    """Return root and own folder of the palace of a command line, or ``None``.

    If it names none, change to ``folder`` first, unless that is gone.
    """
    place = read_place(words) or os.environ.get("PALACE_ROOT", "")
    if not place:
        with suppress(OSError, ValueError):
            os.chdir(folder or ".")
    return find_meant(place)


def _note_failure(error: BaseException, words: Sequence[str], index: str) -> None:
    """Report a failure in the log and on stderr; never raise."""
    try:
        from memory_palace.cli.faults import FAULTS, describe, silence  # delayed: seldom needed
        from memory_palace.features.agents.hook_log import explain, log_failure

        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            silence(sys.stdout)
        why = describe(error) if isinstance(error, FAULTS) else explain(error)
        if not index and (found := _find_palace(words, "")):
            index = "/".join((*found, INDEX))
        if index:
            log_failure(index, words, why)
        print(f"palace hook: {why}", file=sys.stderr, flush=True)
    except Exception:  # a full disk, no memory: reporting is impossible
        return


def _read_message() -> dict[str, str]:
    """Return the fields of the message on standard input, as ``take_fields`` does.

    Raise ``UsageError`` if no complete JSON object arrives in time.
    """
    try:
        number = sys.stdin.fileno()
        data = b"" if os.isatty(number) else _receive(number)
    except (AttributeError, ValueError, OSError):
        data = b""  # closed, or without a descriptor
    message = _parse(data) if data.strip() else {}
    if message is None:
        raise UsageError("no whole JSON object was sent on standard input")
    return take_fields(message)


def take_fields(message: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of ``HookMessage``, texts of bounded length, empty if missing."""
    taken, half = {}, _MOST_CHARACTERS // 2
    for field, names in _FIELDS.items():
        text = next((value for n in names if isinstance(value := message.get(n), str)), "")
        text = text if len(text) <= _MOST_CHARACTERS else f"{text[:half]} {text[-half:]}"
        taken[field] = text.encode("utf-8", "replace").decode()  # replace lone surrogates
    return taken


def _receive(number: int) -> bytes:
    """Read input until it is one JSON object, until its end, or until the time limit."""
    data, deadline = bytearray(), monotonic() + MESSAGE_SECONDS
    while len(data) <= MOST_MESSAGE_BYTES:
        left = deadline - monotonic()
        if left <= 0 or not wait_for_input(number, left):
            break
        piece = os.read(number, 1 << 16)
        data += piece
        if not piece or (piece.rstrip().endswith(b"}") and _parse(data) is not None):
            break
    return bytes(data)


def _parse(data: bytes | bytearray) -> dict[str, Any] | None:
    """Parse the JSON object at the start of bytes; ``None`` if there is no complete one."""
    try:
        value, _ = _JSON.raw_decode(data.decode("utf-8-sig", "replace").lstrip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _drop_place(words: Sequence[str]) -> list[str]:
    kept, left = [], iter(words)
    for word in left:
        if word in ("-C", "--root"):
            next(left, "")
        elif not word.startswith(("-C", "--root=")):
            kept.append(word)
    return kept


def _limit(seconds: float) -> dict[int, Any]:
    """Set signal handlers that raise, and a timer but on Windows; return the previous handlers."""

    def stop(number: int, frame: object) -> None:
        is_late = signal.Signals(number).name == "SIGALRM"
        raise _StoppedError("the time was up" if is_late else f"signal {number}")

    names = ("SIGALRM", "SIGTERM", "SIGHUP", "SIGINT")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    try:
        before: dict[int, Any] = {number: signal.signal(number, stop) for number in numbers}
    except ValueError:  # not the main thread
        return {}
    if IS_POSIX:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
    return before
