"""Where a palace is and where the user's own names are, for what must start fast.

Only ``os`` is imported: the client of the server and ``memory_palace.config`` both ask here.
"""

from __future__ import annotations

import os

PALACE = "palace"
OWN = ".palace"
"""The folder of everything that is not a note, in a folder of notes taken as it stands."""
ARCHIVE = "archive_basement"
SETTINGS = "palace.yaml"
MANIFEST = "watchdog_manifest_v1.jsonl"
CLASSIC_LOGS = f"{PALACE}/grand_hall/logs"
INDEX = ".index"
"""Everything derived from the notes, in the folder of what is not a note."""
COMMIT = "INDEX.json"


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


def registry_path() -> str | None:
    """Return where names are kept: ``$XDG_CONFIG_HOME``, else ``~/.config``.

    ``None`` where the user has no home. A relative ``XDG_CONFIG_HOME`` is ignored, as its
    specification demands.
    """
    given = os.environ.get("XDG_CONFIG_HOME", "")
    folder = given if given.startswith("/") else os.path.expanduser("~/.config")  # noqa: PTH111
    return None if folder.startswith("~") else f"{folder}/memory-palace/palaces.json"
