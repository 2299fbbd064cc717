"""Whatever is sent to ``palace mcp``: it answers what is right, and leads nowhere."""

import json
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs the extra [mcp]")

from agents.talking import Pipes, open_pipes
from writing_notes import index_notes

from memory_palace.features.agents.mcp_server import MOST_LINE_BYTES
from memory_palace.features.agents.tools import list_tools

pytestmark = pytest.mark.mcp

TOOLS = list_tools()
CANARY = "the canary sings at midnight"
METHODS = (
    *("tools/call", "tools/list", "resources/list", "resources/read", "ping", "initialize"),
    *("resources/templates/list", "server/discover", "prompts/get", "completion/complete", ""),
    *("notifications/cancelled", "notifications/initialized", "notifications/progress", "x" * 999),
)
PLACES = (
    *("../outside.md", "/etc/passwd", "file:///etc/passwd", "%2e%2e%2foutside.md", "link.md"),
    *("frost.md\x00", ".palace/.index/INDEX.json", ".palace/palace.yaml", "palace://note/../x"),
    *("palace://note/%2e%2e%2foutside.md", "palace://note//etc/passwd", "..\\outside.md", "~root"),
)
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**18, 1e308, "", " ", "\x00", "\u202e", "é" * 3_000, [], {}),
    *([[[]]], {"a": {"b": [None]}}, "frost.md", "frost.md:1-2", "frost.md:0-999999999", "9" * 400),
    *PLACES,
)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.long)])
def test_malformed_messages_break_nothing(tmp_path: Path, count: int) -> None:
    root = tmp_path / "notes"
    index_notes(root, {"frost.md": "# Frost\n\nThe rain gauge drifts.\n", "link.md": "# Link\n"})
    (tmp_path / "outside.md").write_text(f"# Outside\n\n{CANARY}\n", "utf-8")
    (root / "link.md").unlink()
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    random = Random(count)
    with open_pipes(root) as pipes:
        pipes.shake_hands()
        sizes = []
        for number in range(count):
            pipes.send(make_line(random, number))
            if number % 50 == 49:
                check_answers(pipes)
                sizes.append(memory_of(pipes.process.pid))
        check_answers(pipes)
        pipes.process.send_signal(15)
        assert pipes.process.wait(30) == 0
        assert pipes.process.stderr is not None
        errors = pipes.process.stderr.read().decode()
        assert "Traceback" not in errors
        warm = max(sizes[: len(sizes) // 2])
        assert max(sizes) <= (1.05 if count < 1_000 else 1.10) * warm, sizes
    assert (tmp_path / "outside.md").read_text("utf-8").count("\n") == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "outside.md"]


def check_answers(pipes: Pipes) -> None:
    """Ask something right; nothing of what was answered before may hold what is outside."""
    pipes.forbidden = (CANARY, "root:x:", 'generation\\": {', "a defect of")
    text, is_error = pipes.call("search", query="rain gauge")
    assert not is_error
    assert "frost.md:" in text


def make_line(random: Random, number: int) -> bytes:
    """Return one line that is wrong in one of many ways."""
    match random.randrange(10):
        case 0:
            return random.randbytes(random.randrange(400)).replace(b"\n", b" ")
        case 1:
            whole = json.dumps(make_message(random, number)).encode()
            return whole[: random.randrange(len(whole))]
        case 2:
            depth = random.choice((10, 1_000, 50_000))
            opening, closing = random.choice((("[", "]"), ('{"a":', "}")))
            return (opening * depth + "1" + closing * depth).encode()
        case 3:
            return json.dumps([make_message(random, number)] * random.randrange(3)).encode()
        case 4:
            size = random.choice((70_000, 300_000))
            return json.dumps({**make_message(random, number), "x": "y" * size}).encode()
        case _:
            return json.dumps(make_message(random, number)).encode()


def make_message(random: Random, number: int) -> dict[str, Any]:
    """Return a message that looks right and is not, or one that asks for what it may not have."""
    tool = random.choice([*TOOLS, "serch", "", "delete"])
    known = [*TOOLS[tool].properties] if tool in TOOLS else ["query"]
    given = {
        random.choice([*known, "path", "x"]): random.choice(ODD)
        for _ in range(random.randrange(1, 4))
    }
    given = given if tool not in ("remember", "tasks") else {**given, "note": PLACES[0], "card": ""}
    params: Any = {"name": tool, "arguments": given, "uri": random.choice(PLACES), "cursor": "zz"}
    if random.random() < 0.3:
        params = random.choice((None, [], "x", 3, {}, {"name": random.choice(ODD)}))
    message: dict[str, Any] = {
        "jsonrpc": random.choice(("2.0", "2.0", "2.0", "1.0", 2, None)),
        "id": random.choice(
            (number, str(number), None, 10**18, -1, 1.5, [], {}, True, "x" * 5_000)
        ),
        "method": random.choice(("tools/call", "tools/call", *METHODS)),
        "params": params,
    }
    if random.random() < 0.2:
        del message[random.choice([*message])]
    return message


def memory_of(pid: int) -> int:
    """Return the resident memory of a process, in pages; 0 where the system does not tell."""
    if sys.platform != "linux":
        return 0
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1])


def test_a_line_that_is_too_long_costs_itself_alone(tmp_path: Path) -> None:
    index_notes(tmp_path, {"frost.md": "# Frost\n\nThe rain gauge drifts.\n"})
    with open_pipes(tmp_path) as pipes:
        pipes.shake_hands()
        check_answers(pipes)
        before = memory_of(pipes.process.pid)
        for _ in range(3):
            pipes.send(b"x" * (3 * MOST_LINE_BYTES))
            check_answers(pipes)
        page = os.sysconf("SC_PAGE_SIZE")
        assert (memory_of(pipes.process.pid) - before) * page < 5 * MOST_LINE_BYTES


def test_a_client_that_never_shook_hands_is_refused_and_may_still_do_it(tmp_path: Path) -> None:
    index_notes(tmp_path, {"frost.md": "# Frost\n\nThe rain gauge drifts.\n"})
    with open_pipes(tmp_path) as pipes:
        assert "error" in pipes.request("tools/call", name="search", arguments={"query": "rain"})
        pipes.shake_hands()
        check_answers(pipes)
