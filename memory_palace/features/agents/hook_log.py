"""The log of the hooks, ``hook.log`` beside the index: calls and failures, never a text."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_palace.errors import PalaceError
from memory_palace.language.visible import visible
from memory_palace.palace import Palace
from memory_palace.places import HOOK_LOG
from memory_palace.shown import SPREAD, Shown
from memory_palace.storage import append_record, make_ignored_folder, make_room, read_records
from memory_palace.system import owns

EVENTS = ("session-start", "prompt")
HARNESSES = ("claude", "codex", "openclaw")
_MOST_LOG_BYTES = 1 << 18
_MOST_REASON = 300
_FAILED = "failed"


@dataclass(frozen=True, slots=True)
class HookHealth:
    """The state of the hooks of a palace, as far as the log goes back."""

    last: Mapping[str, Any] | None
    """The last call; ``None`` where there was none."""
    failure: Mapping[str, Any] | None
    """The last call that failed, unless the same hook has succeeded since."""
    failing: tuple[str, ...]
    """Events whose last call failed, as ``prompt (claude): why``."""


@dataclass(frozen=True, slots=True)
class HookStatus(Shown):
    """The state of the hooks, as ``palace status`` shows it."""

    health: HookHealth = field(metadata=SPREAD)

    def lines(self) -> Iterator[str]:
        last, failure = self.health.last, self.health.failure
        for verb, record in (("called", last), ("failed", failure if failure != last else None)):
            if record is not None:
                words = (record.get(key) for key in ("time", "event", "harness", "result", "why"))
                yield f"last {verb} {', '.join(str(word) for word in words if word)}"
        yield from (f"fails: {line}" for line in self.health.failing)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return (f"a hook fails: {line}" for line in self.health.failing)


def log_call(index: Path, event: str, harness: str, **found: object) -> None:
    """Log a call: time, event, harness and result. Write errors are ignored.

    The folder must belong to the user and not be a symbolic link: a hook runs in any folder that an
    agent works in.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    log, record = index / HOOK_LOG, {"time": now, "event": event, "harness": harness, **found}
    with suppress(OSError):  # a full disk is no reason to stop an agent
        if make_own_folder(index) and not log.is_symlink():
            make_room(log, _MOST_LOG_BYTES)
            append_record(log, record, is_durable=False)


def log_failure(index: str, arguments: Sequence[str], why: str) -> None:
    """Log a failed call; ``arguments`` are its command line."""
    event = next((word for word in arguments if word in EVENTS), "")
    harness = next((word for word in arguments if word in HARNESSES), HARNESSES[0])
    log_call(Path(index), event, harness, result=_FAILED, why=why)


def explain(error: BaseException) -> str:
    """Return one line on an error for the log, without any text of the conversation.

    Errors of other packages are named by type and source line: their messages may quote it.
    """
    if isinstance(error, PalaceError):
        return visible(str(error).split("\n")[0].removeprefix("palace: "))[:_MOST_REASON]
    if type(error).__module__.startswith("memory_palace"):
        return str(error)
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" in {trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{where}"


def read_health(palace: Palace) -> HookHealth:
    """Return the state of the hooks from the log; empty if none was called."""
    last: dict[tuple[str, str], Mapping[str, Any]] = {}
    newest = None
    for part in (palace.paths.index / f"{HOOK_LOG}.1", palace.paths.index / HOOK_LOG):
        for record in read_records(part):
            event, harness = str(record.get("event")), str(record.get("harness"))
            if event in ("", *EVENTS):
                last.pop(("", harness), None)  # an earlier failure that named no event
                last.pop((event, harness), None)
                last[event, harness] = newest = record
    failed = {key: record for key, record in last.items() if record.get("result") == _FAILED}
    failing = (f"{key[0]} ({key[1]}): {failed[key].get('why')}" for key in sorted(failed))
    return HookHealth(newest, next(reversed(failed.values()), None), tuple(failing))


def read_status(palace: Palace) -> HookStatus:
    """Return the state of the hooks for ``palace status``."""
    return HookStatus(read_health(palace))


def make_own_folder(folder: Path) -> bool:
    """Create a folder if its parent exists; return whether it is a directory of this user."""
    if not folder.exists() and folder.parent.is_dir():
        make_ignored_folder(folder, mode=0o700)
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and owns(found)
