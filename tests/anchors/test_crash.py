"""Stop a build of anchors, and an update of them, at every call that reaches the disk."""

from asking_anchors import rebuild
from stopping import is_stopped

from memory_palace.palace import Palace

CALLS = ("open", "fsync", "replace", "unlink")


def answer(palace):
    """Return what a fresh reader is told of the mast, anchors or not."""
    result = Palace(palace.paths.root).look_up("snowdrift sensor")
    assert result.anchors is not None
    return result.anchors.answered_by, tuple(sorted({hit.path for hit in result.hits}))


def test_a_stopped_nightly_build_leaves_the_old_anchors_or_the_new_ones(palace, write, monkeypatch):
    write("chambers/wren/snow.md", "# Snowdrift sensor\n\nA [[snowdrift sensor]] stands there.\n")
    palace.index()
    outcomes = [answer(palace)[1]]
    step = 0
    while True:
        step += 1
        reached = is_stopped(lambda: palace.anchors.build(), monkeypatch, CALLS, at=step)
        outcomes.append(answer(palace)[1])
        if not reached:
            break
        palace.index()
        assert palace.doctor().findings == ()
    assert step > 5
    assert list(dict.fromkeys(outcomes)) == [(), ("palace/chambers/wren/snow.md",)]


def test_a_stopped_update_leaves_the_old_anchors_or_the_new_ones(palace, write, monkeypatch):
    write("chambers/wren/snow.md", "# Snowdrift sensor\n\nA [[snowdrift sensor]] stands there.\n")
    rebuild(palace)
    outcomes = set()
    step = 0
    while True:
        step += 1
        write("chambers/wren/rime.md", f"# Rime\n\nThe snowdrift sensor iced over, {step}.\n")
        reached = is_stopped(palace.index, monkeypatch, CALLS, at=step)
        outcomes.add(answer(palace)[1])
        palace.index()
        assert len(answer(palace)[1]) == 2
        assert palace.doctor().findings == ()
        if not reached:
            break
        (palace.paths.notes / "chambers/wren/rime.md").unlink()
        palace.index()
    assert step > 5
    assert len(outcomes) == 2
