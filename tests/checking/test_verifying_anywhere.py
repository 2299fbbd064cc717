"""Without a name the palace's own search finds what an answer is compared with."""

import json

import pytest
from running import run_main
from writing_notes import write_notes

from memory_palace import Palace
from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.checking.checker import Verdict
from memory_palace.features.checking.verify import verify, write_lines

SAID = "The sluice gate jams above 2.4 metres."
WRONG = "The sluice gate jams above 9.7 metres."
NOTES = {
    "river/gate.md": f"# Gate\n\nIt is green.\n\n{SAID}\n\nThe keeper greases it in May.\n",
    "river/mill.md": "# Mill\n\nThe mill closed in 1911.\n",
    "town/hens.md": "# Hens\n\nThirty hens lay eggs behind the bakery.\n",
    "town/private.md": "---\nprivate: true\n---\n# Vault\n\nThe canary vault opens at 4:15.\n",
    "town/half.md": (
        "# Half\n\nThe shed is blue.\n\n<private>The canary shed key hangs left.</private>\n\n"
        "token = ghp_canary12345678901234567890123456789012\n"
    ),
    "archive/old.md": "# Old\n\nThe canary ferry crossed twice daily.\n",
}


@pytest.fixture
def palace(tmp_path):
    write_notes(tmp_path, NOTES)
    made = Palace.init(tmp_path, here=True)
    rooms = "rooms: {archive: archive_basement, river: project_rooms}\n"
    made.paths.settings.write_text(rooms, "utf-8")
    made = Palace(tmp_path)
    made.index(embedder="hashing")
    return made


def cite(palace, answer, *against):
    found = verify(palace, answer, against).sentences
    return [(s.verdict, s.passage and s.passage.note) for s in found]


def test_each_sentence_finds_its_own_note_and_lines(palace):
    done = verify(palace, f"{SAID} The mill closed in 1911.")
    assert done.is_searched and done.verdict == Verdict.QUOTED
    places = [(s.passage.note, s.passage.first_line) for s in done.sentences]
    assert places == [("river/gate.md", 5), ("river/mill.md", 3)]
    assert not palace.paths.logs.exists()  # it counts as no use of a note


@pytest.mark.parametrize("name", ["river/gate.md", "gate:5", "river/gate.md:1-7", "Gate"])
def test_a_note_without_a_token_bears_out_what_it_says(palace, name):
    right, wrong = (verify(palace, said, [name]) for said in (SAID, WRONG))
    assert (right.verdict, right.token_verdict) == ("quoted", "not_applicable")
    assert wrong.verdict == "contradicted"


def test_only_the_lines_that_are_named_count_and_none_that_are_withheld(palace):
    shed = "The canary shed key hangs left."
    for said, name in ((SAID, "gate:7"), (shed, "half.md"), (shed, "town/half.md:1-9")):
        assert verify(palace, said, [name]).verdict in ("contradicted", "not_found")
    with pytest.raises(UsageError, match="7 lines"):
        verify(palace, SAID, ["gate:30"])
    with pytest.raises(PalaceError, match="no note matches"):
        verify(palace, "The canary vault opens at 4:15.", ["private.md"])


@pytest.mark.parametrize(
    "secret",
    [
        "The canary vault opens at 4:15.",
        "The canary shed key hangs left.",
        "The token is ghp_canary12345678901234567890123456789012.",
        "The canary ferry crossed twice daily.",
    ],
)
def test_what_is_private_secret_or_cold_is_neither_used_nor_shown(palace, secret):
    done = verify(palace, secret)
    assert done.verdict not in (Verdict.QUOTED, Verdict.SUPPORTED)
    shown = "\n".join(
        each.text
        for sentence in done.sentences
        for each in (sentence.passage, *sentence.compared)
        if each is not None
    )
    assert "canary" not in shown
    with pytest.raises(UsageError, match="archived"):
        verify(palace, secret, ["archive/old.md"])


def test_a_note_that_changed_since_it_was_indexed_is_read_as_it_is(palace):
    gate = palace.paths.root / "river/gate.md"
    gate.write_text(f"# Gate\n\n\n\n\n\n\n\n{WRONG}\n", "utf-8")
    (palace.paths.root / "river/mill.md").unlink()
    done = verify(palace, f"{WRONG} The mill closed in 1911.")
    assert done.behind == 2
    first, second = done.sentences
    assert (first.verdict, first.passage.first_line) == (Verdict.QUOTED, 9)
    assert second.verdict not in (Verdict.QUOTED, Verdict.SUPPORTED)


def test_a_note_that_became_a_link_out_of_the_palace_is_not_read(palace, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "gate.md"
    outside.write_text(f"# Gate\n\n{WRONG}\n", "utf-8")
    gate = palace.paths.root / "river/gate.md"
    gate.unlink()
    gate.symlink_to(outside)
    assert verify(palace, WRONG).verdict == Verdict.NOT_FOUND


def test_a_note_that_the_answer_names_is_a_source(palace):
    crowd = "The keeper greases it in May, the keeper says.\n\n" * 3
    for number in range(12):
        (palace.paths.root / f"town/crowd{number}.md").write_text(f"# C{number}\n\n{crowd}")
    (palace.paths.root / "river/gate.md").write_text("# Gate\n\nIt gets grease each spring.\n")
    palace.index()
    plain = verify(palace, "It gets grease each spring.")
    for named in ('As "Gate" says, spring is when', "By [[gate]], spring is when"):
        done = verify(palace, f"{named} the keeper greases it.")
        assert done.is_searched
    assert plain.sentences[0].passage.note == "river/gate.md"
    assert cite(palace, "It gets grease each autumn (river/gate.md:3).")[0][1] == "river/gate.md"


@pytest.mark.parametrize("place", ["(river/gate.md:5)", "[river/gate.md:5-6]", "river/gate.md"])
def test_places_that_an_answer_cites_are_no_claims(palace, place):
    (sentence,) = verify(palace, f"{SAID[:-1]} {place}.").sentences
    assert sentence.verdict == Verdict.QUOTED and "river" not in sentence.text


@pytest.mark.parametrize("folder", ["river", "river/", "project_rooms"])
def test_a_folder_or_a_room_is_searched_alone(palace, folder):
    hens = "Thirty hens lay eggs behind the bakery."
    assert cite(palace, hens)[0] == (Verdict.QUOTED, "town/hens.md")
    with pytest.raises(UsageError, match="no note of the index"):
        cite(palace, hens, "archive_basement")
    verdict, note = cite(palace, hens, folder)[0]
    assert verdict != Verdict.QUOTED and note != "town/hens.md"


def test_an_index_is_needed_for_a_search_alone(tmp_path):
    (tmp_path / "gate.md").write_text(NOTES["river/gate.md"], "utf-8")
    palace = Palace.init(tmp_path, here=True)
    done = verify(palace, SAID, ["gate"])
    assert done.verdict == Verdict.QUOTED and not done.by_meaning
    with pytest.raises(Exception, match="palace index"):
        verify(palace, SAID)


def test_at_most_three_notes_are_cited_for_a_sentence(palace):
    for number in range(9):
        text = f"# N{number}\n\nThe sluice gate jams above {number}.5 metres in winter.\n"
        (palace.paths.root / f"n{number}.md").write_text(text, "utf-8")
    palace.index()
    for sentence in verify(palace, f"{SAID} Hens jam the sluice.").sentences:
        notes = {each.note for each in sentence.compared}
        own = {sentence.passage.note} if sentence.passage else set()
        assert len(notes) == len(sentence.compared) and notes.isdisjoint(own)
        assert len(notes | own) <= 3


def test_words_claim_no_more_than_was_shown(palace):
    done = verify(palace, "Above 2.4 metres the green sluice gate often jams.", ["gate"])
    assert done.verdict == Verdict.SUPPORTED
    lines = list(write_lines(done))
    assert lines[0].startswith("not contradicted") and "supported" not in " ".join(lines)


def test_the_verb_says_the_same_to_programs(palace, capsys):
    root = str(palace.paths.root)
    code, out, err = run_main(capsys, "-C", root, "verify", "--strict", "--json", "--text", WRONG)
    found = json.loads(out)
    assert (code, found["verdict"], found["searched"]) == (8, "contradicted", True)
    (sentence,) = found["sentences"]
    assert (sentence["note"], sentence["first_line"]) == ("river/gate.md", 5)
    assert "9.7" in sentence["differences"][0]["mine"] and "contradicted" in err
    code, _, _ = run_main(capsys, "-C", root, "verify", "--text", WRONG)
    assert code == 0


def test_an_answer_in_another_language_is_said_to_be_checked_less(palace, capsys):
    text = "Das Tor am Fluss klemmt immer, wenn das Wasser höher als zwei Meter steht."
    _, _, err = run_main(capsys, "-C", str(palace.paths.root), "verify", "--text", text)
    assert "not English" in err
