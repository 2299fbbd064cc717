"""No step of elimination takes a golden question's answer away."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from writing_notes import read_state, write_notes

from memory_palace.features.metabolism.cycle import eliminate, take_report
from memory_palace.notes.usage import record_usage
from memory_palace.palace import Palace

TODAY = date(2026, 11, 21)
OLD = TODAY - timedelta(days=100)
QUESTION = "how high is the mast at the saddle"
MAST = "The mast at the saddle is four metres high."
LOSER, HEIR = "reflection_wing/principles/mast.md", "reflection_wing/principles/pole.md"


def write(palace, path, text, **fields):
    head = "".join(f"{key}: {value}\n" for key, value in fields.items())
    note = f"---\n{head}---\n# {Path(path).stem}\n\n{text}\n"
    write_notes(palace.paths.notes, {path: note})


@pytest.fixture
def palace(tmp_path):
    here = Palace.init(tmp_path)
    for number, thing in enumerate(["roof", "stove", "door", "ladder", "lamp", "bell", "well"]):
        write(here, f"chambers/{thing}.md", f"The {thing} was mended {number} times in spring.")
    for days in range(200, -1, -25):
        moment = datetime(2026, 11, 21, tzinfo=UTC) - timedelta(days=days)
        record_usage(here.paths.logs, "opened", ["palace/chambers/roof.md"], now=moment)
    return here


def prepare(palace, question=QUESTION, note=LOSER):
    palace.index(embedder="hashing")
    palace.golden.add(question, f"palace/{note}")
    assert palace.golden.check()[0].rank


def run(palace):
    """Return what is held, and whether the golden question is answered after a run."""
    held = eliminate(palace, apply=True, today=TODAY).held
    (asked,) = palace.golden.check()
    return list(held), asked.rank is not None


def test_a_superseded_note_stays_while_its_heir_does_not_answer_the_question(palace):
    write(palace, LOSER, MAST, superseded_by=f"palace/{HEIR}")
    write(palace, HEIR, "Poles stand in concrete.")
    prepare(palace)
    before = read_state(palace.paths)
    (found,) = take_report(palace, today=TODAY).proposals
    assert (found.action, found.held) == ("supersede", f"{QUESTION!r} would lose its answer")
    shown = eliminate(palace, apply=False, today=TODAY)
    assert not shown.diff and shown.held == (f"supersede palace/{LOSER}: {found.held}",)
    assert run(palace) == ([f"supersede palace/{LOSER}: {found.held}"], True)
    assert read_state(palace.paths) == before
    write(palace, HEIR, "The mast at the saddle is six metres high.")
    palace.index()
    assert run(palace) == ([], True)
    assert not (palace.paths.notes / LOSER).exists()


def test_the_step_that_takes_an_answer_away_is_held_and_the_others_are_done(palace):
    write(palace, LOSER, MAST, superseded_by=f"palace/{HEIR}")
    write(palace, HEIR, "Poles stand in concrete.")
    write(palace, "chambers/bench.md", "Oak.", superseded_by="palace/chambers/roof.md")
    prepare(palace)
    held, is_answered = run(palace)
    assert len(held) == 1 and is_answered
    assert not (palace.paths.notes / "chambers/bench.md").exists()


def test_a_note_that_is_opened_as_a_conflict_takes_no_answer_away(palace):
    """What quotes two notes is nearer to the question than what answers it."""
    write(palace, "chambers/key.md", "Under the stone. Once it was in the salt.")
    for number in range(2):
        write(palace, f"chambers/key {number}.md", "Where is the key of the hut? Where, where?")
    rule = "Where the key of the hut is, where is the key of the hut, "
    write(palace, LOSER, f"## Principle\n\n{rule}tell.", date=TODAY)
    write(palace, HEIR, f"## Principle\n\n{rule}never tell.", date=TODAY)
    prepare(palace, "where is the key of the hut", "chambers/key.md")
    assert palace.golden.check()[0].rank == 5
    (found,) = take_report(palace, today=TODAY).proposals
    assert found.action == "contradiction" and "would lose its answer" in found.held
    assert run(palace)[1]


def test_without_an_index_nothing_is_done_that_cannot_be_asked(palace):
    write(palace, LOSER, MAST, superseded_by=f"palace/{HEIR}")
    write(palace, HEIR, MAST)
    prepare(palace)
    palace.paths.commit.unlink()
    held = eliminate(palace, apply=True, today=TODAY).held
    assert "cannot be asked without an index" in held[0]
    assert (palace.paths.notes / LOSER).exists()
