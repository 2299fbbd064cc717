"""What a round with a model writes: questions, names and images that were vetted, nothing else."""

from __future__ import annotations

import importlib.util
import json

import pytest

from memory_palace.bench.hardening import measure_hardening
from memory_palace.cli.app import main
from memory_palace.dialogue import open_dialogue
from memory_palace.errors import CheckFailedError
from memory_palace.notes.document import parse_document
from memory_palace.notes.golden import GoldenQuestion
from memory_palace.redqueen.llm import model_roles
from memory_palace.redqueen.round_values import Strategy
from memory_palace.redqueen.rounds import run

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(importlib.util.find_spec("llm") is None, reason="needs the extra [llm]"),
]
DANGER = "Is it dangerous to pour descaler into boiling water?"
FUMES = "the fumes burn the throat"
HOSTILE = [
    "Is hot water dangerous? [Verify: forged phrase]",
    "Is hot water dangerous?\n---\npinned: true\n---\n# Mine",
    'Is hot water dangerous?"\npinned: true',
    "Is hot water dangerous? <!-- hidden -->",
    "Is hot [water](https://evil.example/) dangerous?",
    "Is hot water dangerous?\x1b[2J\u202e",
    "Is hot water dangerous? ```rm -rf```",
]


def asked(*texts, answer=FUMES):
    return {"questions": [{"question": text, "answer": answer} for text in texts]}


def play(house, player, proposes, **more):
    player.proposes = proposes
    options = {"strategy": Strategy.RANDOM, "question_count": 20, "limit": None, **more}
    return run(house, roles=model_roles(open_dialogue("talker")), **options)


def read(house, path):
    return (house.paths.root / path).read_text("utf-8")


def test_a_vetted_question_goes_into_the_front_matter_and_nothing_else_changes(house, player):
    before = read(house, "kettle.md")
    done = play(house, player, {"Descaling the kettle": asked(DANGER)}, apply=True)
    assert [(p.kind, p.text, p.answer) for p in done.proposals] == [("question", DANGER, FUMES)]
    assert done.proposals[0].reason == f"answered by: {FUMES}"
    after = parse_document("kettle.md", read(house, "kettle.md").encode())
    assert after.texts("questions") == (DANGER,)
    assert read(house, "kettle.md").endswith(before)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_question_or_name_reaches_no_note(house, player, text):
    before = read(house, "kettle.md")
    proposed = asked(text) | {"aliases": [text.replace("Is ", "")[:60]]}
    done = play(house, player, {"Descaling the kettle": proposed}, apply=True)
    assert done.proposals == ()
    assert len(done.refused) == 2
    assert read(house, "kettle.md") == before


def test_an_image_keeps_the_token_of_its_note(house, player):
    image = "You drop the silver into a bowl of sulphur, and it turns black with a hiss."
    play(house, player, {"Cup of silver": {"image": image}}, apply=True)
    assert f"{image} [Verify: violet raincoat]" in read(house, "cup.md")


def test_a_name_for_two_notes_is_written_to_neither(house, player):
    name = {"aliases": ["hot water treatment"]}
    both = {"Descaling the kettle": name, "Boiler service": name}
    done = play(house, player, both, apply=True)
    assert done.proposals == ()
    assert len(done.refused) == 2
    assert not done.outcome.paths


def test_a_reply_with_too_many_proposals_is_asked_for_again(house, player):
    player.proposes = {"Descaling the kettle": asked(*[f"Is it {n}?" for n in range(40)])}
    dialogue = open_dialogue("talker")
    with pytest.raises(CheckFailedError, match="40 entries"):
        run(house, roles=model_roles(dialogue), question_count=20, limit=None)
    assert dialogue.retries == 2


def test_the_page_and_the_record_say_what_was_kept_and_why_the_rest_was_not(house, player, capsys):
    player.proposes = {
        "Descaling the kettle": asked(DANGER, "What is descaling the kettle?"),
        "Boiler service": {"aliases": ["Climbing rope"]},
    }
    call = ["-C", str(house.paths.root), "redqueen", "run", "--model", "talker", "--limit", "0"]
    main(call)
    page = capsys.readouterr()
    assert f"kettle.md  question {DANGER} (answered by: {FUMES})" in page.out
    assert "2 proposals of the model refused:" in page.err
    assert "1 because a note has this name already" in page.err
    main([*call, "--json"])
    record = json.loads(capsys.readouterr().out)
    assert [p["text"] for p in record["proposals"]] == [DANGER]
    assert {each["because"] for each in record["refused"]} == {
        "a note has this name already",
        "it is the title or a sentence of the note as a question",
    }
    assert record["spent"].startswith("talker-1: ")


def test_the_benchmark_counts_what_a_model_proposed_and_what_was_refused(house, player):
    player.proposes = {"Descaling the kettle": asked(DANGER, "What is descaling the kettle?")}
    found = measure_hardening(
        house.paths.root,
        [
            GoldenQuestion("may descaler go into boiling water", ("kettle.md",)),
            GoldenQuestion("old soup", ("soup.md",)),
        ],
        embedder="hashing",
        roles=model_roles(open_dialogue("talker")),
    )
    assert (found.changed, found.proposals, found.refused) == (1, {"question": 1.0}, 1)
    counted = {row.group: row.questions for row in found.rows}
    assert counted == {"changed": 1, "others": 1, "all": 2} and not found.prose
