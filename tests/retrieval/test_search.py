"""What is found, folded, filtered, ordered, linked and cut."""

import pytest

from memory_palace.errors import UsageError
from memory_palace.graph.resolve import NearLinks
from memory_palace.models import ParsedQuery
from tests.searching import search

DAY = 86_400.0


def paths(found):
    return [hit.path for hit in found.hits]


def test_a_note_is_found_once_by_its_best_passage(build, ask, passage):
    snapshot = build([passage("palace/a.md", [0.3, 0.8, 0.5]), passage("palace/b.md", [0.6])])
    first, second = search(ask(), snapshot).hits
    assert (first.path, first.chunk.first_line, first.chunk.last_line) == ("palace/a.md", 11, 19)
    assert first.snippet == "palace/a.md passage 1"
    assert second.path == "palace/b.md"


def test_the_first_of_equally_good_passages_is_shown(build, ask, passage):
    [hit] = search(ask(), build([passage("palace/a.md", [0.5, 0.5])])).hits
    assert hit.chunk.first_line == 1


def test_ties_are_broken_by_path(build, ask, passage):
    snapshot = build([passage("palace/b.md"), passage("palace/c.md")], [passage("palace/a.md")])
    assert paths(search(ask(), snapshot)) == ["palace/a.md", "palace/b.md", "palace/c.md"]


def test_many_copies_do_not_push_other_notes_out_of_the_answer(build, ask, passage):
    copies = [passage(f"palace/{n:03}.md", [0.9], texts=["the same"]) for n in range(200)]
    others = [passage(f"palace/x{n}.md", [0.5 - n / 100]) for n in range(4)]
    found = search(ask(), build([*copies, *others]))
    assert paths(found) == ["palace/000.md", *(f"palace/x{n}.md" for n in range(4))]
    assert found.hits[0].folded == 199


def test_one_long_note_does_not_push_other_notes_out_of_the_answer(build, ask, passage):
    long = passage("palace/long.md", [0.9] * 300)
    found = search(ask(), build([long, passage("palace/short.md", [0.2])]))
    assert paths(found) == ["palace/long.md", "palace/short.md"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"type": "TASK"}, ["palace/dispatch_corridor/t.md"]),
        ({"priority": "high"}, ["palace/project_rooms/p.md"]),
        ({"room": "project_rooms"}, ["palace/project_rooms/p.md", "palace/project_rooms/q.md"]),
        ({"type": "project", "priority": "low"}, ["palace/project_rooms/q.md"]),
        ({"type": "nothing"}, []),
    ],
)
def test_filters_are_exact_and_come_before_ranking(build, ask, passage, filters, expected):
    snapshot = build(
        [
            passage("palace/dispatch_corridor/t.md", [0.1], type="task"),
            passage("palace/project_rooms/p.md", [0.9], priority="high"),
            passage("palace/project_rooms/q.md", [0.8], priority="low"),
        ]
    )
    assert paths(search(ask(**filters), snapshot, limit=1)) == expected[:1]
    assert paths(search(ask(**filters), snapshot)) == expected


def test_dates_filter_inclusively_on_both_sides(build, ask, passage):
    notes = [passage(f"palace/{age}.md", age_days=age) for age in (1, 2, 3, 4)]
    now = ask().as_of
    query = ask(since=now - 3 * DAY, until=now - 2 * DAY)
    assert sorted(paths(search(query, build(notes)))) == ["palace/2.md", "palace/3.md"]


def test_a_question_of_nothing_is_refused_and_a_filter_alone_lists(build, ask, passage):
    notes = [
        passage("palace/old.md", age_days=100),
        passage("palace/new.md", age_days=1),
        passage("palace/today.md", age_days=0),
    ]
    with pytest.raises(UsageError, match="palace query"):
        search(ask(""), build(notes))
    found = search(ask("", type="project"), build(notes))
    assert paths(found) == ["palace/today.md", "palace/new.md", "palace/old.md"]
    assert {hit.contributions[0].value for hit in found.hits} == {0.5}


def test_a_listing_shows_copies_each_by_itself_and_its_first_passage(build, ask, passage):
    notes = [passage(f"palace/{n}.md", [0.1, 0.2], texts=["one", "two"]) for n in range(3)]
    found = search(ask("", type="project"), build(notes))
    assert [(hit.snippet, hit.folded) for hit in found.hits] == [("one", 0)] * 3


def test_a_question_without_a_vector_is_answered_by_its_words(build, passage):
    snapshot = build(
        [passage("palace/a.md", texts=["frost"]), passage("palace/b.md", texts=["sun"])]
    )
    found = search(ParsedQuery("frost", 0.0), snapshot, profile="hybrid")
    assert paths(found) == ["palace/a.md"]
    assert paths(search(ParsedQuery("frost", 0.0), snapshot, profile="raw")) == []


def test_private_notes_are_neither_found_nor_listed(build, ask, passage, flags):
    snapshot = build([passage("palace/a.md", flags=flags["private"]), passage("palace/b.md")])
    assert paths(search(ask(), snapshot)) == ["palace/b.md"]
    assert paths(search(ask("", type="project"), snapshot)) == ["palace/b.md"]


def test_an_empty_index_answers_nothing(build, ask):
    assert search(ask(), build()).hits == []
    assert search(ask("", type="project"), build()).hits == []


def test_an_unknown_room_is_an_error_and_no_empty_answer(build, ask, passage):
    with pytest.raises(UsageError, match="did you mean 'chambers'"):
        search(ask(room="chamber"), build([passage("palace/a.md")]))


def test_an_answer_of_no_notes_is_refused(build, ask, passage):
    with pytest.raises(UsageError, match="at least 1"):
        search(ask(), build([passage("palace/a.md")]), limit=0)


@pytest.fixture
def linked(build, passage, flags):
    """A hit that links to three notes, one of them weak, and is linked by a fourth."""
    return build(
        [
            passage("palace/hit.md", [0.9], targets=["weak", "good", "task", "secret", "cold"]),
            passage("palace/weak.md", [0.1]),
            passage("palace/good.md", [0.3]),
            passage("palace/task.md", [0.2], type="task"),
            passage("palace/secret.md", [0.2], flags=flags["private"]),
            passage("palace/back.md", [0.4], targets=["hit"]),
        ],
        cold=[passage("palace/archive_basement/cold.md", [0.5])],
    )


def with_links(query, snapshot, **options):
    found = search(query, snapshot, **{"neighbors": 2, **options})
    return [(hit.path, hit.role, hit.linked_from) for hit in found.hits]


def near(path):
    return (path, "neighbor", "palace/hit.md")


def test_linked_notes_follow_their_hit_best_first_and_out_before_back(ask, linked):
    found = with_links(ask(), linked, limit=1, neighbors=9)
    assert found == [
        ("palace/hit.md", "core", None),
        near("palace/good.md"),
        near("palace/task.md"),
        near("palace/weak.md"),
        near("palace/back.md"),
    ]
    for count in (0, 2):
        assert with_links(ask(), linked, limit=1, neighbors=count) == found[: 1 + count]


def test_neighbors_pass_the_filters(ask, linked):
    found = with_links(ask(type="project"), linked, limit=1, neighbors=9)
    assert [path for path, _, _ in found[1:]] == [
        "palace/good.md",
        "palace/weak.md",
        "palace/back.md",
    ]


@pytest.mark.parametrize(("question", "count"), [({}, 6), ({"text": "", "type": "project"}, 5)])
def test_a_hit_is_not_repeated_as_a_neighbor(ask, linked, question, count):
    found = with_links(ask(**question), linked, limit=9, neighbors=9)
    assert len({path for path, _, _ in found}) == len(found) == count
    assert all(role == "core" for _, role, _ in found)


def test_a_neighbor_of_two_hits_follows_the_first(build, ask, passage):
    snapshot = build(
        [
            passage("palace/a.md", [0.9], targets=["c"]),
            passage("palace/b.md", [0.8], targets=["c"]),
            passage("palace/c.md", [0.1]),
        ]
    )
    assert with_links(ask(), snapshot, limit=2) == [
        ("palace/a.md", "core", None),
        ("palace/c.md", "neighbor", "palace/a.md"),
        ("palace/b.md", "core", None),
    ]


def test_a_cold_note_is_no_neighbor_whatever_the_graph_says(build, ask, passage, monkeypatch):
    cold = "palace/archive_basement/old.md"
    snapshot = build([passage("palace/a.md", [0.9])], cold=[passage(cold, [0.1])])
    links = NearLinks(["palace/a.md", cold], [(), ()], [("old",), ()])
    assert links.neighbors_of(["palace/a.md"])["palace/a.md"].out == (cold,)
    monkeypatch.setattr(NearLinks, "from_snapshot", lambda snapshot: links)
    assert paths(search(ask(), snapshot, limit=1, neighbors=2)) == ["palace/a.md"]


def test_a_neighbor_keeps_the_score_it_has_as_a_hit(ask, linked):
    alone = {hit.path: hit.score for hit in search(ask(), linked, limit=9).hits}
    for hit in search(ask(), linked, limit=1, neighbors=9).hits:
        assert hit.score == alone[hit.path]


def test_a_copy_of_a_hit_is_not_its_neighbor(build, ask, passage):
    snapshot = build(
        [
            passage("palace/a.md", [0.9], texts=["same"], targets=["b"]),
            passage("palace/b.md", [0.9], texts=["same"]),
        ]
    )
    assert with_links(ask(), snapshot) == [("palace/a.md", "core", None)]


def test_cold_notes_are_ranked_only_in_a_snapshot_that_holds_them(build, ask, passage):
    hot = [passage("palace/a.md", [0.5])]
    cold = [passage("palace/archive_basement/b.md", [0.9])]
    assert paths(search(ask(), build(hot))) == ["palace/a.md"]
    found = search(ask(), build(hot, cold=cold))
    assert paths(found) == ["palace/archive_basement/b.md", "palace/a.md"]
    assert found.hits[0].note.is_cold
