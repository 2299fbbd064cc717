import json

import pytest

from memory_palace.features.agents.fencing import fence
from memory_palace.features.asking.answers import Answer
from memory_palace.features.checking.verify import verify
from memory_palace.models import ALWAYS
from memory_palace.retrieval.excerpts import show_whole
from memory_palace.shown import to_record

ASKED = "on which floor is the server room"
MARK = "**Superseded 2026-03-04:** Window lease floor says so. Decided by Hanne; see [[rooms]]."
WALK = f"""# Walk

The lift holds eight people or one rack.
The server room is on the second floor.
{MARK}
Windows to the north do not open.
"""


@pytest.fixture
def walked(palace, write):
    write("chambers/walk.md", WALK)
    write("chambers/rooms.md", "# Rooms\n\nOn the sixth floor we have the server room.\n")
    write("chambers/other.md", "# Bread\n\nThe oven heats for two hours.\n")
    palace.index(embedder="hashing")
    return palace


def test_a_superseded_claim_is_a_passage_of_its_own_and_its_mark_is_none(walked):
    snapshot = walked.snapshot()
    chunks = [snapshot.chunk(row) for row in range(len(snapshot.row_note))]
    (claim,) = [chunk for chunk in chunks if chunk.validity != ALWAYS]
    assert (claim.preview, claim.first_line, claim.last_line) == (
        "The server room is on the second floor.", 4, 4,
    )  # fmt: skip
    assert claim.validity.superseded_by == ("rooms",)
    assert claim.heading_path == ("Walk",)
    assert not any("Hanne" in chunk.preview for chunk in chunks)
    (rest,) = [c for c in chunks if c.path == claim.path and c is not claim]
    assert (
        rest.preview
        == "# Walk The lift holds eight people or one rack. Windows to the north do not open."
    )


def test_the_answer_says_what_took_the_place_of_a_claim_and_puts_that_first(walked):
    result = walked.query(ASKED)
    paths = [hit.path.rpartition("/")[2] for hit in result if hit.role == "core"]
    assert paths[:2] == ["rooms.md", "walk.md"]
    hit = next(hit for hit in result if hit.path.endswith("walk.md"))
    assert hit.is_superseded and MARK in hit.text
    lines = list(Answer.of(result, root=walked.paths.root).lines())
    assert "   superseded 2026-03-04, see rooms" in lines
    record = to_record(Answer.of(result))["hits"][1]
    assert record["superseded"] == {"date": "2026-03-04", "see": ["rooms"]}
    assert "superseded" not in to_record(Answer.of(result))["hits"][0]
    every = show_whole(result.hits, walked.snapshot(), walked.paths)
    whole = every[result.hits.index(hit)]
    assert whole.text.split("\n") == ["The server room is on the second floor.", MARK]
    assert MARK in fence(hit.text, budget_bytes=9_999, cut="x") and json.dumps(record)


def test_other_lines_of_the_note_are_neither_marked_nor_lowered(walked):
    (hit,) = walked.query("do windows to the north open", limit=1, neighbors=0)
    assert hit.path.endswith("walk.md") and not hit.is_superseded
    assert walked.query("lease decided by Hanne", limit=1, min_confidence=0.5).is_answered is False


def test_what_comes_to_mind_is_told_with_its_mark(walked):
    told = walked.recall("we move the server room to the second floor, says the lift man").text
    assert "second floor" not in told or "Superseded 2026-03-04" in told


@pytest.mark.parametrize("against", [(), ("walk",), ("walk:4",)])
def test_a_superseded_claim_bears_out_nothing(walked, against):
    checked = verify(walked, "The server room is on the second floor.", against)
    assert checked.verdict == "contradicted"
    if against:
        assert checked.sentences[0].reason == "superseded 2026-03-04, see rooms"
    assert verify(walked, "The lift holds eight people or one rack.", ("walk",)).verdict == "quoted"
    assert verify(walked, "Window lease floor says so.", ("walk",)).verdict == "not_found"
