"""Of what says about the same, the note to believe comes first; nothing overturns an answer."""

import pytest

from memory_palace.palace import Palace
from tests.searching import search

RULE = "The gauge at the weir is read every morning at eight by the keeper."
SAME = "The gauge at the weir is read by the keeper every morning at nine."
REST = {
    "bees": "The hives behind the orchard were moved.",
    "boat": "The keeper painted the boat green.",
    "soup": "Nettle soup is cooked with cream.",
}
QUESTION = "when is the gauge at the weir read"


@pytest.fixture
def write(tmp_path):
    """Return what writes two notes that say about the same among others, and opens the palace."""

    def written(first, second, text=SAME):
        palace = Palace.init(tmp_path, here=True)
        for name, body in REST.items():
            (tmp_path / f"{name}.md").write_text(f"---\ndate: 2025-01-01\n---\n{body}\n")
        (tmp_path / "one.md").write_text(f"---\n{first}\n---\n{RULE}\n")
        (tmp_path / "two.md").write_text(f"---\n{second}\n---\n{text}\n")
        palace.index(embedder="hashing")
        return palace

    return written


def order(palace, question=QUESTION, **asked):
    found = palace.query(question, neighbors=0, as_of=asked.pop("as_of", "2026-11-01"), **asked)
    return [hit.title for hit in found if hit.title in ("one", "two")]


@pytest.mark.parametrize("lexical", [False, True])
@pytest.mark.parametrize("profile", ["hybrid", "compound"])
def test_the_newer_of_two_that_say_the_same_comes_first(write, profile, lexical):
    palace = write("date: 2024-03-01", "date: 2026-03-01")
    assert order(palace, profile=profile, lexical=lexical) == ["two", "one"]
    palace = write("date: 2026-03-01", "date: 2024-03-01")
    assert order(palace, profile=profile, lexical=lexical) == ["one", "two"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("priority: low", "priority: high", "two"),
        ("priority: high", "priority: low", "one"),
        ("", "priority: high", "two"),
        ("valid_until: 2025", "valid_until: 2027", "two"),
        ("valid_from: 2027", "valid_until: 2027", "two"),
        ("superseded_by: two\ndate: 2026-09-01", "date: 2020-01-01", "two"),
        ("date: 2020-01-01", "superseded_by: '[[one]]'\ndate: 2026-09-01", "one"),
        ("superseded_by: '[[somewhere else]]'\npriority: high", "priority: low", "two"),
    ],
)
def test_the_more_important_and_what_still_holds_comes_first(write, first, second, expected):
    assert order(write(first, second))[0] == expected


def test_when_a_file_was_copied_makes_no_note_newer_than_one_that_says_its_date(write):
    """A checkout dates all files that say nothing to today."""
    undated = order(write("tags: [a]", "tags: [a]"), as_of="2030-01-01")
    assert order(write("date: 2025-03-01", "tags: [a]"), as_of="2030-01-01") == undated
    assert order(write("tags: [a]", "date: 2025-03-01"), as_of="2030-01-01") == undated
    assert order(write("date: 2025-03-01\npriority: low", "priority: high"))[0] == "two"


def test_a_question_of_a_time_is_answered_by_what_held_then(write):
    palace = write(
        "date: 2024-02-01\nvalid_until: 2025-06-30", "date: 2024-02-01\nvalid_from: 2025-07-01"
    )
    assert order(palace)[0] == "two"
    assert order(palace, f"{QUESTION} in May 2025")[0] == "one"
    assert order(palace, as_of="2025-05-01")[0] == "one"


def test_what_took_a_place_later_has_not_taken_it_yet(write):
    palace = write(
        "date: 2024-02-01\nsuperseded_by: two\nsuperseded_at: 2026-01-01",
        "created: 2024-01-01\ndate: 2024-01-01",
    )
    assert order(palace)[0] == "two"
    assert order(palace, as_of="2025-05-01")[0] == "one"


def test_the_heir_of_a_note_may_say_it_in_other_words_but_has_to_answer(write):
    heir = "At nine o'clock somebody notes how high the weir stands, from the gauge."
    assert order(write("superseded_by: two", "", heir))[0] == "two"
    for other in ("Pumpkins and beans.", "Somebody painted the weir green, from top to bottom."):
        assert order(write("superseded_by: two", "", other))[0] == "one"


@pytest.mark.parametrize(("link", "expected"), [("", "two"), (" See [[one]].", "one")])
def test_a_note_that_links_to_another_says_something_besides(write, link, expected):
    book = f"The keeper reads the gauge at the weir and writes it into the book.{link}"
    assert order(write("date: 2024-03-01", "date: 2026-03-01", book))[0] == expected


def test_without_the_gate_the_formula_is_literal(write):
    palace = write("date: 2026-10-30\npriority: high", "date: 2020-01-01\nsuperseded_by: one")
    for hit in palace.query(QUESTION, profile="compound", gate=False):
        assert not hit.preferred
        assert [part.weight for part in hit.contributions] == [0.5, 0.25, 0.25]


def test_what_is_moved_up_says_why_and_its_parts_add_up(write):
    palace = write("date: 2024-03-01", "date: 2026-03-01", f"{SAME} Nobody else does.")
    result = palace.query(QUESTION, neighbors=0)
    first, second = result[0], result[1]
    assert first.preferred == "newer than one.md, which says about the same"
    assert not second.preferred
    assert first.score == second.score > 0
    [line] = [part for part in first.contributions if part.signal == "preferred"]
    assert line.contribution > 0
    for hit in result:
        assert hit.score == round(sum(part.contribution for part in hit.contributions), 6)


def test_the_last_change_of_a_file_decides_by_the_day(write, tmp_path):
    palace = write("", "")
    assert all(not hit.preferred for hit in palace.query(QUESTION))


def test_a_fresh_important_note_about_something_else_stays_below_the_answer(build, ask, passage):
    notes = [
        passage("palace/answer.md", [0.7], age_days=900, priority="low"),
        passage("palace/noise.md", [0.3], age_days=0, priority="high"),
    ]
    snapshot = build(notes)
    assert search(ask(), snapshot).hits[0].path == "palace/answer.md"
    assert search(ask(), snapshot, gate=False).hits[0].path == "palace/noise.md"


def test_metadata_adds_nothing_to_what_a_passage_answers(build, ask, passage):
    notes = [passage("palace/a.md", [0.7]), passage("palace/b.md", [0.3], priority="high")]
    for hit, score in zip(search(ask(), build(notes)).hits, (0.35, 0.15), strict=True):
        assert hit.score == score
        assert [c.weight for c in hit.contributions] == [0.5, 0.0, 0.0]


def test_a_listing_is_ordered_by_metadata_alone(build, ask, passage):
    found = search(ask("", type="project"), build([passage("palace/a.md", priority="high")]))
    assert found.hits[0].score == 0.625  # 0.5 * 0.5 + 0.25 * 0.5 + 0.25 * 1.0


def test_what_no_longer_holds_needs_less_likeness_to_stand_back(write, monkeypatch):
    monkeypatch.setattr("memory_palace.retrieval.rank.ALIKE", 99.0)
    newer = write("date: 2020-01-01", "date: 2026-01-01")
    assert newer.query(QUESTION, neighbors=0)[0].path == "one.md"
    ended = write("valid_until: 2024-01-01", "date: 2020-01-01")
    assert ended.query(QUESTION, neighbors=0)[0].path == "two.md"
