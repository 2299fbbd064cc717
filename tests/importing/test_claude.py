"""Claude.ai's export."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from importing_exports import claude_conversation, claude_message, read_all, uuid, write_json

from memory_palace.features.importing.run import detect

ROOT = "00000000-0000-4000-8000-000000000000"


def test_what_was_said_is_kept_and_thinking_and_tools_are_counted(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "secret thought", "summaries": []},
        {"type": "text", "text": "First."},
        {"type": "tool_use", "name": "web_search", "input": {"query": "secret query"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "secret result"}]},
        {"type": "token_budget"},
        {"type": "hologram", "text": "secret block"},
        {"type": "text", "text": "Last."},
    ]
    question = claude_message(1, "human", "Why?", attachments=[{"file_name": "C:\\a\\notes.pdf"}])
    question["files"] = [{"file_name": "photo.png"}]
    answer = claude_message(2, "assistant", "First.\nsecret placeholder\nLast.", content=blocks)
    path = write_json(tmp_path / "conversations.json", [claude_conversation(7, [question, answer])])
    items, report = read_all("claude", path)
    assert items == [
        (
            uuid(7),
            "Talk 7",
            datetime(2026, 3, 1, 9, 59, tzinfo=UTC),
            f"https://claude.ai/chat/{uuid(7)}",
            [
                (
                    "user",
                    "Why?\n\nAttached: notes.pdf, photo.png",
                    datetime(2026, 3, 1, 10, 0, 1, 123456, UTC),
                ),
                ("assistant", "First.\n\nLast.", datetime(2026, 3, 1, 10, 0, 2, 123456, UTC)),
            ],
        )
    ]
    assert not report.broken


def test_of_an_answer_asked_for_again_the_last_is_kept_and_a_missing_parent_loses_nothing(
    tmp_path: Path,
) -> None:
    messages = [
        claude_message(1, "human", "Why?", parent_message_uuid=ROOT),
        claude_message(2, "assistant", "Old.", parent_message_uuid=uuid(1)),
        claude_message(3, "assistant", "New.", parent_message_uuid=uuid(1)),
    ]
    path = write_json(tmp_path / "conversations.json", [claude_conversation(1, messages)])
    items, _ = read_all("claude", path)
    assert [text for _, text, _ in items[0][4]] == ["Why?", "New."]
    messages[0]["parent_message_uuid"] = uuid(50)
    path = write_json(tmp_path / "conversations.json", [claude_conversation(1, messages)])
    items, _ = read_all("claude", path)
    assert [text for _, text, _ in items[0][4]] == ["Why?", "Old.", "New."]


def test_a_message_without_blocks_is_its_text(tmp_path: Path) -> None:
    message = claude_message(1, "human", "Old shape")
    del message["content"]
    path = write_json(tmp_path / "conversations.json", [claude_conversation(1, [message])])
    items, _ = read_all("claude", path)
    assert items[0][4][0][:2] == ("user", "Old shape")


def test_projects_and_memories_become_notes(tmp_path: Path) -> None:
    project = {
        "uuid": uuid(5),
        "name": "Garden",
        "description": "All about it",
        "prompt_template": "Be brief.",
        "created_at": "2026-01-01T00:00:00+00:00",
        "docs": [{"uuid": uuid(6), "filename": "soil.md", "content": "Clay."}],
    }
    memory = {
        "conversations_memory": "Likes tea.",
        "project_memories": {uuid(5): "Plants in May."},
        "memory_files": [None, {"path": "/work/garden.md", "content": "Clay soil."}],
        "account_uuid": uuid(9),
    }
    with zipfile.ZipFile(tmp_path / "data-2026-batch-0000.zip", "w") as archive:
        archive.writestr("conversations.json", "[]")
        archive.writestr("users.json", json.dumps([{"uuid": uuid(9), "full_name": "A"}]))
        archive.writestr(f"projects/{uuid(5)}.json", json.dumps(project))
        archive.writestr("memories.json", json.dumps([memory]))
    items, report = read_all("claude", tmp_path / "data-2026-batch-0000.zip")
    assert [(note.source_id, note.path_hint, note.data) for note in items] == [
        (f"memory-{uuid(9)}", "memories/Memory.md", b"Likes tea.\n"),
        (f"memory-{uuid(9)}/work/garden", "memories/work/garden.md", b"Clay soil.\n"),
        (f"memory-{uuid(9)}-{uuid(5)}", f"memories/{uuid(5)}.md", b"Plants in May.\n"),
        (uuid(5), "projects/Garden/Garden.md", b"All about it\n\nBe brief.\n"),
        (uuid(6), "projects/Garden/soil.md", b"Clay.\n"),
    ]
    assert not report.broken


def test_an_index_reads_the_archives_beside_it_and_names_the_others(tmp_path: Path) -> None:
    names = ["conversations-000.zip", "../secret.zip", "design_chats-000.zip", "memories-000.zip"]
    rows = [{"filename": name, "export_url": "https://example.org/secret"} for name in names]
    index = write_json(tmp_path / "in" / "manifest-1.json", {"data_files": rows})
    said = {"role": "user", "content": {"content": "Draw"}, "created_at": "2026-03-01T10:00:00Z"}
    drawn = {"role": "assistant", "content": {"contentBlocks": [{"type": "text", "text": "Done"}]}}
    talk = claude_conversation(1, [claude_message(1, "human", "Why?")])
    for name, value in {
        "conversations-000": [talk],
        "design_chats-000": {"uuid": uuid(2), "title": "Plan", "messages": [said, drawn]},
    }.items():
        with zipfile.ZipFile(tmp_path / "in" / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}.json", json.dumps(value))
            archive.writestr("manifest-1.json", index.read_text())
    (tmp_path / "secret.zip").write_bytes((tmp_path / "in" / "conversations-000.zip").read_bytes())
    for path in (index, index.parent):
        assert detect(path) == "claude"
        items, report = read_all("claude", path)
        assert [(item[1], [turn[:2] for turn in item[4]]) for item in items] == [
            ("Talk 1", [("user", "Why?")]),
            ("Plan", [("user", "Draw"), ("assistant", "Done")]),
        ]
        assert [one.file for one in report.broken] == ["secret.zip", "memories-000.zip"]
        assert "example.org" not in str(report)
