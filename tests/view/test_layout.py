"""Where notes lie, and that nothing moves them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.features.view.layout import (
    CORRIDOR,
    MOST_PER_DISTRICT,
    PLAN,
    Layout,
    divide_plan,
    lay_out,
)


def residents(*rooms):
    """Return the room of each note, in path order; rooms are pairs of a name and a number."""
    found = [(f"{room}/{n:05}.md", room) for room, count in rooms for n in range(count)]
    return dict(sorted(found))


def vectors_of(notes, dimension=8):
    """Return a unit vector for each note that depends on its path alone."""
    if dimension == 0:
        return np.zeros((len(notes), 0), np.float32)
    rows = []
    for path in notes:
        seed = int.from_bytes(path.encode(), "big") % 2**32
        rows.append(np.random.default_rng(seed).normal(size=dimension))
    matrix = np.array(rows, np.float32).reshape(-1, dimension)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def lay(notes, before=None, dimension=8):
    return lay_out(notes, vectors_of(notes, dimension), before or Layout(), {})


def boxes(layout):
    grids = {room.name: room.districts for room in layout.rooms}
    return {path: grids[at.room][at.district].box(at.cell) for path, at in layout.notes.items()}


def assert_apart(found):
    """Fail where two boxes overlap; a sweep from left to right."""
    open_boxes = []
    for box in sorted(found):
        open_boxes = [other for other in open_boxes if other.x + other.width > box.x]
        for other in open_boxes:
            assert other.y + other.height <= box.y or box.y + box.height <= other.y, (
                box,
                other,
            )
        open_boxes.append(box)


def assert_sound(layout):
    """Fail unless notes lie in their rooms and nothing overlaps."""
    found = boxes(layout)
    assert_apart(found.values())
    assert_apart([room.extent for room in layout.rooms])
    rooms = {room.name: room.extent for room in layout.rooms}
    for path, box in found.items():
        room = rooms[layout.notes[path].room]
        assert room.x <= box.x
        assert room.y <= box.y
        assert box.x + box.width <= room.x + room.width
        assert box.y + box.height <= room.y + room.height


def assert_unmoved(before, after):
    old, new = boxes(before), boxes(after)
    for path in old.keys() & new.keys():
        assert old[path] == new[path], path
    extents = {room.name: room.extent for room in before.rooms}
    for room in after.rooms:
        assert extents.get(room.name, room.extent) == room.extent


@pytest.mark.parametrize("count", [1, 2, 3, 5, 40, 81, 300])
def test_a_quarter_of_the_cells_is_free(count):
    districts = lay(residents(("A", count))).rooms[0].districts
    cells = sum(grid.columns * grid.rows for grid in districts)
    assert cells > count
    most = sum(max(grid.columns, grid.rows) + 4 for grid in districts)
    assert cells <= max(count / 0.75, count + 3) + most


def test_what_is_alike_lies_together():
    notes = residents(("A", 120))
    middle = np.eye(8, dtype=np.float32)[:3]
    noise = vectors_of(notes) * 0.2
    kind = np.arange(120) % 3
    vectors = middle[kind] + noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = boxes(lay_out(notes, vectors, Layout(), {}))
    at = np.array([found[path][:2] for path in notes])
    nearest = [np.argsort(((at - one) ** 2).sum(axis=1))[1:5] for one in at]
    alike = np.mean([kind[near] == kind[n] for n, near in enumerate(nearest)])
    assert alike > 0.75, "by chance it is a third"


def test_the_same_notes_give_the_same_layout_whatever_came_before_in_the_process():
    notes = residents(("A", 90), ("B", 20))
    first = lay(notes)
    np.random.default_rng().normal(size=3)
    assert lay(notes) == first
    assert lay(notes, first) == first


@pytest.mark.parametrize("more", [1, 20, 1900])
def test_new_notes_move_no_other(more):
    before = lay(residents(("A", 100), ("B", 12)))
    after = lay(residents(("A", 100 + more), ("B", 12)), before)
    assert len(after.notes) == 112 + more
    assert_unmoved(before, after)
    assert_sound(after)


def test_a_new_note_lies_near_what_it_is_like():
    notes = residents(("A", 100))
    before = lay(notes)
    vectors = vectors_of(notes)
    for like in (3, 50, 97):
        both = np.concatenate([vectors, vectors[like : like + 1]])
        found = boxes(lay_out({**notes, "A/99999.md": "A"}, both, before, {}))
        at = np.array([box[:2] for box in found.values()])
        away = np.sqrt(((at - at[like]) ** 2).sum(axis=1))
        assert away[-1] < np.median(away)


def test_a_room_that_appears_lies_outside_of_the_others():
    before = lay(residents(("A", 100), ("B", 12)))
    after = before
    for number in range(4):
        rooms = [("A", 100), ("B", 12), *((f"N{n}", c) for n, c in enumerate((5, 80, 1, 30)))]
        after = lay(residents(*rooms[: 3 + number]), after)
        assert len(after.rooms) == 3 + number
        assert_unmoved(before, after)
        assert_sound(after)
    right = max(room.extent.x + room.extent.width for room in after.rooms)
    below = max(room.extent.y + room.extent.height for room in after.rooms)
    assert 0.6 < right * PLAN.height / (below * PLAN.width) < 1.7


@settings(max_examples=20)
@given(
    steps=st.lists(
        st.dictionaries(st.sampled_from("ABCD"), st.integers(0, 60), min_size=1),
        min_size=2,
        max_size=5,
    )
)
def test_whatever_comes_and_goes_nothing_else_moves(steps):
    layout = Layout()
    for step in steps:
        notes = residents(*step.items())
        after = lay(notes, layout, dimension=4)
        assert list(after.notes) == list(notes)
        assert_unmoved(layout, after)
        assert_sound(after)
        assert lay(notes, after, dimension=4) == after
        layout = after


def test_a_large_room_has_districts_of_similar_notes():
    notes = residents(("A", 120))
    kind = np.arange(120) % 3
    vectors = np.eye(8, dtype=np.float32)[kind] + vectors_of(notes) * 0.2
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    layout = lay_out(notes, vectors, Layout(), {})
    assert len(layout.rooms[0].districts) == 120 // MOST_PER_DISTRICT
    found = [at.district for at in layout.notes.values()]
    assert len({*zip(found, kind.tolist(), strict=True)}) == 3


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=24))
def test_a_treemap_fills_the_plan_in_proportion(weights):
    extents = divide_plan(weights)
    assert_apart(extents)
    whole = sum(weights)
    for weight, extent in zip(weights, extents, strict=True):
        area = (extent.width + CORRIDOR) * (extent.height + CORRIDOR)
        if extent.width > CORRIDOR < extent.height:
            assert area == pytest.approx(weight / whole * PLAN.width * PLAN.height, rel=0.02)
