"""Report errors as text or JSON: what failed, which file, what to do.

Imported only after a failure.
"""

from __future__ import annotations

import errno
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from memory_palace.errors import MissingPartError, PalaceError
from memory_palace.language.visible import visible

ERRORS = 1
"""Number of the JSON contract of errors, in references/schemas/error.json."""
FAULTS = (OSError, UnicodeError, RecursionError, MemoryError)
"""Errors that the system or the input may cause; all others are defects of this package."""

_ADVICE: Mapping[int, str] = {
    errno.EACCES: "check who may read and write it",
    errno.EPERM: "check who may read and write it",
    errno.ENOENT: "check the path; if another program has just moved it, run the command again",
    errno.ENOSPC: "free some space and run the command again",
    errno.EDQUOT: "free some space and run the command again",
    errno.EROFS: "make the file system writable, or keep the palace on one that is",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EMFILE: "close other programs, or raise the limit with `ulimit -n`",
    errno.EIO: "the disk cannot be trusted; check it, and restore the file from a backup",
}


def describe(error: BaseException) -> str:
    """Return an error of ``FAULTS`` as one line."""
    if isinstance(error, OSError):
        return _describe_system(error)
    if isinstance(error, UnicodeError):
        return f"a text cannot be written or read ({error}); save it as UTF-8"
    if isinstance(error, RecursionError):
        return "something here is nested too deeply to be read; make it flatter"
    return "there is not enough memory; close other programs and run the command again"


def report(error: BaseException, given: Sequence[str], *, is_answered: bool) -> int:
    """Print an error and return the exit status.

    It is a JSON object on stdout if the command line asks for JSON and no answer was printed;
    otherwise it is lines on stderr.
    """
    if isinstance(error, ModuleNotFoundError):
        error = _name_missing(error)
    is_ours = isinstance(error, PalaceError)
    status = error.exit_code if isinstance(error, PalaceError) else PalaceError.exit_code
    message = str(error) if is_ours else describe(error)
    can_print = is_ours or not _is_of_output(error)
    if not can_print:
        silence(sys.stdout)
    elif wants_json(given) and not is_answered and _print_json(error, status, message):
        return status
    text = "\n  ".join(visible(f"palace: {message}").split("\n"))
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        silence(sys.stderr)
    return status


def _name_missing(error: ModuleNotFoundError) -> MissingPartError:
    """Return an error with the install command; raise the given one for a module of the package."""
    if f"{error.name}.".startswith("memory_palace."):
        raise error
    root = Path(__file__).parents[2]
    own = root / ".venv" / "bin"
    return MissingPartError(
        f"{sys.executable} has no {error.name}, which palace needs; run "
        f"`{sys.executable} -m venv {root / '.venv'} && {own / 'pip'} install {root}`, and "
        f"{own / 'python'} in its place"
    )


def wants_json(given: Sequence[str]) -> bool:
    """Whether a command line asks for one JSON object."""
    words = list(given[: given.index("--")] if "--" in given else given)
    pairs = itertools.pairwise(words)
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairs


def _print_json(error: BaseException, status: int, message: str) -> bool:
    """Print an error as in references/schemas/error.json; return whether stdout accepted it."""
    from memory_palace.shown import print_json  # delayed: few failures want it

    what = {"code": status, "kind": type(error).__name__, "message": message}
    try:
        print_json({"schema": ERRORS, "error": what})
        sys.stdout.flush()
    except (OSError, ValueError):
        silence(sys.stdout)
        return False
    return True


def silence(stream: object) -> None:
    """Redirect a failing stream to the null device, so that flushing it at exit cannot fail."""
    with suppress(OSError, ValueError, AttributeError):  # not a file: nothing is flushed at exit
        number = stream.fileno()  # type: ignore[attr-defined]
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)


def _describe_system(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    places = [
        os.fsdecode(p) for p in (error.filename, error.filename2) if isinstance(p, str | bytes)
    ]
    if not places and _is_of_the_terminal(error):
        stream = "output cannot be written" if _is_of_output(error) else "input cannot be read"
        return f"standard {stream}: {why}"
    advice = _ADVICE.get(error.errno or 0)
    where = f"{_shorten(places[-1])}: " if places else ""
    return f"{where}{why}" + (f"; {advice}" if advice else "")


def _is_of_output(error: BaseException) -> bool:
    """Whether writing to standard output failed."""
    if not isinstance(error, OSError) or error.errno == errno.EISDIR or error.filename:
        return False
    return _is_of_the_terminal(error)


def _is_of_the_terminal(error: OSError) -> bool:
    """Whether a module that prints or reads raised the error, not one that writes files."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = str(trace.tb_frame.f_globals.get("__name__", "")) if trace else ""
    first, _, rest = where.partition(".")  # modules of other layers write files
    below = rest.partition(".")[0]
    is_client = rest == "server.client"
    return is_client or first in ("rich", "typer") or below in ("cli", "shown", "features")


def _shorten(path: str) -> str:
    """Return a path relative to the working folder; a temporary's becomes that of its target."""
    folder, _, name = path.rpartition("/")
    if name.startswith(".") and name.endswith(".tmp") and name.count(".") >= 4:
        name = name[1:].rsplit(".", 3)[0]
        path = f"{folder}/{name}" if folder else name
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
