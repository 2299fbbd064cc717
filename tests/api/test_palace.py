from datetime import UTC, date, datetime

import pytest

from memory_palace import NotAPalaceError, Palace, UsageError
from memory_palace.query import Query


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    palace.new("Rain gauge drifts in frost", type="project", priority="high")
    palace.new("Bread oven", room="chambers/kitchen")
    palace.index(embedder="hashing")
    return palace


@pytest.mark.parametrize("below", ["", "palace"])
def test_a_palace_opens_by_text_by_path_and_by_its_palace_folder(palace, below):
    root = palace.paths.root
    assert Palace(root / below).paths.root == Palace(str(root / below)).paths.root == root


def test_a_tilde_is_the_home_folder(palace, monkeypatch):
    monkeypatch.setenv("HOME", str(palace.paths.root.parent))
    assert Palace(f"~/{palace.paths.root.name}").paths.root == palace.paths.root


def test_a_folder_without_a_palace_is_refused_when_it_is_opened(tmp_path):
    with pytest.raises(NotAPalaceError, match="`palace init`"):
        Palace(tmp_path / "nowhere")
    with pytest.raises(NotAPalaceError, match="palace init"):
        Palace.discover(tmp_path)


def test_a_result_reads_like_a_sequence_of_hits(palace):
    result = palace.query("frost gauge", neighbors=0)
    assert [hit.path for hit in result] == [hit.path for hit in result.hits]
    assert len(result) == len(result.hits)
    assert result[0] is result.hits[0]
    assert result[-1] is result.hits[-1]
    assert result
    assert not palace.query("frost", type="nosuchtype")


def test_a_query_is_given_by_its_fields_or_as_one_value(palace):
    one = palace.query("frost", type="project", priority="HIGH", neighbors=0)
    both = palace.ask(Query("frost", type="project", priority="high", neighbors=0))
    assert one == both
    with pytest.raises(TypeError, match="colour"):
        palace.query("frost", colour="red")
    assert [n.path for n in palace.notes(room="chambers")] == [
        "palace/chambers/kitchen/Bread oven.md"
    ]


def test_moments_may_be_dates_texts_and_seconds(palace):
    today = datetime.now(UTC)
    for since in ("yesterday", "2d", date(2026, 1, 1), today.timestamp() - 2 * 86400):
        assert len(palace.notes(since=since)) == 2, since
    assert palace.notes(until="2020-01-01") == []
    assert palace.notes(until=today.date()) == palace.notes()


@pytest.mark.parametrize(
    "values",
    [
        {"limit": 0},
        {"neighbors": -1},
        {"budget_bytes": 0},
        {"profile": "nosuch"},
        {"room": "kitchen"},
        {"priority": "urgent"},
        {"since": "soon"},
        {"since": "99999y"},
        {"as_of": "never"},
    ],
)
def test_what_the_command_line_refuses_a_query_refuses(palace, values):
    with pytest.raises(UsageError):
        palace.query("frost", **values)


@pytest.mark.parametrize("values", [{"priority": "urgent"}, {"room": "kitchen"}, {"room": ".."}])
def test_what_the_command_line_refuses_new_refuses(palace, values):
    with pytest.raises(UsageError):
        palace.new("Snow load", **values)
    assert not list(palace.paths.notes.rglob("Snow*"))
