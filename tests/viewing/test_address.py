"""Where the live page is: the same port and token after a restart, and nobody else's."""

from __future__ import annotations

import json
import socket
import stat
from contextlib import ExitStack

import pytest

from memory_palace.cli.viewing.address import open_door
from memory_palace.errors import UsageError

NOW = 1_790_000_000.0
DAY = 24 * 3600.0


def answer(visit, has_gone):
    raise AssertionError("nothing was asked")


def find_kept(runtime):
    (file,) = runtime.glob("memory-palace/*.page")
    return file


@pytest.fixture
def opened(runtime):
    """Return what opens the door of a palace; all are closed at the end, or at once."""
    with ExitStack() as doors:

        def open_one(port=0, *, root="/notes", now=NOW, closes=True):
            with ExitStack() as own:
                door = own.enter_context(open_door(root, port, answer, now=now))
                found = door.port, door.token
                if not closes:
                    doors.push(own.pop_all())
            return found

        yield open_one


def test_a_token_has_more_than_128_bits(opened):
    tokens = {opened(root=f"/notes{n}")[1] for n in range(50)}
    assert len(tokens) == 50
    assert {len(token) for token in tokens} == {32}  # letters of six bits


def test_the_next_start_has_the_same_port_and_token(opened):
    first = opened()
    assert opened(now=NOW + DAY - 1) == first
    assert opened(first[0]) == first


def test_a_token_is_good_for_a_day(opened):
    port, token = opened()
    assert opened(now=NOW + DAY)[1] != token
    assert opened(port, now=NOW - 1)[1] != token  # the clock was put back


def test_a_token_is_good_on_its_port_alone(opened):
    port, token = opened()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        free = other.getsockname()[1]
    assert free != port
    assert opened(free) != (free, token)
    assert opened()[0] == free


def test_another_palace_has_another_token(opened):
    assert opened()[1] != opened(root="/others")[1]


def test_what_took_the_port_meanwhile_does_not_get_the_token_again(opened):
    """It may have been asked by a page that was left open, and know the token."""
    port, token = opened()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        moved = opened()
    assert moved[0] != port
    assert moved[1] != token
    assert opened() == moved


def test_a_second_page_of_a_palace_leaves_the_first_its_address(opened):
    first = opened(closes=False)
    second = opened(closes=False)
    assert first[0] != second[0]
    assert first[1] != second[1]


def test_what_is_kept_is_for_the_user_alone(opened, runtime):
    opened()
    file = find_kept(runtime)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "text",
    ["", "[]", "nothing", "{}", '{"port":1,"token":"../x","made":1}', '{"port":"x","made":[]}'],
)
def test_what_was_not_written_by_us_is_not_used(opened, runtime, text):
    _, token = opened()
    find_kept(runtime).write_text(text)
    assert len(opened()[1]) == 32
    assert json.loads(find_kept(runtime).read_text())["token"] != token


def test_a_folder_that_lets_others_in_is_refused(opened, runtime):
    (runtime / "memory-palace").mkdir(mode=0o755)
    with pytest.raises(UsageError, match="lets nobody else in"):
        opened()


def test_a_port_that_is_taken_is_said(opened):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} cannot be used: .*; leave --port out"):
            opened(port)
