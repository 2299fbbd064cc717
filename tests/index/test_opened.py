"""What a process holds open of an index is what a new one would open."""

from pathlib import Path

import pytest

from memory_palace import IndexDamagedError, IndexMissingError, Palace


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    for name in "ab":
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nA pear for {name}.\n")
    found = Palace.init(tmp_path, here=True)
    found.index(embedder="hashing")
    return found


def test_a_generation_is_opened_once(palace: Palace) -> None:
    assert palace.snapshot() is palace.snapshot()


def test_segments_that_the_next_generation_has_too_stay_open(palace: Palace, piled: None) -> None:
    before = palace.snapshot()
    (palace.paths.root / "c.md").write_text("# c\n\nA plum.\n")
    Palace(palace.paths.root).index()
    after = palace.snapshot()
    assert after.paths == ["a.md", "b.md", "c.md"]
    assert after.segments[0] is before.segments[0]
    assert len(after.segments) == 2


def test_another_palace_of_the_folder_goes_on_with_what_is_open(palace: Palace) -> None:
    held = palace.snapshot(include_cold=True)
    again = Palace(palace.paths.root)
    again.adopt(palace)
    assert again.snapshot(include_cold=True) is held
    assert again.embedder() is palace.embedder()


def test_nothing_is_adopted_under_other_settings(palace: Palace) -> None:
    held = palace.snapshot()
    palace.paths.settings.write_text("half_life_days: 7\n")
    again = Palace(palace.paths.root)
    again.adopt(palace)
    assert again.snapshot() is not held


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("names", "harm", "error", "said"),
    [
        ("seg-*.npz", flip, IndexDamagedError, "does not match its checksum"),
        ("seg-*.jsonl", Path.unlink, IndexDamagedError, "is missing"),
        ("*", Path.unlink, IndexMissingError, "there is no index"),
    ],
)
def test_what_is_damaged_or_deleted_while_it_is_open_is_said(palace, names, harm, error, said):
    palace.snapshot()
    for path in sorted(palace.paths.index.glob(names)):
        harm(path)
    with pytest.raises(error, match=said):
        palace.snapshot()
