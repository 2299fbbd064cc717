"""What of an answer is checked: its sentences, not what stands around them."""

import pytest

from memory_palace.errors import UsageError
from memory_palace.features.checking.checker import Passage, Verdict, check_answer, worst_verdict
from memory_palace.features.checking.wording import MOST_CHARACTERS, MOST_WORDS, find_sentences

NOTE = """# Ports

The service listens on port `8080` with the flag `--fast`. It needs $2f+1$ votes.

A day pass costs $40 and the boat $25. The mill closed in 1911.
"""


def _verdict(answer: str) -> str:
    return worst_verdict(check_answer(answer, [Passage("ports.md", 1, 7, NOTE)]))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The service listens on port `8080`.", "The service listens on port `9090`."),
        ("The service listens on port 8080.", "The service listens on port 9090."),
        ("A day pass costs $40 and the boat $25.", "A day pass costs $70 and the boat $25."),
        ("It needs $2f+1$ votes.", "It needs $5f+1$ votes."),
    ],
)
def test_code_and_formulas_in_a_line_count(right: str, wrong: str) -> None:
    """Before, what stood in backticks or between dollars was left out on both sides."""
    assert _verdict(right) == "quoted"
    assert _verdict(wrong) in ("contradicted", "not_found")


@pytest.mark.parametrize(
    "answer",
    [
        "The mill closed in 1911 [3].",
        "The mill closed in 1911 [2, 4-6].",
        "The mill closed in 1911 [7](https://example.org/12).",
        "The mill closed in 1911.[^9]\n\n[^9]: The book of the mills of 1930, page 5.",
        "The mill closed in 1911 (ports.md:7).",
        "## History of the mills\n\nThe mill closed in 1911.",
        "Two notes say this about the mills of the valley:\n\n1. The mill closed in 1911.",
        "| Building | Year of closing |\n|:---|---:|\n| The mill closed | 1911 |",
    ],
)
def test_sources_titles_and_heads_of_tables_claim_nothing(answer: str) -> None:
    assert _verdict(answer) == "quoted"


def test_a_heading_or_a_row_that_says_something_is_checked() -> None:
    assert _verdict("## The mill closed in 1914") == "contradicted"
    row = "| Mill | Closed |\n|---|---|\n| The mill closed | 1914 |"
    assert _verdict(row) in ("contradicted", "not_found")


def test_links_and_brackets_that_are_no_citations_stay() -> None:
    said = "See [[2020]] and the [mill of 1911](mill.md) on the [5th] of May."
    assert [claim.text for claim in find_sentences(said)] == [
        "See 2020 and the mill of 1911 on the [5th] of May."
    ]


def test_an_answer_too_long_to_check_is_refused() -> None:
    with pytest.raises(UsageError, match="20,001 characters"):
        _verdict("x" * (MOST_CHARACTERS + 1))


def test_another_sentence_clears_a_difference_only_where_it_says_the_thing_itself() -> None:
    stuck = Passage("gate.md", 1, 1, "A thread makes the bucket stick at half.")
    apart = Passage("mast.md", 1, 1, "Tap the mast: a bucket that tips once was stuck.")
    wrong, right = "The bucket sticks at a third.", "The bucket sticks at half."
    assert worst_verdict(check_answer(wrong, [stuck, apart])) == Verdict.CONTRADICTED
    assert worst_verdict(check_answer(right, [apart, stuck])) in (Verdict.QUOTED, Verdict.SUPPORTED)
    third = Passage("other.md", 1, 1, "Once the bucket stuck at a third.")
    assert worst_verdict(check_answer(wrong, [stuck, third])) in (Verdict.QUOTED, Verdict.SUPPORTED)


def test_a_sentence_without_end_is_compared_in_pieces() -> None:
    pieces = find_sentences("mill gate " * 300)
    assert [len(piece.text.split()) for piece in pieces] == [MOST_WORDS] * 5


def test_what_is_shown_of_a_long_line_is_the_sentence() -> None:
    """Before, it was the line, of which the screen has room for the beginning."""
    (check,) = check_answer("The mill closed in 1911.", [Passage("ports.md", 1, 7, NOTE)])
    assert check.passage is not None
    assert check.passage.text == "The mill closed in 1911."
