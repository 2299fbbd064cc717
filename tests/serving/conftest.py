"""A palace of few notes, a runtime folder of its own, and a server that says what it is told."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from writing_notes import index_notes

from memory_palace.places import socket_path
from memory_palace.server.client import decode

NOTES = {
    "Frost": "# Frost\n\nThe rain gauge drifts in frost; Wren wraps the funnel in felt.\n",
    "Boat": "# Boat\n\nThe stern light covers 135 degrees, says Sable.\n\nSee [[Frost]].\n",
    "Wide": f"# Wide\n\nÄpfel und Birnen – 字 🏔. {'A long line of pears. ' * 40}\n",
}


@pytest.fixture
def root(tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed palace, which is the working folder too."""
    notes = {f"{name}.md": text for name, text in NOTES.items()}
    root = index_notes(tmp_path / "notes", notes).paths.root
    monkeypatch.chdir(root)
    return root.resolve()


@pytest.fixture
def pretend(root: Path, runtime: Path) -> Iterator[Callable[..., list[Any]]]:
    """Return what listens in the palace's place and sends given bytes; it lists what was asked."""
    stopping: list[Callable[[], None]] = []

    def listen(*replies: bytes) -> list[Any]:
        address = socket_path(str(root), {"XDG_RUNTIME_DIR": str(runtime)})
        Path(address).parent.mkdir(mode=0o700, exist_ok=True)
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        server.listen()
        asked: list[Any] = []

        def serve() -> None:
            for reply in replies:
                one, _ = server.accept()
                with one, one.makefile("rb") as lines:
                    asked.append(decode(lines.readline()))
                    one.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()

        def stop() -> None:
            thread.join(20)
            server.close()
            assert not thread.is_alive(), "not all that was to be asked was asked"

        stopping.append(stop)
        return asked

    yield listen
    for stop in stopping:
        stop()
