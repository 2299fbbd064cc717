"""Exports that are damaged, hostile or long: readers name what is wrong, and end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from importing_exports import (
    claude_conversation,
    claude_message,
    gpt_conversation,
    gpt_message,
    read_all,
    write_json,
    write_lines,
)

FLOATS = st.floats(allow_nan=False, allow_infinity=False)  # JSON has neither
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | st.text(max_size=6)
WORDS = st.sampled_from(
    "text type content message role author parts mapping parent id uuid children chat_messages"
    " payload session_meta response_item event_msg user assistant user_message entity relation"
    " name from to observations created_at create_time timestamp current_node metadata".split()
)
TREES = st.recursive(
    SCALARS | WORDS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=12,
)
READERS = ["claude", "chatgpt", "claude-code", "codex", "openclaw", "memory-json"]
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
MANY = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def damage(value: Any, changes: list[tuple[int, Any]]) -> Any:
    """Put other values in the place of some, wherever they stand."""
    if isinstance(value, dict):
        value = {key: damage(inner, changes) for key, inner in value.items()}
    elif isinstance(value, list):
        value = [damage(inner, changes) for inner in value]
    if changes:
        place, other = changes[0]
        changes[0] = (place - 1, other)
        if place == 0:
            changes.pop(0)
            return other
    return value


def check(name: str, path: Path) -> list[Any]:
    items, _ = read_all(name, path)
    for item in items:
        if isinstance(item, tuple):
            source_id, title, _, _, turns = item
            assert source_id and all(text.strip() for _, text, _ in turns)
            json.dumps([source_id, title, *(turn[:2] for turn in turns)]).encode()
            for speaker, text, _ in turns:
                (speaker + text + title + source_id).encode()
        else:
            assert item.source_id and isinstance(item.data, bytes)
            (item.source_id + item.title + item.path_hint).encode()
    assert read_all(name, path)[0] == items
    return items


@MANY
@given(st.sampled_from(READERS), st.lists(TREES, max_size=4))
def test_no_tree_of_json_stops_a_reader(tmp_path: Path, name: str, trees: list[Any]) -> None:
    suffix = "json" if name in ("claude", "chatgpt", "memory-json") else "jsonl"
    path = tmp_path / f"x.{suffix}"
    write_json(path, trees) if suffix == "json" else write_lines(path, trees)
    check(name, path)


@MANY
@given(st.lists(st.tuples(st.integers(0, 40), TREES), min_size=1, max_size=3), st.booleans())
def test_any_value_may_be_of_another_type(
    tmp_path: Path, changes: list[tuple[int, Any]], is_claude: bool
) -> None:
    good: Any
    if is_claude:
        messages = [claude_message(1, "human", "Why?"), claude_message(2, "assistant", "So.")]
        good = claude_conversation(1, messages)
    else:
        nodes = [
            ("r", None, None),
            ("u", "r", gpt_message("user", ["Why?"], 1.0)),
            ("a", "u", gpt_message("assistant", ["So."], 2.0)),
        ]
        good = gpt_conversation(nodes)
    last = json.loads(json.dumps(good))
    last["uuid" if is_claude else "conversation_id"] = "last-one-in-the-file"
    path = write_json(tmp_path / "conversations.json", [damage(good, list(changes)), last])
    items = check("claude" if is_claude else "chatgpt", path)
    assert items[-1][0] == "last-one-in-the-file"


@pytest.mark.parametrize("name", READERS)
def test_half_a_pair_and_control_characters_can_be_written(tmp_path: Path, name: str) -> None:
    text = "a\ud83d.\x00\x1b[31mb\r\nc"
    exports: dict[str, Any] = {
        "claude": [claude_conversation(1, [claude_message(1, "human", text)])],
        "chatgpt": [gpt_conversation([("u", None, gpt_message("user", [text], 1.0))])],
        "claude-code": [{"type": "user", "message": {"role": "user", "content": text}}],
        "codex": [{"type": "message", "role": "user", "content": text}],
        "openclaw": [{"type": "message", "id": "a", "message": {"role": "user", "content": text}}],
        "memory-json": [{"type": "entity", "name": "n", "observations": [text]}],
    }
    is_list = name in ("claude", "chatgpt")
    path = tmp_path / ("x.json" if is_list else "x.jsonl")
    write_json(path, exports[name]) if is_list else write_lines(path, exports[name])
    items = check(name, path)
    said = items[0][4][0][1] if isinstance(items[0], tuple) else items[0].data.decode()
    assert said.removeprefix("- ").startswith(("a\ufffd.[31mb\n", "a?.[31mb\n"))


def measure(name: str, path: Path) -> tuple[int, int]:
    """Read an export in a process of its own; how many turns it gave, and its memory in MB."""
    program = (
        "import re, sys; from pathlib import Path;"
        "from memory_palace.features.importing.detection import find_reader;"
        "from memory_palace.features.importing.items import ReadReport;"
        "items = find_reader(sys.argv[1])(Path(sys.argv[2]), ReadReport());"
        "turns = sum(1 for item in items for turn in item.turns);"
        "status = Path('/proc/self/status').read_text();"  # ru_maxrss counts the parent's too
        "print(turns, int(re.search(r'VmHWM:\\s+(\\d+)', status)[1]) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, name, str(path)], capture_output=True, text=True, check=True
    )
    turns, megabytes = done.stdout.split()
    return int(turns), int(megabytes)


def write_long(name: str, path: Path, *, conversations: int, messages: int, size: int) -> Path:
    """Write an export entry by entry."""
    text = "Words about the frost. " * (size // 23 + 1)
    with path.open("w", encoding="utf-8") as stream:
        stream.write("[" if name in ("claude", "chatgpt") else "")
        for number in range(conversations):
            stream.write(", " if number and name in ("claude", "chatgpt") else "")
            if name == "claude":
                said = [
                    claude_message(place, "human", f"{place} {text}") for place in range(messages)
                ]
                json.dump(claude_conversation(number, said), stream)
            elif name == "chatgpt":
                nodes = [("0", None, None)]
                for place in range(1, messages + 1):
                    message = gpt_message("user", [f"{place} {text}"], float(place))
                    nodes.append((str(place), str(place - 1), message))
                entry = gpt_conversation([], conversation_id=f"conversation-{number}")
                entry["current_node"] = str(messages)
                entry["mapping"] = {
                    own: {"id": own, "parent": parent, "message": message, "children": []}
                    for own, parent, message in nodes
                }
                json.dump(entry, stream)
            else:
                for place in range(messages):
                    said_so = {"role": "user", "content": f"{place} {text}"}
                    entry = {"type": "user", "uuid": f"u{place}", "message": said_so}
                    stream.write(json.dumps(entry) + "\n")
        stream.write("]" if name in ("claude", "chatgpt") else "")
    return path


@ON_LINUX
@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "conversations", "messages", "size"),
    [
        ("claude", 1_000, 100, 2_000),
        ("chatgpt", 1, 100_000, 100),
        ("claude-code", 1, 100_000, 1_000),
    ],
)
def test_a_hundred_thousand_messages_take_less_than_300_mb(
    tmp_path: Path, name: str, conversations: int, messages: int, size: int
) -> None:
    path = tmp_path / ("x.jsonl" if name == "claude-code" else "conversations.json")
    write_long(name, path, conversations=conversations, messages=messages, size=size)
    turns, megabytes = measure(name, path)
    assert turns == conversations * messages
    assert megabytes < 300


@ON_LINUX
def test_memory_does_not_grow_with_the_number_of_conversations(tmp_path: Path) -> None:
    peaks = []
    for conversations in (20, 400):
        path = write_long(
            "claude", tmp_path / "x.json", conversations=conversations, messages=20, size=2_000
        )
        turns, megabytes = measure("claude", path)
        assert turns == conversations * 20
        peaks.append(megabytes)
    assert peaks[1] < peaks[0] + 20
