"""Start the resident server of a palace for the next question, where the user's settings say so."""

from __future__ import annotations

import os
import sys

from memory_palace.places import Server, is_private
from memory_palace.server.claiming import lock_path, read_holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def start_server(server: Server, options: Sequence[str] = ()) -> None:
    """Start a server that goes on when this process ends, and do not wait for it.

    Nothing is started where one runs, the palace has no index, or the index is another user's.
    Two that are started at once agree among themselves which one stays.
    """
    try:
        is_own = os.stat(server.commit).st_uid == os.geteuid()  # noqa: PTH116
    except OSError:
        return
    folder = os.path.dirname(server.address)  # noqa: PTH120
    is_shut = os.path.exists(folder) and not is_private(folder)  # noqa: PTH110
    if not is_own or is_shut or not sys.executable or read_holder(lock_path(server.address)):
        return
    # -P: a module of that name in the working folder must not be run in its place.
    command = [sys.executable, "-P", "-m", "memory_palace", "-C", server.root, "serve", *options]
    environ = {name: value for name, value in os.environ.items() if name != "PALACE_ROOT"}
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    try:
        os.posix_spawn(sys.executable, command, environ, file_actions=nowhere, setsid=True)
    except (OSError, NotImplementedError):
        return  # the question has been answered
