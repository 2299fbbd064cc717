"""Which program an export is of."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from importing.test_notes_of_others import GRAPH, drawer, make_chroma
from importing.test_transcripts import CODEX, claw, said
from importing_exports import (
    claude_conversation,
    claude_message,
    gpt_conversation,
    gpt_message,
    write_json,
    write_lines,
)

from memory_palace.importing.formats.detection import describe, detect
from memory_palace.importing.formats.registry import FORMATS, find_reader


@pytest.fixture
def exports(tmp_path: Path) -> dict[str, Path]:
    """A file or folder of each format, none named as its program names it where content tells."""
    vault, basic = tmp_path / "vault", tmp_path / "basic"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "a.md").write_text("Hello\n")
    basic.mkdir()
    (basic / "a.md").write_text("---\ntitle: A\npermalink: a\n---\n- [x] y\n")
    message = claude_message(1, "human", 'About a "mapping": {}')
    gpt = gpt_conversation([("u", None, gpt_message("user", ['"chat_messages": []'], 1.0))])
    return {
        "claude": write_json(tmp_path / "1.json", [claude_conversation(1, [message])]),
        "chatgpt": write_json(tmp_path / "2.json", [gpt]),
        "claude-code": write_lines(tmp_path / "3.jsonl", [said(1, "user", "Hi")]),
        "codex": write_lines(tmp_path / "4.jsonl", CODEX),
        "openclaw": write_lines(tmp_path / "5.jsonl", [claw(1, None, "user", "Hi")]),
        "basic-memory": basic,
        "mempalace": make_chroma(tmp_path / "6" / "any.db", [drawer("x")]),
        "obsidian": vault,
        "memory-json": write_lines(tmp_path / "7.json", GRAPH),
    }


def test_every_format_is_told_by_its_content(exports: dict[str, Path], tmp_path: Path) -> None:
    assert {name: detect(path) for name, path in exports.items()} == {
        name: name for name in exports
    }
    assert set(exports) == set(FORMATS)
    for name in FORMATS:
        assert callable(find_reader(name))
    for name, path in exports.items():
        if path.is_file() and name != "mempalace":
            with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
                archive.write(path, f"export/{path.name}")
            assert detect(tmp_path / f"{name}.zip") == name


def test_what_cannot_be_told_is_described(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.pdf").write_bytes(b"%PDF")
    (tmp_path / "notes" / "b.md").write_text("No links\n")
    assert detect(tmp_path / "notes") is None
    assert describe(tmp_path / "notes") == "2 files (1 .pdf, 1 .md), none of a known shape"
    (tmp_path / "x.bin").write_bytes(b"\x00\xffhello")
    assert detect(tmp_path / "x.bin") is None
    assert describe(tmp_path / "x.bin") == r"a file of 7 bytes that begins with '\x00\\xffhello'"
    (tmp_path / "empty").mkdir()
    assert describe(tmp_path / "empty") == "no files"


def test_an_export_with_other_files_beside_it_is_told_all_the_same(tmp_path: Path) -> None:
    write_json(tmp_path / "user.json", {"id": "u"})
    write_json(tmp_path / "conversations.json", [])
    (tmp_path / "chat.html").write_text("<html>")
    gpt = gpt_conversation([("u", None, gpt_message("user", ["x"], 1.0))])
    write_json(tmp_path / "conversations-001.json", [gpt])
    assert detect(tmp_path) == "chatgpt"


@pytest.mark.parametrize("text", ["[[" * 200_000, "{" * 200_000, "[" * 200_000, '{"a":' * 99_999])
def test_hostile_heads_take_no_long_time(tmp_path: Path, text: str) -> None:
    for name in ("a.md", "b.json"):
        (tmp_path / name).write_text(text)
        assert detect(tmp_path / name) is None
    assert json.dumps(describe(tmp_path / "b.json"))
