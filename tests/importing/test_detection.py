"""Which program an export is of."""

import zipfile
from pathlib import Path

import pytest
from importing.test_chats import ANDROID, slack, telegram, write
from importing.test_notes_of_others import GRAPH
from importing.test_transcripts import CODEX, claw, said
from importing_exports import (
    claude_conversation,
    claude_message,
    gpt_conversation,
    gpt_message,
    write_json,
    write_lines,
)

from memory_palace.errors import UsageError
from memory_palace.features.importing.run import FORMATS, detect
from memory_palace.palace import Palace


@pytest.fixture
def exports(tmp_path: Path) -> dict[str, Path]:
    """A file or folder of each format, none named as its program names it where content tells."""
    message = claude_message(1, "human", 'About a "mapping": {}')
    gpt = gpt_conversation([("u", None, gpt_message("user", ['"chat_messages": []'], 1.0))])
    return {
        "claude": write_json(tmp_path / "1.json", [claude_conversation(1, [message])]),
        "chatgpt": write_json(tmp_path / "2.json", [gpt]),
        "claude-code": write_lines(tmp_path / "3.jsonl", [said(1, "user", "Hi")]),
        "codex": write_lines(tmp_path / "4.jsonl", CODEX),
        "openclaw": write_lines(tmp_path / "5.jsonl", [claw(1, None, "user", "Hi")]),
        "memory-json": write_lines(tmp_path / "7.json", GRAPH),
        "slack": write_json(tmp_path / "8.json", [slack(0, "Hi")]),
        "telegram": write_json(tmp_path / "9.json", telegram({"text": "Hi"})),
        "whatsapp": write(tmp_path, {"10.txt": f"\ufeff{ANDROID}"}) / "10.txt",
    }


def test_every_format_is_told_by_its_content(exports: dict[str, Path], tmp_path: Path) -> None:
    assert {name: detect(path) for name, path in exports.items()} == {
        name: name for name in exports
    }
    assert set(exports) == set(FORMATS)
    for name, path in exports.items():
        if path.is_file():
            with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
                archive.write(path, f"export/{path.name}")
            assert detect(tmp_path / f"{name}.zip") == name


def test_an_export_with_other_files_beside_it_is_told_all_the_same(tmp_path: Path) -> None:
    write_json(tmp_path / "user.json", {"id": "u"})
    write_json(tmp_path / "conversations.json", [])
    (tmp_path / "chat.html").write_text("<html>")
    gpt = gpt_conversation([("u", None, gpt_message("user", ["x"], 1.0))])
    write_json(tmp_path / "conversations-001.json", [gpt])
    assert detect(tmp_path) == "chatgpt"


def test_what_is_not_known_is_said_with_what_it_holds_and_what_is_known(tmp_path: Path) -> None:
    write(tmp_path / "export", {"a.json": {"cards": [{"front": "x", "back": "y"}]}, "b.csv": "x"})
    with pytest.raises(UsageError, match=r"1 \.csv, with the keys cards, front, back;.*slack"):
        Palace.init(tmp_path / "palace").import_export(tmp_path / "export")


@pytest.mark.parametrize("text", ["[[" * 200_000, "{" * 200_000, "[" * 200_000, '{"a":' * 99_999])
def test_hostile_heads_take_no_long_time(tmp_path: Path, text: str) -> None:
    for name in ("a.md", "b.json", "c.txt"):
        (tmp_path / name).write_text(text)
        assert detect(tmp_path / name) is None
