"""From words to passages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from memory_palace.anchors.lookup import Switches
from memory_palace.models import Filters
from memory_palace.palace import Palace
from memory_palace.retrieval.anchored import look_up_anchors

Write = Callable[[str, str], Path]


def paths(palace: Palace, text: str) -> list[str]:
    return [hit.chunk.path for hit in look_up_anchors(palace.anchors, text).passages]


def test_a_term_in_the_question_leads_to_its_passage(palace: Palace) -> None:
    palace.anchors.build()
    answer = look_up_anchors(palace.anchors, "can we talk about ANTENNA MASTS?")
    assert answer.path == "anchors"
    assert ("antenna mast", "lexical") in {(a.lower(), how) for a, how, _ in answer.fired}
    assert answer.passages[0].chunk.path == "palace/project_rooms/radio/plan.md"
    assert answer.passages[0].source == "project_rooms"


def test_an_alias_leads_where_its_term_does(palace: Palace, write: Write) -> None:
    write("grand_hall/anchors.md", "# Anchors\n\n- Tipping bucket: Kippwaage\n")
    palace.index()
    palace.anchors.build()
    assert "palace/project_rooms/rain/gauge.md" in paths(palace, "Where is the Kippwaage")


def test_a_pronoun_stands_for_the_project_with_an_open_card(palace: Palace, write: Write) -> None:
    write("dispatch_corridor/active/card.md", "# Fix it\n\nSee [[plan]].\n")
    palace.index()
    palace.anchors.build()
    answer = look_up_anchors(palace.anchors, "how is our work going", switches=_lexical())
    assert answer.path == "pronoun"
    assert {hit.chunk.path for hit in answer.passages} == {"palace/project_rooms/radio/plan.md"}


def test_a_pronoun_adds_nothing_where_an_anchor_fired(palace: Palace) -> None:
    palace.anchors.build()
    assert (
        look_up_anchors(palace.anchors, "our antenna mast", switches=_lexical()).path == "anchors"
    )


def test_without_any_anchor_dense_search_answers(palace: Palace) -> None:
    palace.anchors.build()
    assert look_up_anchors(palace.anchors, "zzz qqq", switches=_lexical()).path == "dense"
    result = palace.query("zzz qqq", profile="anchors", neighbors=0)
    assert result.anchors is not None and result.anchors.path == "dense"


def test_scores_of_the_profile_are_the_sum_of_their_parts(palace: Palace) -> None:
    palace.anchors.build()
    result = palace.query("tipping bucket", profile="anchors", neighbors=0)
    assert result.anchors is not None and result.anchors.path == "anchors"
    assert result.hits
    for hit in result.hits:
        assert [part.signal for part in hit.contributions] == ["anchor", "semantic"]
        assert hit.score == pytest.approx(sum(p.contribution for p in hit.contributions), abs=1e-9)


def test_filters_come_before_the_cap_on_passages(
    tmp_path: Path, palace: Palace, write: Write
) -> None:
    for number in range(40):
        write(
            f"chambers/wren/n{number}.md",
            f"# Day {number}\n\nThe **tipping bucket** again {number}.\n",
        )
    palace.index()
    palace.anchors.build()
    filters = Filters(room="reflection_wing")
    result = palace.query("tipping bucket", profile="anchors", filters=filters, neighbors=0)
    assert [hit.path for hit in result.hits] == ["palace/reflection_wing/review.md"]


def test_asking_twice_gives_the_same_scores_and_changes_no_file(palace: Palace) -> None:
    """H6: scores of a question must not be kept in the index."""
    palace.anchors.build()
    before = {p.name: p.read_bytes() for p in palace.paths.index.iterdir()}
    first = look_up_anchors(palace.anchors, "tipping bucket")
    look_up_anchors(palace.anchors, "referee reports and antenna mast")
    assert look_up_anchors(palace.anchors, "tipping bucket") == first
    assert {p.name: p.read_bytes() for p in palace.paths.index.iterdir()} == before


def test_every_row_of_the_matrix_has_its_anchor(palace: Palace) -> None:
    """H1, H2: anchors without passages stay in the vocabulary, aligned with their vectors."""
    palace.anchors.build(theta=1.0)
    book = palace.anchors.book(palace.snapshot())
    assert len(book.anchors) == len(book.matrix) == len(book.starts) - 1
    embedder = palace.embedder()
    made = embedder.embed_passages([anchor.display for anchor in book.anchors])
    assert np.allclose(book.matrix, made, atol=1e-6)


def test_one_note_may_answer_with_several_passages(palace: Palace, write: Write) -> None:
    """H4: passages are merged by passage, not by note."""
    words = " ".join(f"word{n}" for n in range(300))
    write(
        "chambers/wren/long.md",
        f"# Long\n\n## Kiln one\n\n**kiln** {words}\n\n## Kiln two\n\nkiln {words} x\n",
    )
    palace.index()
    palace.anchors.build()
    lines = [
        h.chunk.first_line
        for h in look_up_anchors(palace.anchors, "the kiln").passages
        if "long" in h.chunk.path
    ]
    assert len(set(lines)) > 1


def _lexical() -> Switches:
    return Switches(semantic=False)
