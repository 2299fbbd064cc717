"""A new memory is filed in a folder of its own matter: named, guessed, or asked for."""

from __future__ import annotations

import io

import pytest

from memory_palace.errors import UsageError
from memory_palace.mnemonics.domains import _name_domain
from memory_palace.palace import Palace
from tests.running import run_main

BEES = [
    ("Swarm in May", "A swarm leaves the hive when the queen has no room; hang a second hive."),
    ("Varroa", "Count mites under the hive; treat the bees with acid after the last honey."),
    ("Wintering", "Bees keep the queen warm in the hive; never open a hive below ten degrees."),
]
BOATS = [
    ("Reefing", "Reef the mainsail before the wind is strong; the boat heels less."),
    ("Anchoring", "Lay chain of four times the depth; the boat swings with wind and tide."),
    ("Sheets", "Ease the sheet in a gust; the mainsail spills its wind and the boat stands up."),
]


@pytest.fixture
def palace(tmp_path):
    made = Palace.init(tmp_path)
    for domain, memories in (("bees", BEES), ("sailing", BOATS)):
        for subject, content in memories:
            made.memories.new(subject, content=content, domain=domain)
    made.index(embedder="none")
    return made


@pytest.mark.parametrize(
    ("subject", "content", "domain"),
    [
        ("Queen cells", "A hive that raises queen cells will swarm: the bees prepare.", "bees"),
        ("Gusts", "Steer the boat into the wind when the mainsail is too large.", "sailing"),
    ],
)
def test_a_memory_is_filed_with_those_on_the_same_matter(palace, subject, content, domain):
    written = palace.memories.new(subject, content=content)
    (path,) = written.outcome.paths
    assert path == f"palace/reflection_wing/memories/{domain}/{subject}.md"
    assert (written.domain, written.is_guessed) == (domain, True)
    assert f"memories/{domain}" in str(palace.memories.hierarchy(by_words=True).domains)


def test_what_belongs_to_neither_is_filed_in_none(palace):
    written = palace.memories.new("Rye", content="Feed the starter with flour at noon.")
    assert written.outcome.paths == ("palace/reflection_wing/memories/Rye.md",)


def test_a_domain_or_room_that_is_named_counts(palace):
    bee = {"content": BEES[0][1]}
    assert "memories/sailing/A.md" in palace.memories.new("A", domain="sailing", **bee).outcome.diff
    assert palace.memories.new("B", room="chambers", **bee).outcome.paths == (
        "palace/chambers/B.md",
    )
    with pytest.raises(UsageError):
        palace.memories.new("C", domain="../../../out", **bee)


def test_without_an_index_nothing_is_guessed(tmp_path):
    made = Palace.init(tmp_path)
    assert made.memories.guess_domain("bees in a hive").name == ""


def test_a_project_is_a_domain_too_and_the_other_rooms_are_none(palace):
    names = {
        "palace/project_rooms/radio/log.md": "radio",
        "palace/project_rooms/log.md": None,
        "palace/reflection_wing/memories/sea/a/b.md": "sea",
        "palace/reflection_wing/principles/a.md": None,
        "palace/archive_basement/2025/project_rooms/radio/log.md": None,
    }
    assert {path: _name_domain(palace.paths.rooms, path) for path in names} == names


@pytest.mark.parametrize(("answer", "place"), [("\n", ""), ("baking\n", "baking/")])
def test_a_person_is_asked_where_nothing_is_sure(palace, capsys, monkeypatch, answer, place):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr("sys.stdin", Terminal(answer))
    root = str(palace.paths.root)
    _, out, _ = run_main(
        capsys, "--root", root, "memory", "new", "Rye", "--content", "Flour at noon."
    )
    assert out == f"palace/reflection_wing/memories/{place}Rye.md\n"
