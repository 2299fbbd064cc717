"""What is said of questions that one note answers, and of those that none does, by other hands.

Two palaces of 30 notes and, where it is at hand, a garden of 792 with two sets of questions. The
writers saw neither ranking nor code; choir and the second garden set were read when everything was
decided.
"""

import json
import shutil
from pathlib import Path

import pytest

from memory_palace import Palace
from memory_palace.embedding import registry
from memory_palace.retrieval.search import ANSWERED

PEOPLE = Path(__file__).parents[1] / "people"
GARDEN = Path(__file__).parents[3] / "shared/data/vaults/jackyzha0-garden"
SETS = {
    name: list(map(json.loads, (PEOPLE / f"answers_{name}.jsonl").read_text("utf-8").splitlines()))
    for name in ("vets", "choir", "garden_first", "garden_second")
}

pytestmark = pytest.mark.skipif(
    not registry.is_available("minilm"), reason="run `palace models fetch minilm`"
)


def ask(palace: Palace, questions: list[dict]) -> dict[str, int]:
    counted = dict.fromkeys(("first", "refused", "literal", "answered", "unanswerable"), 0)
    for asked in questions:
        found = palace.query(asked["question"])
        sure = [hit.confidence for hit in found if hit.role == "core"]
        assert sure == sorted(sure, reverse=True)
        assert found.is_answered == (sure[0] >= ANSWERED)
        if asked["notes"]:
            counted["literal"] += 1
            counted["first"] += found[0].path in asked["notes"]
            counted["refused"] += not (found.is_answered or found.may_answer)
        else:
            counted["unanswerable"] += 1
            counted["answered"] += found.is_answered
    print(counted)  # noqa: T201 - shown with -s
    return counted


@pytest.mark.long
def test_thirty_notes_answer_what_they_say_and_seldom_what_they_do_not(tmp_path):
    whole: dict[str, int] = {}
    for name in ("vets", "choir"):
        folder = shutil.copytree(PEOPLE / f"notes_{name}", tmp_path / name)
        palace = Palace.init(folder, here=True)
        palace.index(embedder="minilm")
        for what, count in ask(palace, SETS[name]).items():
            whole[what] = whole.get(what, 0) + count
    assert whole["first"] >= 0.95 * whole["literal"]
    assert whole["refused"] <= 0.03 * whole["literal"]
    assert whole["answered"] <= 0.10 * whole["unanswerable"]


@pytest.mark.long
@pytest.mark.skipif(not GARDEN.exists(), reason="the garden is not at hand")
def test_a_garden_answers_what_it_says(tmp_path):
    folder = shutil.copytree(GARDEN, tmp_path / "garden")
    palace = Palace.init(folder, here=True)
    palace.index(embedder="minilm")
    found = [ask(palace, SETS[name]) for name in ("garden_first", "garden_second")]
    assert all(one["first"] >= 0.95 * one["literal"] for one in found)
    assert all(one["refused"] <= 0.03 * one["literal"] for one in found)
    # .10 is aimed at: the second writer's questions about a note's very matter reach .17
    assert sum(one["answered"] for one in found) <= 0.13 * 120
