"""Trees hold together whatever the notes are called, and say how notes are linked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memory_palace.cli.app import main
from memory_palace.features.graph.trees import Branch, has_blocks
from memory_palace.palace import Palace

BRANCHES = st.recursive(
    st.builds(Branch, st.text(max_size=8)),
    lambda inner: st.builds(Branch, st.text(max_size=8), st.lists(inner, max_size=4)),
    max_leaves=12,
)


def count(branch):
    return 1 + sum(map(count, branch.below))


@given(BRANCHES, st.sampled_from(["C", "C.UTF-8"]))
def test_every_entry_is_one_line_with_nothing_hidden(branch, locale):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LC_ALL", locale)
        rows = list(branch.lines())
    assert len(rows) == count(branch)
    assert not set("".join(rows)) & set("\n\r\t\x1b\u202e\u2066\u200b\x9b")


@pytest.mark.parametrize(
    ("locale", "rows"),
    [
        ("C.UTF-8", ["a", "├─ b", "│  │  said", "│  └─ c", "└─ d"]),
        ("C", ["a", "|- b", "|  |  said", "|  `- c", "`- d"]),
    ],
)
def test_without_utf_8_a_tree_is_ascii(monkeypatch, locale, rows):
    monkeypatch.setenv("LC_ALL", locale)
    tree = Branch("a", [Branch("b", [Branch("c")], "said"), Branch("d")])
    assert list(tree.lines()) == rows


def test_a_line_is_as_long_as_its_text(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert list(Branch("[b]a :smile:", [Branch("word " * 200)]).lines()) == [
        "[b]a :smile:",
        "└─ " + "word " * 200,
    ]


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    room = tmp_path / "palace" / "chambers"
    long = "word " * 60
    room.joinpath("山.md").write_text(
        f"# 山\n\n{long}To [[b\u202e]], <private>and not</private>.\n"
    )
    room.joinpath("b\u202e.md").write_text("# B\n\nOn to [[c]].\n")
    room.joinpath("c.md").write_text("---\ndate: 2026-03-01\ntitle: 'C\u202e'\n---\nEnd.\n")
    room.joinpath("hidden.md").write_text("---\nprivate: true\n---\nTo [[c]].\n")
    (tmp_path / "palace" / "archive_basement" / "old.md").write_text("# Old thing\n")
    palace.index(embedder="hashing")
    return palace


def run(palace, capsys, *words):
    main(("-C", str(palace.paths.root), *words))
    out = capsys.readouterr().out
    assert "\u202e" not in out and "hidden" not in out and "and not" not in out
    return out.splitlines()


def test_a_route_shows_which_note_links_to_which_and_where(palace, capsys):
    start, quote, middle, onward, end = run(palace, capsys, "graph", "route", "c", "山")
    assert start == "palace/chambers/c.md"
    assert quote == "│  b<U+202E>:3  On to [[c]]."
    assert middle == "└─ <- palace/chambers/b<U+202E>.md"
    assert onward.startswith("   │  山:3  …") and "[[b" in onward and cell_len(onward) <= 80
    assert end == "   └─ <- palace/chambers/山.md"


def test_neighbors_are_told_apart_by_their_arrows(palace, capsys):
    rows = run(palace, capsys, "graph", "neighbors", "b\u202e")
    assert rows[1:3] == ["├─ -> palace/chambers/c.md", "│     b<U+202E>:3  On to [[c]]."]
    assert rows[3] == "└─ <- palace/chambers/山.md"


def test_a_line_that_is_gone_since_is_left_out(palace, capsys):
    (palace.paths.root / "palace" / "chambers" / "b\u202e.md").unlink()
    assert len(run(palace, capsys, "graph", "route", "c", "b\u202e")) == 2


def test_the_map_counts_and_names_the_newest_but_nothing_archived(palace, capsys):
    rows = run(palace, capsys, "graph", "map")
    assert rows[0].endswith("  4 notes")
    assert "├─ archive_basement  1, all archived" in rows
    assert "   └─ 2026-03-01  C<U+202E>" in rows
    assert not any("Old" in row or "old" in row for row in rows)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, True),
        ({"LANG": "de_DE.UTF-8"}, True),
        ({"LANG": "C.utf8"}, True),
        ({"LANG": "C"}, False),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, False),
        ({"LC_CTYPE": "ja_JP.eucJP"}, False),
    ],
)
def test_blocks_are_for_terminals_that_have_them(environ, expected):
    assert has_blocks(environ) is expected
