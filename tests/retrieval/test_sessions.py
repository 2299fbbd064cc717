"""Talks and entries that a question counts, and what was said in a time."""

import pytest
from writing_notes import index_notes

from memory_palace.language.time_words import may_name_time
from tests.running import run_well

TALKS = {
    "a.md": ("2024-05-03", "We saw the harbour."),
    "b.md": ("2024-05-20", "The stove is cold."),
    "c.md": ("2024-07-01T08:00", "In May the pear tree fell."),
    "d.md": ("2024-07-01T18:00", "The roof was tarred."),
}
NOTES = {
    path: f"---\ndate: {day}\n---\nAnna: {said}\n\nBen: And then?\n\nAnna: Nothing.\n\nBen: Good.\n"
    for path, (day, said) in TALKS.items()
} | {"2024-07-02.md": "The roof held.\n", "2024-06-01.md": "Bread was baked.\n"}


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    return index_notes(tmp_path_factory.mktemp("talks"), NOTES, embedder="none")


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what did we discuss in our third session?", "c.md"),
        ("what was said in the last conversation", "d.md"),
        ("what did we talk about two chats ago", "c.md"),
        ("what did we say the time before?", "c.md"),
        ("what did we discuss earlier today", "c.md"),
        ("my last entry", "2024-07-02.md"),
        ("was haben wir im zweiten Gespräch besprochen", "b.md"),
        ("¿de qué hablamos en la primera conversación?", "a.md"),
    ],
)
def test_a_counted_talk_or_entry_comes_first(palace, question, first):
    asked_at = "2024-07-01T19:00" if "today" in question else "2024-07-09"
    assert palace.query(question, neighbors=0, as_of=asked_at)[0].path == first


def test_several_talks_are_counted_and_details_name_their_days(palace):
    asked = palace.query("what did we discuss in sessions 1 and 2", limit=2, neighbors=0)
    assert {hit.path for hit in asked} == {"a.md", "b.md"}
    told, _ = run_well("-C", palace.paths.root, "query", "our third session", "--details")
    assert '"third session" read as 2024-07-01' in told


@pytest.mark.parametrize(
    "text",
    ["her first session", "our ninth session", "the second meeting", "the last talk on bees"],
)
def test_what_is_not_ours_or_not_there_is_not_counted(palace, text):
    assert may_name_time(text) and palace.query(f"roof {text}", neighbors=0).times == ()


def test_what_was_said_in_a_time_is_no_later_talk_that_mentions_it(palace):
    asked = palace.query("what did we discuss in May", limit=2, neighbors=0, as_of="2024-07-09")
    assert {hit.path for hit in asked} == {"a.md", "b.md"}
    asked = palace.query("what happened in May", neighbors=0, as_of="2024-07-09")
    assert asked[0].path == "c.md"
