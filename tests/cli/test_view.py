"""``palace view``: where the page goes, what is said, and what is refused."""

import errno
import json
import os
import webbrowser

import pytest
from running import run_main
from writing_notes import index_notes

from memory_palace.features.view import layout, page
from memory_palace.palace import Palace

MARK = page.MARK.decode()


@pytest.fixture
def vault(tmp_path, monkeypatch):
    """A folder of notes, indexed, in which the command runs."""
    names = "A/A0 A/A1 A/A2 B/B0 B/B1 archive_basement/2020/a0 archive_basement/2020/a1"
    index_notes(tmp_path / "vault", {f"{name}.md": "A note.\n" for name in names.split()})
    monkeypatch.chdir(tmp_path / "vault")
    return tmp_path / "vault"


def pages(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def test_the_page_lies_beside_the_index_and_one_screen_says_what_is_on_it(vault, capsys):
    status, out, err = run_main(capsys, "view")
    assert (status, err) == (0, "")
    place, notes, archived = out.splitlines()
    assert place.startswith("page       .palace/.index/view.html, ")
    assert place.endswith(" MB")
    assert notes == "notes      5 in 3 rooms"
    assert archived == "archived   2 locked; --include-cold shows them"
    assert pages(vault) == [".palace/.index/view.html"]
    assert (vault / ".palace/.index/view.html").stat().st_mode & 0o777 == 0o600
    assert MARK in (vault / ".palace/.index/view.html").read_text("utf-8")


def test_a_page_of_ours_is_replaced_and_a_file_of_somebody_else_is_not(vault, capsys):
    assert run_main(capsys, "view", "--out", "plan.html")[0] == 0
    assert run_main(capsys, "view", "--out", "plan.html")[0] == 0
    (vault / "mine.html").write_text("<p>My own page.</p>", "utf-8")
    status, out, err = run_main(capsys, "view", "--out", "mine.html")
    assert (status, out) == (2, "")
    assert "mine.html was not written by `palace view` and is left as it is" in err
    assert (vault / "mine.html").read_text("utf-8") == "<p>My own page.</p>"
    run_main(capsys, "view")
    assert Palace(vault).index().unchanged == 7, "a page is no note"
    assert len(Palace(vault).notes()) == 5


@pytest.mark.parametrize(
    ("out", "why"),
    [
        ("A", "is not a file"),
        ("A/A0.md", "cannot be a page"),
        ("new.markdown", "cannot be a page"),
        ("-", "cannot be a page"),
        (os.devnull, "is not a file"),
        ("nowhere/plan.html", "there is no folder nowhere; make it"),
    ],
)
def test_what_cannot_be_a_page_is_refused_in_one_line(vault, capsys, out, why):
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    status, printed, err = run_main(capsys, "view", "--out", out)
    assert status != 0
    assert printed == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("palace: ")
    assert why in err
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before
    assert pages(vault) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_disk_that_takes_nothing_is_named_and_leaves_no_half_page(
    vault, capsys, monkeypatch, number
):
    def refuse(path, data):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(page, "write_atomic", refuse)
    status, out, err = run_main(capsys, "view", "--out", "plan.html")
    assert (status, out) == (1, "")
    assert err.startswith(f"palace: plan.html: {os.strerror(number)}; ")
    assert pages(vault) == []


def test_a_palace_that_may_only_be_read_gives_a_page_elsewhere(
    vault, tmp_path, capsys, monkeypatch
):
    write = page.write_atomic

    def refuse(path, data):
        if path.is_relative_to(vault):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        write(path, data)

    for module in (page, layout):
        monkeypatch.setattr(module, "write_atomic", refuse)
    status, out, err = run_main(capsys, "view")
    assert (status, out) == (1, "")
    assert err == (
        f"palace: {vault}/.palace/.index/view.html: Read-only file system; write the page "
        "elsewhere with --out FILE\n"
    )
    status, out, err = run_main(capsys, "view", "--out", str(tmp_path / "plan.html"))
    assert (status, out.splitlines()[1]) == (0, "notes      5 in 3 rooms")
    assert err.startswith("new notes may lie elsewhere the next time: ")
    assert len(err.splitlines()) == 1


def test_without_an_index_or_a_palace_the_next_command_is_named(tmp_path, capsys, monkeypatch):
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    assert "palace init" in run_main(capsys, "view")[2]
    Palace.init(tmp_path / "bare", here=True)
    status, out, err = run_main(capsys, "view")
    assert (status == 0, out) == (False, "")
    assert "run `palace index`" in err
    assert pages(tmp_path) == []


def test_the_archive_is_shown_where_it_is_asked_for_and_what_is_not_indexed_is_said(vault, capsys):
    def record(*options):
        status, out, err = run_main(capsys, "view", "--json", *options)
        assert (status, err) == (0, "")
        return json.loads(out)

    whole = record()
    assert (whole["notes"], whole["locked"]) == (5, 2)
    assert whole["file"] == str(vault / ".palace/.index/view.html")
    assert whole["size_bytes"] == (vault / ".palace/.index/view.html").stat().st_size
    cold = record("--include-cold")
    assert (cold["notes"], cold["cold"], cold["locked"]) == (7, 2, 0)
    (vault / "A" / "new.md").write_text("New.\n", "utf-8")
    status, out, err = run_main(capsys, "view")
    assert status == 0 and "notes      5 in" in out
    assert err == "1 note differs from the index; run `palace index`\n"


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xfe", b"[" * 100_000, b'{"check":"44136fa355b3678a","layout":{}}']
)
def test_a_damaged_layout_is_made_anew_and_said_once(vault, capsys, data):
    run_main(capsys, "view")
    page = (vault / ".palace/.index/view.html").read_bytes()
    (vault / ".palace/.index/view.json").write_bytes(data)
    assert run_main(capsys, "view")[2] == "the plan is laid out anew: view.json is damaged\n"
    assert (vault / ".palace/.index/view.html").read_bytes() == page
    assert run_main(capsys, "view")[2] == ""


def test_the_browser_opens_the_file(vault, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))
    assert run_main(capsys, "view", "--open")[2] == ""
    assert opened == [(vault / ".palace/.index/view.html").as_uri()]
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    status, _, err = run_main(capsys, "view", "--open", "--out", "plan.html")
    assert (status, err) == (0, "no browser could be started; open plan.html yourself\n")


@pytest.mark.parametrize(
    "options",
    [
        ("--port", "8000"),
        ("--live", "--out", "a.html"),
        ("--live", "--json"),
        ("--live", "--new-plan"),
    ],
    ids=" ".join,
)
def test_options_that_do_nothing_are_refused(vault, capsys, options):
    status, out, err = run_main(capsys, "view", *options)
    assert (status, out if "--json" not in options else "") == (2, "")
    assert "does not take" in err + out
