"""ChatGPT's export."""

from datetime import UTC, datetime
from pathlib import Path

from importing_exports import gpt_conversation, gpt_message, read_all, write_json

HIDDEN = {"is_visually_hidden_from_conversation": True}


def content(kind: str, **more: object) -> dict[str, object]:
    return {"content": {"content_type": kind} | more}


def test_the_branch_on_the_screen_is_kept_without_hidden_parts_and_tools(tmp_path: Path) -> None:
    pointer = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_1"}
    spoken = {"content_type": "audio_transcription", "text": "and aloud", "direction": "in"}
    nodes = [
        ("root", None, None),
        ("s", "root", gpt_message("system", ["secret"], None, metadata=HIDDEN)),
        ("i", "s", gpt_message("user", [], None, **content("user_editable_context"))),
        (
            "u",
            "i",
            gpt_message("user", [], 10.0, metadata={"attachments": [{"name": "a.png"}]})
            | content("multimodal_text", parts=[pointer, "Look", spoken]),
        ),
        ("old", "u", gpt_message("assistant", ["Old answer"], 11.0)),
        ("th", "u", gpt_message("assistant", [], 12.0) | content("thoughts", thoughts=["secret"])),
        ("call", "th", gpt_message("assistant", ["secret"], 13.0, recipient="web.run")),
        ("tool", "call", gpt_message("tool", ["secret"], 14.0)),
        ("x", "tool", gpt_message("assistant", [], 15.0) | content("hologram", text="secret")),
        (
            "a",
            "x",
            gpt_message("assistant", ["Rain \ue200cite\ue202turn0search1\ue201fell."], 16.0),
        ),
        (
            "c",
            "a",
            gpt_message("assistant", [], 17.0) | content("code", language="python", text="1+1"),
        ),
    ]
    path = write_json(tmp_path / "conversations.json", [gpt_conversation(nodes)])
    items, _ = read_all("chatgpt", path)
    moment = [datetime.fromtimestamp(second, UTC) for second in (10, 16, 17)]
    assert items == [
        (
            "67a0aaaa-1111-8222-b333-444455556666",
            "Frost",
            datetime.fromtimestamp(1767225600.5, UTC),
            "https://chatgpt.com/c/67a0aaaa-1111-8222-b333-444455556666",
            [
                ("user", "Look\n\nand aloud\n\nAttached: a.png", moment[0]),
                ("assistant", "Rain fell.", moment[1]),
                ("assistant", "```python\n1+1\n```", moment[2]),
            ],
        )
    ]


def test_parts_of_a_split_export_are_read(tmp_path: Path) -> None:
    nodes = [("u", None, gpt_message("user", ["Hi"], 1.0))]
    for number in range(3):
        entry = gpt_conversation(nodes, conversation_id=f"conversation-{number}")
        write_json(tmp_path / f"conversations-{number:03d}.json", [entry])
    write_json(tmp_path / "user.json", {"id": "u"})
    items, report = read_all("chatgpt", tmp_path)
    assert [item[0] for item in items] == [f"conversation-{number}" for number in range(3)]
    assert not report.broken


def test_a_circle_of_parents_gives_everything_by_time(tmp_path: Path) -> None:
    nodes = [
        ("b", "a", gpt_message("assistant", ["Two"], 2.0)),
        ("a", "b", gpt_message("user", ["One"], 1.0)),
    ]
    path = write_json(tmp_path / "conversations.json", [gpt_conversation(nodes)])
    items, _ = read_all("chatgpt", path)
    assert [text for _, text, _ in items[0][4]] == ["One", "Two"]
