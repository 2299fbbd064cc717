"""What somebody meets who has just come: an archive, notes without a body, notes not yet read."""

import json
from functools import partial

import pytest
from running import run_main
from writing_notes import index_notes, write_notes

from memory_palace.palace import Palace

NOTES = {
    "Archive/Mast.md": "# Mast\n\nThe old mast was three metres.\n",
    "Roof.md": "# Roof\n\nThe roof of the hut is old.\n",
    "Tags/Evergreen.md": '---\ntitle: "Evergreen"\n---\n',
}


@pytest.fixture
def run(tmp_path, capsys):
    write_notes(tmp_path, NOTES)
    Palace.init(tmp_path, here=True)
    (tmp_path / ".palace" / "palace.yaml").write_text("rooms:\n  Archive: archive_basement\n")
    Palace(tmp_path).index(embedder="hashing")
    capsys.readouterr()

    return partial(run_main, capsys, "-C", tmp_path)


@pytest.mark.parametrize("verb", [["query", "mast"], ["list"]])
@pytest.mark.parametrize(
    "place", [["--in", "Archive"], ["--in", "archive"], ["--room", "archive_basement"]]
)
def test_who_asks_for_the_archive_alone_is_told_how_to_let_it_in(run, verb, place):
    status, out, err = run(*verb, *place)
    assert (status, out) == (2, "")
    assert err.strip() == (
        f"palace: {place[1]} is archived, and left out; add --include-cold to look there"
    )
    assert "Archive/Mast.md" in run(*verb, *place, "--include-cold")[1]


def test_a_note_that_is_only_front_matter_shows_its_title_and_no_text(run):
    _, out, _ = run("query", "evergreen", "--in", "Tags")
    assert len(out.splitlines()) == 1 and out.startswith("1  Evergreen  ")
    assert "---" not in run("query", "evergreen", "--in", "Tags", "--full")[1]
    assert ">" not in run("query", "evergreen", "--in", "Tags", "--format", "markdown")[1]
    hit = json.loads(run("query", "evergreen", "--in", "Tags", "--json")[1])["hits"][0]
    assert hit["text"] == ""


def test_a_list_says_that_notes_are_newer_than_the_index(run, tmp_path):
    assert run("list")[2] == ""
    (tmp_path / "New.md").write_text("# New\n", "utf-8")
    status, out, err = run("list")
    assert status == 0 and "New.md" not in out
    assert err == "1 note differs from the index; run `palace index`\n"


def test_a_bullet_without_words_is_not_shown(tmp_path, capsys):
    """A note that has a heading and empty bullets showed those as what answers."""
    notes = {"Gutter.md": "# Gutter\n\n- \n\n- ***\n", "Roof.md": "# Roof\n\nTiles.\n"}
    index_notes(tmp_path, notes)
    out = run_main(capsys, "-C", tmp_path, "query", "gutter", "--json", "-k", "1")[1]
    assert json.loads(out)["hits"][0]["text"] == "# Gutter"
