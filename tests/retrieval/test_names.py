"""A question that is what a note is called finds that note first."""

from collections.abc import Mapping

import pytest
from writing_notes import write_notes

from memory_palace.palace import Palace
from memory_palace.retrieval.question import is_mistyped

NOTES = {
    "Gizmotron manual.md": "Press the green button twice.",
    "about machines.md": "The [[Gizmotron manual]] is long. The Gizmotron manual is in a drawer.",
    "Gizmotron/specs.md": "Nine volts.",
    "empty plan.md": "",
    "2024-03-01.md": "Rain all day, and nothing done.",
    "diary.md": "On 2024-03-01 it rained; 2024-03-01 was a Friday. See [[2024-03-01]].",
    "C++.md": "Templates and headers.",
    "C.md": "Pointers. C++ came later, and C++ is larger. C++ has classes.",
    "Q&A.md": "Ask on Fridays.",
    "ASP.NET notes.md": "Runs on many systems.",
    "snake_case-name.md": "Underscores and hyphens.",
    "camelCaseThing.md": "Humps.",
    "Café Zürich.md": "Tables by the lake.",
    "🏠 Home.md": "Where all begins.",
    "projects/weir/index.md": "All of that place.",
    "ハルデ谷の霧.md": "Fog.",
    "other.md": "Every morning the weir, the fog, the cafe and home are in it, and the button.",
    "nick.md": "---\naliases: [Old Tom, tommy]\ntags: [people/keepers, hut]\n---\nHe keeps bees.",
    "friends.md": "Old Tom came by. Old Tom said no. Old Tom left. People say so.",
    "bees.md": "Ask [[nick|the beekeeper]], the beekeeper knows.",
    "line\nbreak.md": "A file name may hold anything.",
    "hive.md": "The beekeeper, the beekeeper, a beekeeper.",
}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Palace:
    return built(Palace.init(tmp_path_factory.mktemp("named")), NOTES)


def built(palace: Palace, notes: Mapping[str, str]) -> Palace:
    write_notes(palace.paths.notes / "project_rooms", notes)
    palace.index(embedder="hashing")
    return palace


def found(palace: Palace, text: str, **options: bool) -> list[str]:
    hits = palace.query(text, neighbors=0, **options)
    return [hit.path.removeprefix("palace/project_rooms/") for hit in hits]


@pytest.mark.parametrize("lexical", [False, True])
@pytest.mark.parametrize(
    ("question", "name"),
    [
        *((name.rpartition("/")[2].removesuffix(".md"), name) for name in NOTES if "/" not in name),
        ("gizmotron MANUAL", "Gizmotron manual.md"),
        ("Gizmotron manual.md", "Gizmotron manual.md"),
        ("Gizmotron-manual?", "Gizmotron manual.md"),
        ("Gizmotrn manual", "Gizmotron manual.md"),
        ("Gizmotron mnaual", "Gizmotron manual.md"),
        ("asp net notes", "ASP.NET notes.md"),
        ("snake case name", "snake_case-name.md"),
        ("camel case thing", "camelCaseThing.md"),
        ("cafe zurich", "Café Zürich.md"),
        ("home", "🏠 Home.md"),
        ("weir", "projects/weir/index.md"),
        ("Old Tom", "nick.md"),
        ("oldtom", "nick.md"),
        ("line break", "line\nbreak.md"),
        ("the beekeeper", "nick.md"),
    ],
)
def test_a_question_that_is_a_name_finds_the_note_first(named, question, name, lexical):
    assert found(named, question, lexical=lexical)[0] == name


@pytest.mark.parametrize("lexical", [False, True])
def test_a_word_of_a_name_alone_finds_the_note(named, lexical):
    assert set(found(named, "Gizmotron", lexical=lexical)[:3]) == {
        "Gizmotron manual.md", "Gizmotron/specs.md", "about machines.md",
    }  # fmt: skip
    assert "nick.md" in found(named, "keepers", lexical=lexical)


def test_a_question_that_only_holds_a_name_is_not_decided_by_it(named):
    assert found(named, "in the morning there is fog at home")[0] == "other.md"


def test_a_moved_note_is_found_by_its_new_name(tmp_path):
    palace = built(Palace.init(tmp_path), {"a.md": "Frost.", "b.md": "Zebrafish are striped."})
    old = palace.paths.notes / "project_rooms/a.md"
    old.rename(old.with_name("zebrafish tank.md"))
    assert palace.index().embedded == 0
    assert found(palace, "zebrafish tank", lexical=True)[0] == "zebrafish tank.md"
    assert "a.md" not in found(palace, "a", lexical=True)


@pytest.mark.parametrize(
    ("other", "is_so"),
    [
        ("kademlia", False),
        ("kademli", True),
        ("kademliaa", True),
        ("akdemlia", True),
        ("kadenlia", True),
        ("kadmelia", True),
        ("kademl", False),
        ("kdaemlai", False),
        ("", False),
    ],
)
def test_one_letter_is_a_typo_and_two_are_another_name(other, is_so):
    assert is_mistyped(other, "kademlia") is is_mistyped("kademlia", other) is is_so


def test_a_heading_of_one_word_does_not_rule_a_question_of_one_word(tmp_path):
    notes = {
        "site.md": "# Siting\n\nKeep ten metres from walls.\n\n## Wind\n\nSee below.",
        "gusts.md": "# Gusts\n\nThe wind turns at noon; the wind of the valley is a west wind.",
    }
    palace = built(Palace.init(tmp_path), notes)
    assert found(palace, "wind", lexical=True)[0] == "gusts.md"
    assert found(palace, "siting", lexical=True)[0] == "site.md"


@pytest.mark.parametrize("lexical", [False, True])
def test_a_question_that_is_a_heading_finds_its_passage(tmp_path, lexical):
    other = "The deep end is where the deep water ends, at the deep end of the deep. " * 3
    notes = {"pool.md": "# Pool\n\nWet.\n\n## The *Deep* End\n\nMind it.", "sea.md": other}
    assert found(built(Palace.init(tmp_path), notes), "the deep end?", lexical=lexical)[0] == (
        "pool.md"
    )
