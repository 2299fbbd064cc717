"""A picture of a search, where matplotlib is; a message where it is not."""

from __future__ import annotations

import sys

import pytest
from making_pictures import assert_readable

from memory_palace.errors import MissingPartError, UsageError
from memory_palace.navigation.loci import read_loci
from memory_palace.navigation.plot import draw_search
from memory_palace.navigation.search_run import run_search
from memory_palace.navigation.searches import SearchPlan, load_search, read_search_log, start_search
from memory_palace.plotting.themes import DARK


@pytest.fixture
def draw(house):
    session = start_search(house, "wine for $5 or $6", SearchPlan(on_loci=True))
    list(run_search(house, None, steps=6, seed=1))

    def draw_to(path, *, loci=True):
        places = read_loci(house).loci if loci else ()
        picture = draw_search(load_search(house, session.id), read_search_log(house, None), places)
        light, dark = picture.write(path)
        assert light == path and dark.name == f"{path.stem}-dark{path.suffix}"
        return path.read_bytes()

    return draw_to


def test_a_search_is_drawn_with_and_without_places(draw, tmp_path):
    pytest.importorskip("matplotlib")
    assert draw(tmp_path / "search.png").startswith(b"\x89PNG")
    svg = draw(tmp_path / "search.svg")
    assert b"<svg" in svg
    assert len(draw(tmp_path / "less.svg", loci=False)) < len(svg)


def test_names_of_places_hide_nothing(palace, put):
    for place in range(12):
        title = f"{'A place with a long name' if place % 3 else '$'} {place}"
        put(title, place * 7 % 13, place * 5 % 11, "wine" if place == 4 else "things")
    palace.index(embedder="hashing")
    session = start_search(palace, "wine", SearchPlan(on_loci=True))
    list(run_search(palace, None, steps=3, seed=1))
    log, loci = read_search_log(palace, None), read_loci(palace).loci
    picture = draw_search(load_search(palace, session.id), log, loci)
    assert_readable(picture, DARK)


def test_a_search_that_was_only_begun_is_drawn(notes):
    pytest.importorskip("matplotlib")
    session = start_search(notes, "the pump", SearchPlan())
    assert draw_search(session, read_search_log(notes, None), ()).encode()


def test_other_kinds_of_file_are_refused(draw, tmp_path):
    with pytest.raises(UsageError, match=r"must end in \.png or \.svg"):
        draw(tmp_path / "search.pdf")


def test_without_matplotlib_the_extra_is_named(draw, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPartError, match=r"pip install .*\[plots\]"):
        draw(tmp_path / "search.png")
