"""Transcripts of Claude Code, Codex and OpenClaw."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from importing.test_chats import write
from importing_exports import read_all, uuid, write_lines

from memory_palace.features.importing.run import detect

NAME = "0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000"


def said(number: int, speaker: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": speaker, "content": content} | more.pop("message", {})
    return {
        "type": speaker,
        "uuid": uuid(number),
        "parentUuid": uuid(number - 1),
        "sessionId": NAME,
        "isSidechain": False,
        "timestamp": f"2026-04-01T08:00:{number:02d}.000Z",
        "message": message,
    } | more


def at(second: int) -> datetime:
    return datetime(2026, 4, 1, 8, 0, second, tzinfo=UTC)


def test_claude_code_keeps_what_was_written_and_nothing_else(tmp_path: Path) -> None:
    reminder = "<system-reminder>\nsecret\n</system-reminder>"
    lines = [
        {"type": "summary", "summary": "Frost on the gauge", "leafUuid": uuid(9)},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"x": "secret"}},
        said(1, "user", f"{reminder}\nWhy <b>frost</b>?"),
        said(2, "assistant", [{"type": "thinking", "thinking": "secret"}], message={"id": "a"}),
        said(3, "assistant", [{"type": "text", "text": "Because"}], message={"id": "a"}),
        said(4, "assistant", [{"type": "text", "text": "of cold."}], message={"id": "a"}),
        said(
            5, "assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "secret"}}]
        ),
        said(6, "user", [{"type": "tool_result", "content": "secret"}], toolUseResult="secret"),
        said(7, "user", "secret", isMeta=True),
        said(8, "user", "secret", isSidechain=True),
        said(9, "user", "<command-name>/clear</command-name>\n<command-args></command-args>"),
        said(10, "user", "<command-name>/ask</command-name><command-args>when?</command-args>"),
        said(11, "user", [{"type": "image", "source": {}}, {"type": "text", "text": "This one"}]),
        said(12, "user", "<user-prompt-submit-hook>secret</user-prompt-submit-hook>"),
        said(13, "user", "secret", isCompactSummary=True),
        said(
            14, "assistant", [{"type": "text", "text": "secret"}], message={"model": "<synthetic>"}
        ),
        said(15, "user", "[Request interrupted by user]"),
        said(16, "user", [{"type": "hologram", "text": "secret"}]),
    ]
    write_lines(tmp_path / "-home-me" / f"{NAME}.jsonl", lines)
    write_lines(
        tmp_path / "-home-me" / "agent-17.jsonl", [said(1, "user", "secret", isSidechain=True)]
    )
    (tmp_path / "-home-me" / "memory").mkdir()
    (tmp_path / "-home-me" / "memory" / "MEMORY.md").write_text("- likes tea\n")
    items, report = read_all("claude-code", tmp_path)
    assert items[0] == (
        NAME,
        "Frost on the gauge",
        None,
        "",
        [
            ("user", "Why <b>frost</b>?", at(1)),
            ("assistant", "Because\n\nof cold.", at(3)),
            ("user", "/ask when?", at(10)),
            ("user", "This one", at(11)),
        ],
    )
    assert [note.path_hint for note in items[1:]] == ["-home-me/memory/MEMORY.md"]
    assert not report.broken


def item(speaker: str, text: str, second: int = 1) -> dict[str, Any]:
    kind = "input_text" if speaker == "user" else "output_text"
    payload = {"type": "message", "role": speaker, "content": [{"type": kind, "text": text}]}
    return line("response_item", payload, second)


def event(speaker: str, text: str, second: int = 1) -> dict[str, Any]:
    payload = {"type": "user_message" if speaker == "user" else "agent_message", "message": text}
    return line("event_msg", payload, second)


def line(kind: str, payload: dict[str, Any], second: int = 1) -> dict[str, Any]:
    return {"timestamp": f"2026-04-01T08:00:{second:02d}.000Z", "type": kind, "payload": payload}


def meta(**more: Any) -> dict[str, Any]:
    payload = {"id": NAME, "timestamp": "2026-04-01T08:00:00.000Z", "cwd": "/x", "source": "cli"}
    return line("session_meta", payload | more, 0)


CODEX = [
    meta(),
    line("turn_context", {"cwd": "/x", "model": "gpt"}),
    line("response_item", {"type": "message", "role": "developer", "content": []}),
    item("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nsecret\n</INSTRUCTIONS>"),
    item("user", "<environment_context>\n  <cwd>secret</cwd>\n</environment_context>"),
    item("user", "Why frost?", 2),
    event("user", "Why frost?", 3),
    line("event_msg", {"type": "agent_reasoning", "text": "secret"}),
    line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "secret"}),
    line("response_item", {"type": "function_call", "name": "shell", "arguments": "secret"}),
    line("response_item", {"type": "function_call_output", "output": "secret"}),
    line("event_msg", {"type": "token_count", "info": None}),
    line("event_msg", {"type": "thread_name_updated", "thread_name": "Frost"}),
    event("assistant", "Because of cold.", 4),
    item("assistant", "Because of cold.", 5),
    event("user", "go on", 6),
    item("user", "go on", 6),
    event("user", "go on", 7),
    item("user", "go on", 7),
    line("compacted", {"message": "secret"}),
    line("event_msg", {"type": "hologram", "text": "secret"}),
]


def test_codex_gives_what_was_said_without_the_events_that_repeat_it(tmp_path: Path) -> None:
    path = write_lines(tmp_path / f"rollout-2026-04-01T08-00-00-{NAME}.jsonl", CODEX)
    items, _ = read_all("codex", path)
    turns = [
        ("user", "Why frost?", at(2)),
        ("assistant", "Because of cold.", at(5)),
        ("user", "go on", at(6)),
        ("user", "go on", at(7)),
    ]
    assert items == [(NAME, "Frost", at(0), "", turns)]


def test_memories_of_codex_are_notes_wherever_the_export_begins(tmp_path: Path) -> None:
    root = tmp_path / ".codex" / "memories"
    names = ("MEMORY.md", "memory_summary.md", "rollout_summaries/2026-a.md")
    write(root, {name: f"# {name}" for name in (*names, "raw_memories.md")})
    for path in (root, root.parent):
        assert detect(path) == "codex"
        items, _ = read_all("codex", path)
        assert [note.source_id for note in items] == [f"memories/{name}" for name in names]


def test_a_session_of_a_helper_is_counted_and_not_given(tmp_path: Path) -> None:
    lines = [meta(source={"subagent": {"thread_spawn": {}}}), *CODEX[5:]]
    items, report = read_all("codex", write_lines(tmp_path / "rollout-x.jsonl", lines))
    assert not items
    assert report.left_out == {"empty": 1}


def claw(number: int, parent: int | None, role: str, content: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": None if parent is None else f"e{parent}",
        "timestamp": f"2026-04-01T08:00:{number:02d}.000Z",
        "message": {"role": role, "content": content, "timestamp": 0},
    }


def test_openclaw_gives_what_was_said_without_what_the_gateway_wrote(tmp_path: Path) -> None:
    about = 'Conversation info (untrusted metadata):\n```json\n{\n  "sender": "secret"\n}\n```\n\n'
    text = [{"type": "text", "text": f"{about}[Telegram Ann id:7 2026-04-01 08:00 UTC] Why frost?"}]
    lines = [
        {"type": "session", "version": 3, "id": NAME, "timestamp": "2026-04-01T08:00:00.000Z"},
        {"type": "model_change", "id": "e0", "parentId": None, "provider": "secret"},
        claw(1, 0, "user", text),
        claw(3, 1, "assistant", [{"type": "thinking", "thinking": "secret"}]),
        claw(4, 3, "assistant", [{"type": "toolCall", "id": "t", "name": "x", "arguments": {}}]),
        claw(5, 4, "toolResult", [{"type": "text", "text": "secret"}]),
        claw(6, 5, "assistant", [{"type": "text", "text": "Cold."}]),
        claw(7, 6, "user", "Read HEARTBEAT.md if it exists (workspace context). Follow it."),
        claw(8, 7, "assistant", [{"type": "text", "text": "HEARTBEAT_OK"}]),
        {"type": "compaction", "id": "e9", "parentId": "e8", "summary": "secret"},
    ]
    write_lines(tmp_path / "agents" / "main" / "sessions" / f"{NAME}.jsonl", lines)
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for name in ("MEMORY.md", "SOUL.md", "memory/2026-04-01.md"):
        (workspace / name).write_text(f"# {name}\n")
    items, _ = read_all("openclaw", tmp_path)
    turns = [("user", "Why frost?", at(1)), ("assistant", "Cold.", at(6))]
    assert items[0] == (NAME, "", at(0), "", turns)
    assert [note.path_hint for note in items[1:]] == [
        "workspace/MEMORY.md",
        "workspace/memory/2026-04-01.md",
    ]


@pytest.mark.parametrize("name", ["claude-code", "codex", "openclaw"])
def test_a_transcript_cut_off_anywhere_gives_a_prefix(tmp_path: Path, name: str) -> None:
    lines = {
        "claude-code": [said(number, "user", f"Words {number}") for number in range(1, 6)],
        "codex": [meta(), *(item("user", f"Words {number}") for number in range(1, 6))],
        "openclaw": [
            claw(number, number - 1 or None, "user", f"Words {number}") for number in range(1, 6)
        ],
    }[name]
    path = write_lines(tmp_path / f"{NAME}.jsonl", lines)
    data = path.read_bytes()
    whole = [turn[1] for turn in read_all(name, path)[0][0][4]]
    for end in range(0, len(data), 7):
        path.write_bytes(data[:end])
        items, report = read_all(name, path)
        texts = [turn[1] for turn in items[0][4]] if items else []
        assert texts == whole[: len(texts)]
        assert report.broken or data[:end].endswith((b"}", b"\n")) or not end


def test_tags_that_never_close_take_no_long_time(tmp_path: Path) -> None:
    text = "".join(f"<ide_{'a' * (number % 50)}{number}>\n" for number in range(40_000))
    text = text.translate(str.maketrans("0123456789", "bcdefghijk"))
    path = write_lines(tmp_path / "s.jsonl", [said(1, "user", text + "End")])
    items, _ = read_all("claude-code", path)
    assert items[0][4][0][1].endswith("End")
