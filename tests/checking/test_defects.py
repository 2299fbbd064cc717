"""What was found wrong with checking an answer, one test each; all failed before issue 17.

Each goes through ``palace verify`` as it is typed, against a note of one paragraph.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from memory_palace import Palace
from tests.running import run_main

Verify: TypeAlias = Callable[..., dict[str, Any]]

BEAM = "The new beam carries three times the load of the old one."
KILN = (
    "The kiln fires for nine hours. Its door is bricked up by hand. Two potters share the shelves."
)
LIGHTS = (
    "Each side light covers 112.5 degrees; together the two side lights cover 225 degrees. "
    "The stern light covers 135 degrees."
)
FERRY = "The harbour master pays the pilot before the ferry leaves."
TANK = (
    "The tank holds 2 litres of water. The trail takes 90 minutes. The mast is 3 kilometres away."
)
MILLS = "The upper mill is larger than the lower mill. Copper conducts better than iron."


@pytest.fixture
def verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Verify:
    """Check an answer against a note, or what stands in one of two, and return the JSON."""

    def run(answer: str, note: str, *more: str, others: str = "") -> dict[str, Any]:
        (tmp_path / "note.md").write_text(f"# Note\n\n{note}\n", "utf-8")
        if others:
            (tmp_path / "others.md").write_text(
                others if others.startswith("---") else f"# Others\n\n{others}\n", "utf-8"
            )
        Palace.init(tmp_path, here=True).index(embedder="hashing")
        where = more or ("--against", "note.md")
        arguments = ("verify", "-C", str(tmp_path), "--text", answer, *where, "--json")
        status, out, errors = run_main(capsys, *arguments)
        assert status == 0, errors
        found: dict[str, Any] = json.loads(out)
        return found

    return run


REFUSED = ("contradicted", "not_found")
ACCEPTED = ("quoted", "supported")


@pytest.mark.parametrize("count", ["nine", "40", "two"])
def test_times_is_a_number_like_another(verify: Verify, count: str) -> None:
    """Any number was accepted before "times"."""
    said = f"The new beam carries {count} times the load of the old one."
    assert verify(said, BEAM)["verdict"] in REFUSED
    assert (
        verify("The new beam carries 3 times the load of the old one.", BEAM)["verdict"] in ACCEPTED
    )


def test_one_invented_sentence_is_not_carried_by_true_ones(verify: Verify) -> None:
    """The answer was as good as the mean of its claims."""
    true = "The kiln fires for nine hours. Its door is bricked up by hand."
    found = verify(f"{true} The glaze is mixed from ash of olive wood.", KILN)
    assert [each["verdict"] for each in found["sentences"]] == ["quoted", "quoted", "not_found"]
    assert found["verdict"] == "not_found"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The stern light covers 135 degrees.", "The stern light covers 225 degrees."),
        ("Each side light covers 112.5 degrees.", "Each side light covers 135 degrees."),
    ],
)
def test_a_number_belongs_to_what_it_counts(verify: Verify, right: str, wrong: str) -> None:
    """A number that stood anywhere in the note was good for anything."""
    assert verify(right, LIGHTS)["verdict"] in ACCEPTED
    assert verify(wrong, LIGHTS)["verdict"] in REFUSED


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ("The tank holds 2000 ml of water.", TANK),
        ("The trail takes an hour and a half.", TANK),
        ("The mast is 3,000 metres away.", TANK),
        ("The lower mill is smaller than the upper mill.", MILLS),
        ("Iron conducts worse than copper.", MILLS),
    ],
)
def test_the_same_in_another_unit_or_turned_round_is_accepted(
    verify: Verify, said: str, note: str
) -> None:
    """Converted units and converse comparisons were refused."""
    assert verify(said, note)["verdict"] in ACCEPTED


def test_the_lines_that_bear_a_sentence_out_are_in_the_json(verify: Verify) -> None:
    """Of several notes nothing said which one bore a claim out."""
    both = ("--against", "note.md", "--against", "others.md")
    said = "The kiln fires for nine hours. The harbour master pays the pilot."
    found = verify(said, KILN, *both, others=FERRY)
    places = [(each["note"], each["first_line"]) for each in found["sentences"]]
    assert places == [("note.md", 3), ("others.md", 3)]


def test_notes_need_not_be_named_and_private_ones_are_not_quoted(verify: Verify) -> None:
    """Only notes that were named by hand could be checked; now the palace searches its own."""
    answer = "The kiln fires for nine hours."
    found = verify(answer, KILN, others=FERRY)
    assert (found["verdict"], found["sentences"][0]["note"]) == ("quoted", "note.md")
    hidden = f"---\nprivate: true\n---\n# Others\n\n{FERRY}"
    found = verify("The harbour master pays the pilot.", KILN, others=hidden)
    assert found["verdict"] == "not_found"
    assert "others.md" not in json.dumps(found) and "pays" not in str(
        found["sentences"][0]["reason"]
    )
