"""Find the palace of a command line and the address of its server, with minimal imports.

Used by ``memory_palace.config`` and by the first step of a command, before it decides which modules
to import: this one imports ``os``, ``stat`` and a C module.
"""

from __future__ import annotations

import os
import stat

try:  # hashlib would load OpenSSL
    from _sha2 import sha256  # type: ignore[import-not-found]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

from memory_palace.system import IS_POSIX, owns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PALACE = "palace"
OWN = ".palace"
"""Folder of the package's files, in a folder of notes adopted with ``init --here``."""
ARCHIVE = "archive_basement"
SETTINGS = "palace.yaml"
MANIFEST = "watchdog_manifest_v1.jsonl"
GOLDEN = "golden_questions.md"
CLASSIC_LOGS = f"{PALACE}/grand_hall/logs"
INDEX = ".index"
"""Folder of derived files, below the folder of the package's files."""
COMMIT = "INDEX.json"
HOOK_LOG, HOOK_MARKS = "hook.log", "hooks"
"""Log of the hooks, and folder of the marks of sentences told to sessions, below the index."""

SERVED = ("query", "recall", "show", "verify", "hook")
"""Verbs that the resident server answers; the client runs all others itself."""
_HERE = tuple("--no-serve --model --help -h".split())
"""Options of a command that no server runs: it needs the terminal, calls a model with the user's
keys, prints help, or declines the server."""
MOST_PATH_BYTES = 103
"""Maximum bytes of a socket's path on every system: Linux allows 108 with the NUL."""


class Server:
    """Root, own folder and socket address of a palace's server, which need not run."""

    __slots__ = ("address", "own", "root")

    def __init__(self, root: str, own: str, address: str) -> None:
        self.root = root
        self.own = own
        self.address = address

    @property
    def commit(self) -> str:
        """Path of the commit record, which exists if the palace is indexed."""
        return f"{self.root}/{self.own}/{INDEX}/{COMMIT}"


def own_folder(root: str) -> str | None:
    """Return the name of a palace's own folder, ``.palace`` or ``palace``; ``None`` without one.

    ``.palace/`` takes precedence: a folder of notes may contain one called ``palace``.
    """
    for name in (OWN, PALACE):
        if os.path.isdir(os.path.join(root, name)):  # noqa: PTH112, PTH118
            return name
    return None


def is_used(root: str) -> bool:
    """Whether ``palace/`` is in use: it has a manifest, settings or logs."""
    signs = (f"{PALACE}/{MANIFEST}", f"{PALACE}/{SETTINGS}", CLASSIC_LOGS)
    return any(os.access(os.path.join(root, sign), os.F_OK) for sign in signs)  # noqa: PTH118


def nearest_root(start: str) -> tuple[str, str] | None:
    """Return the nearest palace at or above an absolute folder, and its own folder's name.

    An unused folder called ``palace`` does not hide a ``.palace/`` above it.
    """
    first = None
    folder, above = start, ""
    while folder != above:
        name = own_folder(folder)
        archive = os.path.join(folder, PALACE, ARCHIVE)  # noqa: PTH118
        if name == OWN or (name and (is_used(folder) or os.path.isdir(archive))):  # noqa: PTH112
            return folder, name
        if name and first is None:
            first = folder, name
        folder, above = os.path.dirname(folder), folder  # noqa: PTH120
    return first


def find_verb(arguments: Sequence[str]) -> str:
    """Return the first word of a command line but options and the value of ``-C``: its verb."""
    words = iter(arguments)
    for word in words:
        if word in ("-C", "--root"):
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def find_server(arguments: Sequence[str], environ: Mapping[str, str]) -> Server | None:
    """Return the server of the palace that a command line addresses, running or not.

    ``None`` without a palace, or if no server answers the line. The root may be wrong if an
    option's value looks like an option: the server determines the palace itself.
    """
    place = None if environ.get("PALACE_NO_SERVE") else read_place(arguments)
    if place is None or not IS_POSIX or "_PALACE_COMPLETE" in environ:
        return None
    try:
        found = find_meant(place or environ.get("PALACE_ROOT", ""))
    except (OSError, ValueError):
        return None  # the command reports it
    return Server(*found, socket_path(found[0], environ)) if found else None


def read_place(arguments: Sequence[str]) -> str | None:
    """Return the value of ``-C`` ("" without it); ``None`` if no server answers the line."""
    verb, place, words = "", "", iter(arguments)
    for word in words:
        if word == "--" and verb:
            break
        if word in ("-C", "--root"):
            place = next(words, "")
        elif word.startswith(("--root=", "-C")):
            place = word.removeprefix("--root=").removeprefix("-C")
        elif word.partition("=")[0] in _HERE:
            return None
        elif not verb:
            if word not in SERVED:
                return None
            verb = word
    return place if verb else None


def find_meant(place: str) -> tuple[str, str] | None:
    """Return the palace that ``-C`` or ``PALACE_ROOT`` names, else the nearest or the default."""
    if place and not is_path(place):
        place = read_registered()[0].get(place, place)
    found = nearest_root(os.path.realpath(os.path.expanduser(place or ".")))  # noqa: PTH111
    if found is None and not place:
        names, default, *_ = read_registered()
        found = nearest_root(os.path.realpath(names[default])) if default else None
    return found


def is_path(place: str) -> bool:
    """Whether the value of ``-C`` is a path, and so not a registered name."""
    return place.startswith((".", "~")) or "/" in place or os.sep in place


def socket_path(root: str, environ: Mapping[str, str]) -> str:
    """Return the path of a palace's socket, in a folder of the user's own.

    ``root`` is absolute, with symbolic links resolved. The folder is in ``$XDG_RUNTIME_DIR``, else
    in ``$TMPDIR`` or ``/tmp``. A runtime folder of another user, which ``sudo`` may leave in the
    environment, is skipped.
    """
    name = sha256(os.fsencode(root)).hexdigest()[:16] + ".sock"
    own = f"memory-palace-{os.getuid()}"
    runtime, temporary = environ.get("XDG_RUNTIME_DIR", ""), environ.get("TMPDIR", "")
    for above, folder in ((runtime, "memory-palace"), (temporary, own)):
        path = f"{above.rstrip('/')}/{folder}/{name}"
        is_short = len(os.fsencode(path)) <= MOST_PATH_BYTES
        if above.startswith("/") and is_short and _may_hold(above, is_own=above == runtime):
            return path
    return f"/tmp/{own}/{name}"


def _may_hold(folder: str, *, is_own: bool) -> bool:
    try:
        found = os.stat(folder)  # noqa: PTH116
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and (not is_own or owns(found))


def is_private(folder: str) -> bool:
    """Whether a folder is not a symbolic link, belongs to this user, and is closed to others."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and owns(found) and not found.st_mode & 0o077


def registry_path() -> str | None:
    """Return the path of the registry, in ``$XDG_CONFIG_HOME`` or ``~/.config``.

    ``None`` without a home folder. A relative ``XDG_CONFIG_HOME`` is ignored, as its specification
    demands.
    """
    given = os.environ.get("XDG_CONFIG_HOME", "")
    folder = given if os.path.isabs(given) else os.path.expanduser("~/.config")  # noqa: PTH111, PTH117
    return None if folder.startswith("~") else f"{folder}/memory-palace/palaces.json"


def read_registered() -> tuple[dict[str, str], str | None, str | None, dict[str, str]]:
    """Return palaces by name, the default's name, the ``serve`` setting, and stores by name.

    Raise ``ValueError`` for a malformed file.
    """
    path = registry_path()
    try:
        with open(path or os.devnull, encoding="utf-8") as file:  # noqa: PTH123
            text = file.read()
    except (FileNotFoundError, NotADirectoryError):
        text = ""
    if not text:
        return {}, None, None, {}
    import json  # delayed: few have registered anything

    try:
        values = json.loads(text)
        palaces, default = values.get("palaces", {}), values.get("default")
        stores = values.get("stores", {})
        is_sound = all(isinstance(place, str) for m in (palaces, stores) for place in m.values())
    except (AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not is_sound or not (default is None or default in palaces):
        raise ValueError("it must map names to folders and addresses")
    serve = values.get("serve")
    return palaces, default, serve if isinstance(serve, str) else None, stores
