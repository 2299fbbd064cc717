"""Which note a person means."""

import pytest

from memory_palace.errors import UsageError
from memory_palace.graph.naming import NoteNames

PATHS = [
    "palace/chambers/log.md",
    "palace/grand_hall/map.md",
    "palace/project_rooms/kafka/index.md",
    "palace/project_rooms/redis/index.md",
]
TITLES = ["Daily log", "The way in", "Why we dropped Kafka", "Redis"]
NAMES = NoteNames(PATHS, TITLES, [(), ("Start", "Entry"), ("queue",), ("queue",)])


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("palace/grand_hall/map.md", PATHS[1]),
        ("grand_hall/map", PATHS[1]),
        ("MAP", PATHS[1]),
        ("map.md", PATHS[1]),
        ("the way in", PATHS[1]),
        ("entry", PATHS[1]),
        ("kafka/index", PATHS[2]),
        ("redis", PATHS[3]),
    ],
)
def test_a_note_is_named_by_path_stem_title_or_alias(text, path):
    assert NAMES.find(text) == path


@pytest.mark.parametrize("text", ["index", "queue"])
def test_a_name_of_several_notes_lists_their_paths(text):
    with pytest.raises(UsageError) as caught:
        NAMES.find(text)
    assert str(caught.value) == (
        f"2 notes match {text!r}; give a path:\n  {PATHS[2]}\n  {PATHS[3]}"
    )


def test_a_long_list_of_candidates_is_cut():
    paths = [f"palace/{n:02}/index.md" for n in range(20)]
    with pytest.raises(UsageError, match="and 12 more"):
        NoteNames(paths, ["Index"] * 20, [()] * 20).find("index")


@pytest.mark.parametrize("text", ["the way inn", "grand_hall/mapp", "Strat"])
def test_an_unknown_name_suggests_the_nearest(text):
    with pytest.raises(
        UsageError, match=r"Did you mean palace/grand_hall/map\.md \(The way in\)\?"
    ):
        NAMES.find(text)


def test_words_of_titles_go_before_names_that_are_spelt_alike():
    titles = {
        "notes/ref.md": "Dendron: Rename Note",
        "notes/renal.md": "Renal",
        "notes/remake.md": "Remake",
        "notes/name.md": "Name",
        "notes/rename two notes of a vault at once.md": "Rename two notes of a vault at once",
    }
    names = NoteNames(list(titles), list(titles.values()), [()] * len(titles))
    with pytest.raises(UsageError) as caught:
        names.find("rename")
    first = "notes/ref.md (Dendron: Rename Note)"
    others = [path for path in titles if "two" in path]
    assert f"Did you mean {' or '.join([first, *others])}? " in str(caught.value)
    with pytest.raises(UsageError, match=r"Did you mean notes/ref\.md \(Dendron: Rename Note\)\?"):
        names.find("dendorn rename")


def test_a_slug_is_the_file_name_behind_its_date():
    paths = ["a/2026-05-19_mend-the-roof.md", "a/2026-05-20_paint.md", "b/2026-05-21_paint.md"]
    names = NoteNames(paths, ["Roof", "Paint it", "Paint all"], [()] * 3)
    assert names.find("Mend-the-roof") == paths[0]
    with pytest.raises(UsageError, match="2 notes match 'paint'"):
        names.find("paint")


def test_an_unknown_name_that_is_near_nothing_says_where_to_look():
    with pytest.raises(UsageError, match=r"no note matches 'zzz'.*palace list"):
        NAMES.find("zzz")
