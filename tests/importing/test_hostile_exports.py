"""Exports that are damaged, hostile or long: readers name what is wrong, and end."""

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
    " name from to observations created_at create_time timestamp current_node metadata messages"
    " ts thread_ts reply_to_message_id date_unixtime profile members poll files data_files".split()
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
            assert all(text.strip() for _, text, _ in turns)
            json.dumps([source_id, title, *(turn[:2] for turn in turns)]).encode()
            for speaker, text, _ in turns:
                (speaker + text + title + source_id).encode()
        else:
            assert item.source_id and isinstance(item.data, bytes)
            (item.source_id + item.path_hint).encode()
    assert read_all(name, path)[0] == items
    return items


@MANY
@given(st.sampled_from([*READERS, "slack", "telegram"]), st.lists(TREES, max_size=4))
def test_no_tree_of_json_stops_a_reader(tmp_path: Path, name: str, trees: list[Any]) -> None:
    suffix = "jsonl" if name in ("claude-code", "codex", "openclaw") else "json"
    path = tmp_path / f"2026-01-01.{suffix}"
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
    message = {"type": "message", "role": "user", "content": text}
    exports: dict[str, Any] = {
        "claude": [claude_conversation(1, [claude_message(1, "human", text)])],
        "chatgpt": [gpt_conversation([("u", None, gpt_message("user", [text], 1.0))])],
        "claude-code": [{"type": "user", "message": {"role": "user", "content": text}}],
        "codex": [{"type": "response_item", "payload": message}],
        "openclaw": [{"type": "message", "id": "a", "message": {"role": "user", "content": text}}],
        "memory-json": [{"type": "entity", "name": "n", "observations": [text]}],
    }
    is_list = name in ("claude", "chatgpt")
    path = tmp_path / ("x.json" if is_list else "x.jsonl")
    write_json(path, exports[name]) if is_list else write_lines(path, exports[name])
    items = check(name, path)
    said = items[0][4][0][1] if isinstance(items[0], tuple) else items[0].data.decode()
    assert said.rpartition("- ")[2].startswith(("a\ufffd.[31mb\n", "a?.[31mb\n"))


MEASURED = """
import re, sys
from pathlib import Path
from memory_palace.features.importing.run import FORMATS
from memory_palace.features.importing.items import ImportReport
items = FORMATS["claude"](Path(sys.argv[1]), ImportReport("claude", "", False))
turns = sum(len(item.turns) for item in items)
status = Path("/proc/self/status").read_text()  # ru_maxrss counts the parent's too
print(turns, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_number_of_conversations(tmp_path: Path) -> None:
    text = "Words about the frost. " * 90
    messages = [claude_message(place, "human", f"{place} {text}") for place in range(20)]
    peaks = []
    for count in (20, 400):
        talks = [claude_conversation(number, messages) for number in range(count)]
        command = [sys.executable, "-c", MEASURED, str(write_json(tmp_path / "x.json", talks))]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        turns, megabytes = map(int, done.stdout.split())
        assert turns == count * 20
        peaks.append(megabytes)
    assert peaks[1] < peaks[0] + 20
