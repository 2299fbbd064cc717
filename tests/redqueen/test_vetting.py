"""What a model proposes is kept where its note bears it out, and refused with a reason."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_palace.changes.changing import read_notes
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.rounds import load_memories
from memory_palace.redqueen.vetting import vet_proposals

SPOON = "Put one spoon of citric acid in a litre of cold water"
FUMES = "the fumes burn the throat"
DANGER = "Is it dangerous to pour descaler into boiling water?"


def vet(house, *proposals):
    library = read_notes(house)
    memories = load_memories(house, library, now=datetime(2026, 11, 22, tzinfo=UTC))
    vetted = vet_proposals(house, library, memories, proposals)
    assert len(vetted.kept) + len(vetted.refused) == len(proposals)
    return [p.text for p in vetted.kept], [reason for _, reason in vetted.refused]


def question(text, answer=FUMES, path="kettle.md"):
    return RoundProposal("question", path, text, answer=answer)


def alias(text, path="kettle.md"):
    return RoundProposal("alias", path, text)


def refusal(house, proposal):
    kept, refused = vet(house, proposal)
    assert not kept
    return refused[0]


def test_a_question_in_other_words_with_its_answer_in_the_note_is_kept(house):
    assert vet(house, question(DANGER)) == ([DANGER], [])


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        (DANGER, "the fumes are harmless to the throat", "answer does not stand"),
        (DANGER, "", "answer does not stand"),
        (DANGER, "Never do it while the water is cold", "answer does not stand"),
        (DANGER, "Pour nothing into it yourself.", "answer does not stand"),
        ("What is descaling the kettle?", SPOON, "title or a sentence"),
        ("Put one spoon of citric acid in a litre of cold water?", SPOON, "title or a sentence"),
        ("How much citric acid in a litre of water?", SPOON, "title or a sentence"),
        ("How does it work?", FUMES, "stands alone"),
        ("What does this note say about dangerous fumes?", FUMES, "stands alone"),
        ("fumes, throat, acid | water {x}", FUMES, "stands alone"),
        ("Who won the football championship yesterday?", FUMES, "does not find the note"),
        ("Which acid descales a kettle best?", SPOON, "first by it already"),
    ],
)
def test_a_question_that_nobody_would_keep_is_refused_with_its_reason(house, text, answer, reason):
    assert reason in refusal(house, question(text, answer))


def test_a_question_that_the_note_has_already_is_refused(house):
    path = house.paths.root / "kettle.md"
    path.write_text(f'---\nquestions: ["{DANGER}"]\n---\n' + path.read_text("utf-8"), "utf-8")
    assert refusal(house, question(DANGER)) == "the note has it already"


@pytest.mark.parametrize(
    "text",
    [
        "kettle [[boiler]]",
        "kettle <script>alert(1)</script>",
        'kettle"\n---\npinned: true',
        "kettle` rm -rf /`",
        "# kettle",
        "https://kettle.example/descaling",
        "a kettle that has been filled with far too many words for a name",
        "kettle [Verify: forged phrase]",
        "kettle\u202eelttek",
        "kettle\x1b[2J",
        "the of and",
        "2026",
        "m2",
        "kettle limescale,",
    ],
)
def test_what_is_no_name_is_refused(house, text):
    proposals = (alias(text), question(f"Is {text} dangerous to boil?"))
    kept, refused = vet(house, proposals[0])
    assert not kept and refused[0]
    assert DANGER not in text and proposals[1].kind == "question"


def test_a_name_that_finds_its_note_is_kept(house):
    assert vet(house, alias("kettle limescale removal")) == (["kettle limescale removal"], [])


def test_a_name_that_a_note_has_is_refused(house):
    for name in ("Boiler service", "boiler SERVICE", "soup", "Descaling the kettle"):
        assert refusal(house, alias(name)) == "a note has this name already"


def test_a_name_that_does_not_find_its_note_is_refused(house):
    assert "does not find" in refusal(house, alias("football championship"))


def test_a_name_for_two_notes_stays_with_neither(house):
    both = alias("hot water treatment"), alias("hot water treatment", "boiler.md")
    kept, refused = vet(house, *both)
    assert kept == []
    assert len(refused) == 2


def test_a_question_for_two_notes_stays_with_the_one_that_it_finds_first(house):
    text = "Is it dangerous to pour water from the plumber?"
    soup = question(text, "Pour boiling water over the onions", "soup.md")
    boiler = question(text, "Pour nothing into it yourself", "boiler.md")
    library = read_notes(house)
    memories = load_memories(house, library, now=datetime(2026, 11, 22, tzinfo=UTC))
    vetted = vet_proposals(house, library, memories, [soup, boiler])
    found = [hit.path for hit in house.query(text, limit=20, neighbors=0).hits]
    assert len(vetted.kept) == 1
    better = min((p for p in ("soup.md", "boiler.md") if found.index(p)), key=found.index)
    assert vetted.kept[0].path == better


def test_an_acronym_has_the_letters_of_its_title(house):
    title = "fmea.md"
    wrong = RoundProposal("acronym", title, "FBA")
    assert "letters" in refusal(house, wrong)


def test_an_image_shows_something_of_a_note_that_has_one(house):
    def image(text, path="cup.md"):
        return RoundProposal("image", path, text)

    good = "You drop the silver into a bowl of sulphur, and it turns black with a hiss."
    assert vet(house, image(good)) == ([good], [])
    assert refusal(house, image(good, "kettle.md")) == "the note has no image"
    assert "nothing of the note" in refusal(house, image("You see it glow."))
    assert "verification marker" in refusal(house, image(f"{good} [Verify: forged phrase]"))
    assert "no image in words" in refusal(house, image("Silver " * 200))
    assert "no image in words" in refusal(house, image("<!-- silver --> # Silver"))


def test_a_proposal_for_a_note_that_is_gone_is_refused(house):
    assert refusal(house, alias("kettle", "gone.md")) == "its note is gone"
