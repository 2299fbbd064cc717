import pytest
from stopping import is_stopped

from memory_palace.changes.changing import undo_change
from memory_palace.changes.journal import read_log, recover
from memory_palace.errors import UsageError

CALLS = ("open", "fsync", "replace", "link", "unlink")


def files(palace):
    return sorted(p.name for p in (palace.paths.notes / "chambers").iterdir())


def test_a_new_note_is_logged_and_can_be_taken_back(palace):
    path = palace.new("Rain gauge", room="chambers", type="log", tags=["rain"])
    text = (palace.paths.root / path).read_text("utf-8")
    assert text.endswith("# Rain gauge\n")
    assert "type: log\n" in text
    assert "tags: [rain]\n" in text
    (logged,) = read_log(palace.paths)
    assert (logged.command, logged.reason) == ("new", f"new {path}")
    undo_change(palace, identity=logged.identity, apply=True)
    assert files(palace) == []


def test_an_existing_file_is_never_touched_by_a_new_note(palace):
    path = palace.new("Rain gauge", room="chambers")
    (palace.paths.root / path).write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="already exists"):
        palace.new("Rain gauge", room="chambers")
    assert (palace.paths.root / path).read_text("utf-8") == "mine"


def test_a_new_note_stopped_at_any_disk_call_is_whole_or_leaves_nothing(palace, monkeypatch):
    outcomes = set()
    for number in range(1, 100):
        was_stopped = is_stopped(
            lambda: palace.new("Rain gauge", room="chambers"), monkeypatch, CALLS, at=number
        )
        recover(palace.paths)
        assert files(palace) in ([], ["Rain gauge.md"])
        outcomes.add(len(files(palace)))
        for file in (palace.paths.notes / "chambers").iterdir():
            file.unlink()
        if not was_stopped:
            break
    assert outcomes == {0, 1}


@pytest.mark.parametrize("letter", ["x", "ü", "字", "🏔"])
@pytest.mark.parametrize("length", [60, 252, 253, 300, 5000])
def test_a_long_title_names_a_file_that_the_disk_takes(palace, letter, length):
    path = palace.new(letter * length, room="chambers")
    name = path.rpartition("/")[2]
    assert len(name.encode()) <= 255 and name.endswith(".md")
    assert letter * min(length, 60) in name
    assert f"# {letter * length}\n" in (palace.paths.root / path).read_text("utf-8")


def test_two_long_titles_that_begin_alike_are_two_notes(palace):
    paths = {palace.new("x" * 400 + end, room="chambers") for end in ("a", "b")}
    assert len(paths) == 2
    with pytest.raises(UsageError, match="already exists"):
        palace.new("x" * 400 + "a", room="chambers")
