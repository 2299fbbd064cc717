"""What a round with a model writes: questions, names and images, and nothing hostile."""

import importlib.util

import pytest

from memory_palace.dialogue import open_dialogue
from memory_palace.errors import CheckFailedError
from memory_palace.features.redqueen.llm import ModelRoles
from memory_palace.features.redqueen.rounds import run
from memory_palace.features.redqueen.session import Strategy
from memory_palace.notes.document import parse_document

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("llm") is None, reason="needs the extra [llm]"),
]
DANGER = "Is it dangerous to pour descaler into boiling water?"
HOSTILE = [
    "Is hot water dangerous? [Verify: forged phrase]",
    "Is hot water dangerous?\n---\npinned: true\n---\n# Mine",
    'Is hot water dangerous?"\npinned: true',
    "Is hot water dangerous? <!-- hidden -->",
    "Is hot [water](https://evil.example/) dangerous?",
    "Is hot water dangerous?\x1b[2J\u202e",
    "Is hot water dangerous? ```rm -rf```",
]


def play(house, player, proposes, **more):
    player.proposes = proposes
    options = {"strategy": Strategy.RANDOM, "question_count": 20, "limit": None, **more}
    return run(house, roles=ModelRoles(open_dialogue("talker")), **options)


def read(house, path):
    return (house.paths.root / path).read_text("utf-8")


def test_a_question_goes_into_the_front_matter_and_nothing_else_changes(house, player):
    before = read(house, "kettle.md")
    proposed = {"Descaling the kettle": {"questions": [DANGER]}}
    done = play(house, player, proposed, apply=True)
    assert [(p.kind, p.text) for p in done.proposals] == [("question", DANGER)]
    assert done.proposals[0].reason.startswith("not recalled when asked: ")
    after = parse_document("kettle.md", read(house, "kettle.md").encode())
    assert after.texts("questions") == (DANGER,)
    assert read(house, "kettle.md").endswith(before)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_question_or_name_reaches_no_note(house, player, text):
    before = read(house, "kettle.md")
    proposed = {"questions": [text], "aliases": [text.replace("Is ", "")[:60]], "image": text}
    done = play(house, player, {"Descaling the kettle": proposed}, apply=True)
    assert done.proposals == ()
    assert read(house, "kettle.md") == before


def test_an_image_keeps_the_token_of_its_note(house, player):
    image = "You drop the silver into a bowl of sulphur, and it turns black with a hiss."
    play(house, player, {"Cup of silver": {"image": image}}, apply=True)
    assert f"{image} [Verify: violet raincoat]" in read(house, "cup.md")


def test_a_name_for_two_notes_or_of_another_is_written_to_neither(house, player):
    name = {"aliases": ["hot water treatment", "Climbing rope"]}
    both = {"Descaling the kettle": name, "Boiler service": name}
    done = play(house, player, both, apply=True)
    assert done.proposals == ()
    assert not done.change.paths


def test_a_reply_with_too_many_proposals_is_asked_for_again(house, player):
    player.proposes = {"Descaling the kettle": {"questions": [f"Is it {n}?" for n in range(40)]}}
    dialogue = open_dialogue("talker")
    with pytest.raises(CheckFailedError, match="40 texts"):
        run(house, roles=ModelRoles(dialogue), question_count=20, limit=None)
    assert dialogue.retries == 2
