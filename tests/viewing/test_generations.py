"""Plans that follow the index: whole or not at all, and the last few are kept."""

from __future__ import annotations

import threading

import pytest

from memory_palace.errors import IndexDamagedError
from memory_palace.features.view.live_pages import Generations, PlanGeneration


class Maker:
    """Makes plans named by the mark of the index, or fails as it is told."""

    def __init__(self):
        self.made, self.failure = [], None

    def __call__(self, mark):
        if self.failure:
            raise self.failure
        self.made.append(mark)
        return PlanGeneration(mark, b"", b"", ())


@pytest.fixture
def follow(tmp_path):
    """Return generations of a file that stands for the index, and what makes them."""
    commit, maker, said = tmp_path / "INDEX.json", Maker(), []
    commit.write_text("1")
    return Generations(commit, maker, said.append), maker, commit, said


def test_a_plan_is_made_once_for_each_index(follow):
    generations, maker, commit, _ = follow
    generations.refresh()
    generations.refresh()
    assert len(maker.made) == 1
    commit.write_text("2")
    generations.refresh()
    assert generations.latest.name == maker.made[1] != maker.made[0]


def test_the_last_three_can_be_asked_for(follow):
    generations, maker, commit, _ = follow
    for number in range(5):
        commit.write_text(f"index {number}")
        generations.refresh()
    assert [generations.find(name) is not None for name in maker.made] == [False] * 2 + [True] * 3


def run_until(generations, is_so):
    """Follow in a thread until something is so."""
    stop = threading.Event()
    thread = threading.Thread(target=generations.follow, args=(stop,))
    thread.start()
    for _ in range(100):
        if is_so():
            break
        stop.wait(0.05)
    stop.set()
    thread.join()
    assert is_so()


def test_what_fails_is_said_once_and_the_last_plan_stays(follow):
    generations, maker, commit, said = follow
    generations.refresh()
    first = generations.latest
    commit.write_text("damaged")
    maker.failure = IndexDamagedError("a segment is missing; run `palace index`")
    run_until(generations, lambda: bool(said))
    assert said == [generations.problem] == ["a segment is missing; run `palace index`"]
    assert generations.latest is first
    maker.failure = None
    run_until(generations, lambda: generations.latest is not first)
    assert generations.problem == ""
