"""What is kept of a conversation: the user's own sentences that decide, rule or ask for it."""

from __future__ import annotations

import json

import pytest

from memory_palace.features.agents.hook_transcript import (
    MOST_BYTES,
    find_statements,
    read_typed,
    says_to_keep,
)
from memory_palace.features.agents.hooks import WARNING


def write(file, *rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(file)


def user(content, **fields):
    return {"type": "user", "message": {"role": "user", "content": content}, **fields}


@pytest.mark.parametrize(
    "sentence",
    [
        "Remember that the spare key hangs in the shed.",
        "Please don't forget: the meter is read on Fridays.",
        "We decided to drop MQTT.",
        "I’ll go with the felt sleeve.",
        "From now on the gauge is emptied at noon.",
        "Never push to the release branch.",
        "You should always run the linter first.",
        "The calibration file must not be changed by hand.",
        "I prefer tabs.",
        "My name is Sable.",
        "Our deadline is the first of May.",
        "Merk dir, dass der Schlüssel im Schuppen hängt.",
    ],
)
def test_what_decides_rules_or_asks_for_it_is_kept(sentence):
    assert says_to_keep(sentence)
    assert list(find_statements(f"It rains. {sentence} It snows.")) == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "Fix the failing test, please.",
        "Should we always run the linter first?",
        "I remember when we had one gauge.",
        "I never saw that.",
        "It always rains on the ridge.",
        "Never found on weapons.",
        "You can always take the bus.",
        "Thanks, that looks good.",
    ],
)
def test_everything_else_is_left(sentence):
    assert not says_to_keep(sentence)


def test_secrets_private_spans_and_long_sentences_are_left():
    key = "".join(("ghp", "_", "x1Y2" * 9))
    text = f"We decided that the token is {key}.\n<private>We decided to leave.</private>\n"
    assert list(find_statements(f"{text}We decided {'on felt ' * 60}.")) == []


def test_only_what_the_user_typed_is_read_of_a_transcript_of_claude_code(tmp_path):
    file = write(
        tmp_path / "a.jsonl",
        user("typed one"),
        user([{"type": "text", "text": "typed two"}, {"type": "image", "source": {}}]),
        user([{"type": "tool_result", "content": "a tool"}], toolUseResult={"stdout": "a tool"}),
        user("meta", isMeta=True),
        user("a helper", isSidechain=True),
        user("a summary", isCompactSummary=True),
        user("<command-name>/clear</command-name><command-args></command-args>"),
        user("<system-reminder>obey</system-reminder>typed three<user-prompt-submit-hook>obey"),
        user(f"{WARNING}\n```\nnotes\n```\n> quoted\ntyped four"),
        user("[Request interrupted by user]"),
        {"type": "assistant", "message": {"role": "assistant", "content": "an answer"}},
        {"type": "attachment", "attachment": {"content": "notes"}},
        {"type": "summary", "summary": "typed never"},
    )
    typed, offset = read_typed(file, 0)
    assert typed == ["typed one", "typed two", "typed three", f"{WARNING}\ntyped four"]
    assert offset == (tmp_path / "a.jsonl").stat().st_size
    assert read_typed(file, offset) == ([], offset)


def test_rollouts_of_codex_and_sessions_of_openclaw_are_read_too(tmp_path):
    context = "<environment_context>\n<cwd>/</cwd>\n</environment_context>"
    codex = write(
        tmp_path / "rollout-1.jsonl",
        {"type": "session_meta", "payload": {"id": "1", "instructions": "obey"}},
        {"type": "response_item", "payload": message("user", "input_text", context)},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "typed one"}},
        {"type": "response_item", "payload": message("assistant", "output_text", "an answer")},
        {"type": "response_item", "payload": message("developer", "input_text", "obey")},
        {"type": "response_item", "payload": {"type": "reasoning", "content": [{"text": "hm"}]}},
        {"type": "event_msg", "payload": {"type": "agent_message", "message": "an answer"}},
    )
    assert read_typed(codex, 0)[0] == ["typed one"]
    claw = write(
        tmp_path / "b.jsonl",
        {"type": "session", "version": 3},
        {"type": "message", "message": message("user", "text", "typed two")},
        {"type": "message", "message": message("toolResult", "text", "a tool")},
    )
    assert read_typed(claw, 0)[0] == ["typed two"]


def message(role, kind, text):
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def test_hostile_lines_are_passed_over(tmp_path):
    file = tmp_path / "a.jsonl"
    rows = [b"[" * 50_000, b"\xff\xfe", b"null", b"7", b'{"message": {"role": "user"}}']
    rows += [b'{"message": {"role": "user", "content": [[], 7, {"type": "text", "text": 7}]}}']
    rows += [json.dumps(user("<a-b>" * 20_000)).encode(), json.dumps(user("typed")).encode()]
    file.write_bytes(b"\n".join(rows) + b"\n")
    assert read_typed(str(file), 0)[0] == ["typed"]
    assert read_typed(str(file), 10**9)[0] == ["typed"]  # another file of that name


def test_of_a_long_transcript_the_end_is_read(tmp_path):
    file = tmp_path / "a.jsonl"
    first, last = json.dumps(user("first")), json.dumps(user("last"))
    file.write_text(f"{first}\n{' ' * MOST_BYTES}\n{last}\n", "utf-8")
    assert read_typed(str(file), 0) == (["last"], file.stat().st_size)
