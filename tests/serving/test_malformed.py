"""Messages that no client of ours sends: no crash, no way out of the palace, no growth."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from serving_palaces import (
    ask,
    connect,
    is_alive,
    request,
    resident_kib,
    start,
    stop,
    talk,
    text_of,
)

from memory_palace.places import socket_path
from memory_palace.server.client import MOST_REQUEST_BYTES, encode

SECRET = "the outside secret"
ODD = (
    *(None, True, -1, 0, 1, 80, 10**30, 1.5, "", "x", "\0", "\udcff", "é字🏔", "a" * 9999),
    *(
        [],
        [[]],
        {},
        {"a": {}},
        ["query"],
        ["show", "../../etc/passwd"],
        ["query", "rain", "-C", "/"],
    ),
    *("/", "/etc", "/etc/passwd", "..", "../..", "/nowhere", "/proc/self/mem", "~"),
)
LINES = (
    *(["show", "../secret.md"], ["show", "../secret"], ["show", "SECRET"], ["show", "/etc/passwd"]),
    *(
        ["-C", "..", "show", "secret"],
        ["-C", "/etc", "query", "root"],
        ["show", "-C/", "etc/passwd"],
    ),
    *(["query", "secret", "--in", ".."], ["query", "secret", "--in", "../"]),
    *(["index"], ["doctor", "--fix"]),
    *(
        ["new", "Evil"],
        ["serve", "--stop"],
        ["query", "-C", "../elsewhere", "secret"],
        ["query"] * 99,
    ),
    *([], ["--version"], ["show", "Frost:1-" + "9" * 4999], ["query", "-k", "9" * 400, "rain"]),
    *(["verify", "--against", "../secret", "--text", "x"], ["recall", "--as-of", "nowhere", "x"]),
)


@pytest.fixture
def served(root):
    (root.parent / "secret.md").write_text(f"# Secret\n\n{SECRET}\n", "utf-8")
    pid = start(root)
    yield root, pid
    stop(root)


def distort(random: Random, root: Path) -> bytes:
    """Return a request with something wrong, or bytes that are none."""
    record = request(root, *random.choice(LINES))
    kind = random.randrange(9)
    if kind == 0:
        return random.randbytes(random.randrange(1, 3000)) + b"\n" * random.randrange(2)
    if kind == 1:
        depth = random.choice((10, 2000, 200_000))
        return random.choice((b"[", b'{"v":', b'{"v":[')) * depth + b"\n"
    if kind < 5:
        place = random.choice([name for name in record if name != "v"])
        record[place] = random.choice(ODD)
    elif kind == 5:
        part = random.choice(("env", "tty"))
        record[part] = {**record[part], random.choice(("", "in", "A=B", "TZ")): random.choice(ODD)}
    line = json.dumps(record).encode()
    if kind == 6:
        flipped = bytearray(line)
        for _ in range(random.randrange(1, 9)):
            # Not in the version: it comes first, and another one ends the server, as it should.
            flipped[random.randrange(20, len(line))] = random.randrange(256)
        line = bytes(flipped)
    if kind == 7:
        line = line[: random.randrange(len(line))]
    return line + b"\n" * random.choice((0, 1, 1, 1, 2))


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_malformed_messages_do_nothing(served, count):
    root, pid = served
    good = text_of(ask(root, "query", "rain"))
    before = sorted(path.name for path in root.iterdir())
    random, most = Random(20261122), 0
    for number in range(count):
        message = distort(random, root)
        reply = talk(root, message)
        assert SECRET not in json.dumps(reply), message
        assert "root:" not in json.dumps(reply), message
        if number == count // 2:
            most = resident_kib(pid)
    assert is_alive(pid)
    assert text_of(ask(root, "query", "rain")) == good
    assert sorted(path.name for path in root.iterdir()) == before
    # The allocator takes some MiB more in the first thousands, then a tenth of one in a thousand.
    assert resident_kib(pid) <= most * 1.05 + (2_048 if count > 1000 else 16_384)


def test_a_request_without_end_is_cut_off(served):
    root, pid = served
    with connect(root) as client:
        piece, sent = b"x" * (1 << 16), 0
        with pytest.raises(OSError):
            while True:
                sent += client.send(piece)
        assert sent < 2 * MOST_REQUEST_BYTES + (1 << 20)
    assert is_alive(pid)


NOBODY = """
import os, socket, sys
os.setgroups([]); os.setgid(65534); os.setuid(65534)
client = socket.socket(socket.AF_UNIX)
client.settimeout(20)
try:
    client.connect(sys.argv[1])
    client.sendall(bytes.fromhex(sys.argv[2]))
    print(client.recv(1 << 16))
except PermissionError:
    print("forbidden")
except ConnectionError:
    print("hung up")
"""


@pytest.mark.skipif(
    os.getuid() != 0 or sys.platform != "linux", reason="only root can become somebody else"
)
def test_another_user_cannot_connect(served, runtime):
    root, pid = served
    address = Path(socket_path(str(root), os.environ))

    def try_as_nobody():
        message = encode(request(root, "query", "rain")).hex()
        line = [sys.executable, "-S", "-c", NOBODY, str(address), message]
        done = subprocess.run(line, capture_output=True, text=True, cwd="/")
        assert not done.stderr
        return done.stdout.strip()

    assert try_as_nobody() == "forbidden"
    for place, mode in ((runtime, 0o755), (address.parent, 0o755), (address, 0o666)):
        place.chmod(mode)
    assert try_as_nobody() in ("hung up", "b''")  # what let somebody in is not what decides
    address.parent.chmod(0o700)
    assert is_alive(pid)
