"""The process of a live page: started, followed, interrupted, killed, started again."""

import signal
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from running import run_main
from serving_palaces import wait_until
from viewing.living import living
from writing_notes import index_notes

from memory_palace import Palace

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")


@pytest.fixture
def root(tmp_path: Path, runtime: Path) -> Path:
    """An indexed palace of two notes."""
    frost = "# Frost\n\nThe rain gauge drifts in frost.\n"
    boat = "# Boat\n\nThe stern light covers 135 degrees.\n"
    notes = {"Frost.md": frost, "Boat.md": boat}
    return index_notes(tmp_path / "notes", notes).paths.root.resolve()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_whoever_is_connected(root, number):
    with living(root) as page:
        port = urlsplit(page.url).port or 0
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        status, out, errors = page.end(number)
        for one in silent:
            one.close()
    assert (status, out.count("http://")) == (0, 1)
    assert errors.endswith("ends: a signal\n")
    assert "Traceback" not in errors


def test_notes_edited_by_hand_appear_by_themselves(root):
    with living(root) as page:
        (root / "Frost.md").write_text("# Frost\n\nFelt was no use.\n", "utf-8")
        wait_until(lambda: "no use" in str(page.ask("search", q="felt")), "it is not indexed")
        assert page.ask("search", q="felt")["hits"][0]["path"] == "Frost.md"


def test_a_port_that_is_taken_is_said_in_a_line(root, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        status, out, errors = run_main(
            capsys, "-C", str(root), "view", "--live", "--port", str(port)
        )
    assert (status, out, errors.count("\n")) == (2, "", 1)
    assert f"port {port} cannot be used" in errors


def test_without_an_index_it_says_what_to_run(tmp_path, runtime, capsys):
    Palace.init(tmp_path, here=True)
    status, out, errors = run_main(capsys, "-C", str(tmp_path), "view", "--live")
    assert (status, out, errors.count("\n")) == (4, "", 1)
    assert "palace index" in errors
