"""Where a server listens, and what a message is."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from memory_palace.places import socket_path
from memory_palace.server import client

MESSAGES = (
    {"v": "1", "args": ["query", "wie heißt's, ☃?", "\udcff"], "stdin": None, "width": 80},
    {"parts": [[1, "a\nb\u2028\x00\x1b[1m\n"], [2, ""]], "status": 0, "tty": {"out": True}},
    {},
)
NO_MESSAGES = (b"", b"{", b"[1]\n", b'{"a":NaN}', b'{"a":1} {}', b"\xff{}", b'{"a":' + b"9" * 6000)


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_one_line_and_comes_back_as_it_went(message: dict[str, object]) -> None:
    line = client.encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert client.decode(line) == message


@pytest.mark.parametrize("line", [*NO_MESSAGES, b"[" * 100_000], ids=lambda line: line[:8])
def test_what_is_no_message_is_an_error_that_is_expected(line: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        client.decode(line)


def test_a_damaged_message_is_an_error_where_json_was_never_imported() -> None:
    code = (
        "import sys\nfrom memory_palace.server import client\nassert 'json' not in sys.modules\n"
        "try: client.decode(b'{')\nexcept ValueError: print('refused')"
    )
    folder = Path(client.__file__).parents[2]
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=folder, capture_output=True)
    assert (done.stdout, done.stderr) == (b"refused\n", b"")


def test_the_socket_is_in_the_runtime_folder() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a short name, as sockets need
        path = socket_path("/a/palace", {"XDG_RUNTIME_DIR": folder, "TMPDIR": "/tmp"})
        assert path.startswith(f"{folder}/memory-palace/")
        assert path != socket_path("/b/palace", {"XDG_RUNTIME_DIR": folder})


@pytest.mark.parametrize("runtime", ["", "relative", "/no/such/folder", "/tmp/" + "x" * 90])
def test_without_a_runtime_folder_it_is_in_a_folder_of_the_user(
    runtime: str, tmp_path: Path
) -> None:
    for environ in ({"TMPDIR": "/tmp"}, {}, {"TMPDIR": str(tmp_path / ("y" * 90))}):
        path = socket_path("/a/palace", {"XDG_RUNTIME_DIR": runtime, **environ})
        assert path.startswith(f"/tmp/memory-palace-{os.getuid()}/")
        assert len(os.fsencode(path)) <= 103


def test_variables_that_find_models_are_told_from_those_that_change_the_look() -> None:
    environ = {"TERM": "xterm", "LC_TIME": "C", "PALACE_ROOT": "/a", "PALACE_CACHE": "/c", "X": "1"}
    assert client.pick_shown(environ) == {"TERM": "xterm", "LC_TIME": "C", "PALACE_ROOT": "/a"}
    assert client.pick_fixed({**environ, "HOME": "/h"}) == {"PALACE_CACHE": "/c", "HOME": "/h"}


@pytest.mark.skipif(os.getuid() != 0, reason="only root may give a folder away")
def test_a_runtime_folder_of_another_user_is_passed_by(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, 12345)
    path = socket_path("/a", {"XDG_RUNTIME_DIR": str(tmp_path), "TMPDIR": "/tmp"})
    assert path.startswith("/tmp/memory-palace-")
