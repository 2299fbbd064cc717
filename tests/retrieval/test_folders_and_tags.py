import json

import pytest
from writing_notes import write_notes

from memory_palace.cli.app import main
from memory_palace.errors import UsageError
from memory_palace.palace import Palace

NOTES = {
    "chambers/ada.md": "---\ntags: [people, Work/Hut]\n---\n# Ada\n\nAda mends the snow gauge.\n",
    "project_rooms/hut/plan.md": "# Plan\n\nThe snow hut. #work/hut/roof #snow\n",
    "project_rooms/hut/deep/stove.md": "# Stove\n\nThe stove melts snow. #work\n",
    "project_rooms/hut-two/other.md": "# Other\n\nAnother snow hut. #workshop\n",
    "reflection_wing/Größe.md": "---\nprivate: true\ntags: [secret-tag]\n---\n# Hidden\n\nsnow\n",
}


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    root = tmp_path_factory.mktemp("folders")
    write_notes(root / "palace", NOTES)
    palace = Palace(root)
    palace.index(embedder="none")
    return palace


def found(palace, **filters):
    return sorted(hit.path.removeprefix("palace/") for hit in palace.query("snow", **filters))


ADA, PLAN, STOVE, OTHER = list(NOTES)[:4]


@pytest.mark.parametrize(
    ("folder", "paths"),
    [
        ("palace/project_rooms", [OTHER, STOVE, PLAN]),
        ("project_rooms/", [OTHER, STOVE, PLAN]),
        ("./project_rooms/hut", [STOVE, PLAN]),
        ("PROJECT_ROOMS/Hut", [STOVE, PLAN]),
        (["project_rooms/hut-two", "chambers"], [ADA, OTHER]),
        (".", [ADA, OTHER, STOVE, PLAN]),
        ([], [ADA, OTHER, STOVE, PLAN]),
    ],
)
def test_a_folder_is_searched_with_all_below_it(palace, folder, paths):
    assert found(palace, folder=folder, limit=9, neighbors=0) == sorted(paths)
    assert found(palace, folder=folder, limit=9, neighbors=0, lexical=True) == sorted(paths)


@pytest.mark.parametrize(
    ("tags", "paths"),
    [
        ("work", [ADA, STOVE, PLAN]),
        ("#work/hut/", [ADA, PLAN]),
        (["#WORK", "snow"], [PLAN]),
        (["people", "snow"], []),
    ],
)
def test_a_tag_passes_with_those_nested_in_it_and_several_are_all_borne(palace, tags, paths):
    assert found(palace, tags=tags, limit=9, neighbors=0) == sorted(paths)
    assert sorted(n.path.removeprefix("palace/") for n in palace.notes(tags=tags)) == sorted(paths)


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"folder": "project_room"}, "did you mean 'palace/project_rooms"),
        ({"folder": "room"}, "did you mean 'palace/project_rooms"),
        ({"folder": "hut"}, "did you mean 'palace/project_rooms/hut'"),
        ({"folder": "../elsewhere"}, "no note of the index is in the folder"),
        ({"tags": "peple"}, "did you mean 'people'?"),
        ({"tags": ["work", "roof"]}, "did you mean 'work/hut/roof'?"),
        ({"room": "hut"}, "--in FOLDER"),
        ({"tags": "#"}, "a tag is a word"),
    ],
)
def test_an_unknown_folder_or_tag_suggests_near_ones(palace, filters, words):
    with pytest.raises(UsageError) as raised:
        palace.query("snow", **filters)
    assert words in str(raised.value)


def test_a_private_note_gives_away_none_of_its_tags(palace):
    with pytest.raises(UsageError) as raised:
        palace.notes(tags="secret-tag")
    assert "did you mean" not in str(raised.value)


def test_the_command_line_takes_a_folder_as_it_is_seen(palace, monkeypatch, capsys):
    def listed(*arguments):
        main([*arguments, "--json"])
        return sorted(
            n["path"].removeprefix("palace/") for n in json.loads(capsys.readouterr().out)["notes"]
        )

    monkeypatch.delenv("PALACE_ROOT", raising=False)
    monkeypatch.chdir(palace.paths.root / "palace" / "project_rooms")
    assert listed("list", "--in", "hut") == sorted([STOVE, PLAN])
    assert listed("list", "--in", "hut/", "--tag", "#snow") == [PLAN]
    assert listed("list", "--in", ".") == sorted([OTHER, STOVE, PLAN])
    assert listed("list", "--in", "../chambers") == [ADA]
    assert listed("list", "--in", str(palace.paths.root / "palace" / "chambers")) == [ADA]
    assert listed("list", "--in", "palace/chambers") == [ADA]
    main(["new", "--body", "Text.", "Ladder", "--in", "hut/deep"])
    assert capsys.readouterr().out == "palace/project_rooms/hut/deep/Ladder.md\n"
    main(["query", "snow", "--in", "hut/deep", "--json"])
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert [hit["path"] for hit in hits] == [f"palace/{STOVE}"]
    for outside in ("/", "", "~", "../../../elsewhere", str(palace.paths.root.parent)):
        with pytest.raises(SystemExit) as refused:
            main(["list", "--in", outside])
        assert refused.value.code == 2 and capsys.readouterr().out == ""
    main(["query", "--tag", "people", "--json"])
    assert [hit["title"] for hit in json.loads(capsys.readouterr().out)["hits"]] == ["Ada"]


def test_a_room_that_no_folder_is_says_which_line_to_add(tmp_path):
    (tmp_path / "Projects").mkdir()
    (tmp_path / "Projects" / "hut.md").write_text("# Hut\n\nSnow.\n")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="none")
    for ask in (palace.query, palace.notes):
        with pytest.raises(UsageError, match="no folder of this palace is its chambers"):
            ask(room="Chambers")
    assert [hit.path for hit in palace.query("snow", folder="projects")] == ["Projects/hut.md"]


def test_a_private_note_changes_no_score(tmp_path):
    palace = Palace.init(tmp_path)
    for name, text in (("a", "Snow fell on the hut.\n"), ("b", "The hut is warm.\n")):
        (palace.paths.notes / "chambers" / f"{name}.md").write_text(text, "utf-8")
    palace.index(embedder="hashing")
    before = [(hit.path, hit.score) for hit in palace.query("snow on the hut")]
    for number in range(5):
        hidden = palace.paths.notes / "chambers" / f"hidden {number}.md"
        hidden.write_text("---\nprivate: true\n---\nSnow on the hut.\n", "utf-8")
    palace.index()
    assert [(hit.path, hit.score) for hit in palace.query("snow on the hut")] == before
