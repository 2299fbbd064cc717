"""Power is lost in each verb: whatever is left of its writes, the next commands recover."""

import os

import pytest

from benchmarks.crashes import VERBS, Crashed, steady_stat
from memory_palace import storage
from memory_palace.changes import journal

HUNDREDS = [pytest.param(15), pytest.param(360, marks=pytest.mark.long)]


@pytest.fixture(autouse=True, scope="module")
def steady():
    with steady_stat():
        yield


def find_faults(crashed, most):
    for model, tree in crashed.states(most):
        yield from ((model, fault) for fault in crashed.check(tree))


@pytest.mark.parametrize("most", HUNDREDS)
@pytest.mark.parametrize("verb", VERBS)
def test_what_is_left_after_a_power_cut_recovers(tmp_path, verb, most):
    crashed = Crashed(VERBS[verb], tmp_path)
    assert not list(find_faults(crashed, most))
    assert most < 100 or len(list(crashed.states(most))) >= 100


def write_before_the_sync(path, fill, *, mode=0o600):
    temporary = path.with_name(".early.tmp")
    with temporary.open("wb") as file:
        fill(file)
        file.flush()
        os.replace(temporary, path)  # noqa: PTH105
        os.fsync(file.fileno())
    storage.sync_folder(path.parent)


def move_after_the_delete(old, new):
    data = old.read_bytes()
    journal._drop(old)
    storage.make_folder(new.parent)
    storage.write_new(new, data)


@pytest.mark.parametrize(
    ("place", "mistake", "verb"),
    [
        ("memory_palace.storage._finish", lambda file: file.close(), "append"),
        ("memory_palace.storage.write_stream", write_before_the_sync, "conflict resolve"),
        ("memory_palace.changes.journal._move", move_after_the_delete, "metabolism apply"),
    ],
    ids=["no fsync", "renamed before the sync", "deleted too early"],
)
def test_a_mistake_in_what_is_synced_is_found(tmp_path, monkeypatch, place, mistake, verb):
    with monkeypatch.context() as patch:
        patch.setattr(place, mistake)
        crashed = Crashed(VERBS[verb], tmp_path)
    assert any("half of the change" in fault for _, fault in find_faults(crashed, 150))
