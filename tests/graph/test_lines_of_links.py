"""Neighbors and routes hold together whatever the notes are called, and quote the links."""

import pytest
from rich.cells import cell_len

from memory_palace.cli.app import main
from memory_palace.palace import Palace


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    room = tmp_path / "palace" / "chambers"
    long = "word " * 60
    room.joinpath("山.md").write_text(
        f"# 山\n\n{long}To [[b\u202e]], <private>and not</private>.\n"
    )
    room.joinpath("b\u202e.md").write_text("# B\n\nOn to [[c]].\n")
    room.joinpath("c.md").write_text("End.\n")
    room.joinpath("hidden.md").write_text("---\nprivate: true\n---\nTo [[c]].\n")
    palace.index(embedder="hashing")
    return palace


def run(palace, capsys, *words):
    main(("-C", str(palace.paths.root), *words))
    out = capsys.readouterr().out
    assert "\u202e" not in out and "hidden" not in out and "and not" not in out
    return out.splitlines()


def test_a_route_shows_which_note_links_to_which_and_where(palace, capsys):
    assert run(palace, capsys, "graph", "route", "c", "b\u202e") == [
        "palace/chambers/c.md",
        "<- palace/chambers/b<U+202E>.md",
        "   b<U+202E>:3  On to [[c]].",
    ]
    far = run(palace, capsys, "graph", "route", "c", "山")[-1]
    assert far.startswith("   山:3  …") and "[[b" in far and cell_len(far) <= 120


def test_a_file_name_forges_no_row(palace, capsys):
    forged = palace.paths.notes / "chambers" / "x\n<- palace forged.md"
    forged.write_text("To [[c]].\n")
    palace.index()
    rows = run(palace, capsys, "graph", "neighbors", "c")
    assert "<- palace forged.md" not in rows and "forged.md" in "".join(rows)


def test_a_line_that_is_gone_since_is_left_out(palace, capsys):
    (palace.paths.root / "palace" / "chambers" / "b\u202e.md").unlink()
    assert len(run(palace, capsys, "graph", "route", "c", "b\u202e")) == 2
