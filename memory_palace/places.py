"""Which palace a command line means and where its server listens, told without being imported for.

``memory_palace.config`` and the command's very first step ask here, the one about folders, the
other before it has decided what to import: there is ``os`` and a C module, and nothing else.
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PALACE = "palace"
OWN = ".palace"
"""The folder of everything that is not a note, in a folder of notes taken as it stands."""
ARCHIVE = "archive_basement"
SETTINGS = "palace.yaml"
MANIFEST = "watchdog_manifest_v1.jsonl"
GOLDEN = "golden_questions.md"
CLASSIC_LOGS = f"{PALACE}/grand_hall/logs"
INDEX = ".index"
"""Everything derived from the notes, in the folder of what is not a note."""
COMMIT = "INDEX.json"

SERVED = ("query", "recall", "show", "verify", "hook")
"""Verbs that a server answers. All others a client runs itself."""
_HERE = tuple("--no-serve --model --help -h".split())
"""Options of a line that runs where it was typed: it needs the terminal, writes the index, asks a
model with the keys of whoever typed it, or says so."""
MOST_PATH_BYTES = 103
"""What the address of a socket holds on every system: Linux has room for 108 bytes with a NUL."""


class Server:
    """Where the server of a palace listens, if there is one."""

    __slots__ = ("address", "own", "root")

    def __init__(self, root: str, own: str, address: str) -> None:
        self.root = root
        self.own = own
        self.address = address

    @property
    def commit(self) -> str:
        """The file that an indexed palace has."""
        return f"{self.root}/{self.own}/{INDEX}/{COMMIT}"


def own_folder(root: str) -> str | None:
    """Return the folder of what is not a note, in a folder that is a palace; ``None`` in another.

    ``.palace/`` is looked for before ``palace/``: a folder of notes may own one of that name.
    """
    for name in (OWN, PALACE):
        if os.path.isdir(os.path.join(root, name)):  # noqa: PTH112, PTH118
            return name
    return None


def is_used(root: str) -> bool:
    """Whether ``palace/`` is more than folders: notes are listed, or something was settled."""
    signs = (f"{PALACE}/{MANIFEST}", f"{PALACE}/{SETTINGS}", CLASSIC_LOGS)
    return any(os.access(os.path.join(root, sign), os.F_OK) for sign in signs)  # noqa: PTH118


def nearest_root(start: str) -> tuple[str, str] | None:
    """Return the nearest palace at or above an absolute folder, and its own folder's name.

    A folder called ``palace`` with nothing of ours in it does not hide a ``.palace/`` above it.
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
    """Return the first word of a line that is neither an option nor what ``-C`` says."""
    words = iter(arguments)
    for word in words:
        if word in ("-C", "--root"):
            next(words, "")
        elif not word.startswith("-"):
            return word
    return ""


def find_server(arguments: Sequence[str], environ: Mapping[str, str]) -> Server | None:
    """Return where the server of the palace would be that a line means.

    ``None`` for a line that no server answers, or without a palace. The root may be a wrong one
    where an option's value looks like an option: a server looks for itself which one is meant.
    """
    place = None if environ.get("PALACE_NO_SERVE") else read_place(arguments)
    if place is None or "_PALACE_COMPLETE" in environ:
        return None
    try:
        found = find_meant(place or environ.get("PALACE_ROOT", ""))
    except (OSError, ValueError):
        return None  # the command itself will tell
    return Server(*found, socket_path(found[0], environ)) if found else None


def read_place(arguments: Sequence[str]) -> str | None:
    """Return what ``-C`` says ("" without it) in a line for a server, else ``None``."""
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
    """Whether what ``-C`` names is a folder, and never a registered name."""
    return place.startswith((".", "~", "/")) or os.sep in place


def socket_path(root: str, environ: Mapping[str, str]) -> str:
    """Return where the server of a palace listens: the folder is the user's own.

    ``root`` is absolute, with its links resolved. The folder is in ``$XDG_RUNTIME_DIR``, else
    (cron) in the temporary folder. A runtime folder of another user, as ``sudo`` may leave one in
    the environment, is passed by.
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
    return stat.S_ISDIR(found.st_mode) and (not is_own or found.st_uid == os.getuid())


def is_private(folder: str) -> bool:
    """Whether a folder is no link, belongs to this user, and lets nobody else in."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    is_closed = not found.st_mode & 0o077
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and is_closed


def registry_path() -> str | None:
    """Return where names are kept: ``$XDG_CONFIG_HOME``, else ``~/.config``.

    ``None`` where the user has no home. A relative ``XDG_CONFIG_HOME`` is ignored, as its
    specification demands.
    """
    given = os.environ.get("XDG_CONFIG_HOME", "")
    folder = given if given.startswith("/") else os.path.expanduser("~/.config")  # noqa: PTH111
    return None if folder.startswith("~") else f"{folder}/memory-palace/palaces.json"


def read_registered() -> tuple[dict[str, str], str | None, str | None, dict[str, str]]:
    """Return the user's palaces by name, the default, what `serve` says, and stores.

    Raise ``ValueError`` for a file that was made by something else.
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
