"""The statements that `palace verify` is measured with, and what is counted of them."""

from pathlib import Path

from benchmarks.verifying import (
    RIGHT,
    Statement,
    count_kinds,
    measure_auc,
    score_alone,
    score_words,
)
from memory_palace.features.checking.checker import Verdict


def state(text: str, label: str, root: Path = Path()) -> Statement:
    return Statement(text, root, "a.md", label, "unit", "balanced")


def test_shares_are_counted_by_kind() -> None:
    three = [state("x", "wrong")] * 3
    (row,) = count_kinds("s", three, [Verdict.QUOTED, Verdict.CONTRADICTED, Verdict.NOT_FOUND])
    assert (row.statements, row.accepted, row.contradicted, row.not_found) == (
        3,
        0.333,
        0.333,
        0.333,
    )


def test_a_statement_alone_tells_what_its_words_tell() -> None:
    """Words that only right statements have are found; where both have the same, half is."""
    told = [state(f"{word} {n}", word) for n in range(20) for word in (RIGHT, "wrong")]
    assert measure_auc(score_alone(told), told) == 1
    alike = [state(f"same {n}", label) for n in range(20) for label in (RIGHT, "wrong")]
    assert abs(measure_auc(score_alone(alike), alike) - 0.5) < 0.1


def test_a_copy_has_all_its_words_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe gauge drifts in frost. Nobody climbs the mast.\n")
    copied = state("The gauge drifts in frost.", RIGHT, tmp_path)
    other = state("The gauge climbs the mast.", "wrong", tmp_path)
    one, two = score_words([copied, other])
    assert one == 1 and two < 1
