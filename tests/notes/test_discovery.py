import json
import os

import pytest

from memory_palace.config import PalacePaths
from memory_palace.errors import ConfigError
from memory_palace.notes.discovery import _IgnoreRules, discover_notes
from memory_palace.notes.note import NoteUnreadable, read_note
from memory_palace.system import read_file


@pytest.fixture
def write(tmp_path):
    def write(path, text="x\n"):
        file = tmp_path / "palace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    write("chambers/a.md")
    return write


def names(root, **options):
    return [
        f.path.removeprefix("palace/") for f in discover_notes(PalacePaths(root), **options).files
    ]


def test_markdown_is_found_and_hidden_names_are_not(tmp_path, write):
    for path in ("B.MARKDOWN", "chambers/.md", ".index/x.md", ".obsidian/y.md", "z.txt"):
        write(path)
    assert names(tmp_path) == ["B.MARKDOWN", "chambers/a.md"]


def test_a_palace_that_is_not_there_has_no_notes(tmp_path):
    assert discover_notes(PalacePaths(tmp_path)).files == ()


def test_ignore_files_reach_what_is_below_them(tmp_path, write):
    write(".palaceignore", "drafts/\n*.tmp.md\n!keep.tmp.md\n")
    write("chambers/deep/.palaceignore", "only-here.md\n")
    for path in ("drafts/x.md", "a.tmp.md", "keep.tmp.md", "only-here.md"):
        write(path)
    write("chambers/deep/only-here.md")
    assert names(tmp_path) == ["chambers/a.md", "keep.tmp.md", "only-here.md"]


def test_gitignore_counts_only_where_asked(tmp_path, write):
    (tmp_path / ".gitignore").write_text("palace/chambers/a.md\n")
    assert names(tmp_path) == ["chambers/a.md"]
    assert names(tmp_path, ignore="git") == []


def refuse_to_read(monkeypatch, folder):
    def refuse(path):
        if path.parent.name == folder:
            raise PermissionError(13, "Permission denied")
        return read_file(path)

    monkeypatch.setattr("memory_palace.notes.discovery.read_file", refuse)


def test_a_folder_whose_ignore_file_cannot_be_read_is_left_out_and_named(
    tmp_path, write, monkeypatch
):
    write("closed/.palaceignore", "secret.md\n")
    write("closed/secret.md")
    write("closed/below/b.md")
    refuse_to_read(monkeypatch, "closed")
    found = discover_notes(PalacePaths(tmp_path)).checked()
    assert [file.path for file in found.files] == ["palace/chambers/a.md"]
    ((path, is_failure, message),) = [(p.path, p.is_failure, p.message) for p in found.problems]
    assert (path, is_failure) == ("palace/closed", True) and "Permission denied" in message


def test_an_ignore_file_at_the_top_that_cannot_be_read_leaves_nothing_to_decide_on(
    tmp_path, write, monkeypatch
):
    write(".palaceignore", "secret/\n")
    refuse_to_read(monkeypatch, "palace")
    found = discover_notes(PalacePaths(tmp_path))
    assert (found.files, found.is_complete) == ((), False)
    with pytest.raises(ConfigError, match="palaceignore cannot be used"):
        found.checked()


def test_a_pattern_that_means_nothing_is_named_with_its_line(tmp_path, write):
    write("chambers/.palaceignore", "fine.md\n[z-a]\n")
    (problem,) = discover_notes(PalacePaths(tmp_path)).problems
    assert problem.is_failure and "(line 2, '[z-a]'" in problem.message


@pytest.mark.parametrize("pattern", ["*a" * 10, r"*\*\a" * 10, "*[ab]?" * 8])
def test_a_pattern_of_many_stars_ends(tmp_path, write, pattern):
    write(".palaceignore", pattern + "\n")
    write("chambers/" + "a" * 240 + ".md")
    assert len(names(tmp_path)) == 2


def test_stars_mean_what_they_mean_to_git(tmp_path, write):
    write(".palaceignore", "*a*b*c.md\n!x*keep*.md\n/chambers/**/d?e*.md\n")
    for name in ("aabbc.md", "acb.md", "xakeepbc.md", "deep/er/d1e.md", "d1f.md", "a/b/c.md"):
        write(f"chambers/{name}")
    left = {name.removeprefix("chambers/") for name in names(tmp_path)}
    assert left == {"a.md", "acb.md", "xakeepbc.md", "d1f.md", "a/b/c.md"}


def test_more_double_stars_than_any_path_needs_are_refused(tmp_path, write):
    write("chambers/.palaceignore", "a/**/" * 6 + "b\n")
    (problem,) = discover_notes(PalacePaths(tmp_path)).problems
    assert "more than 4 `**`" in problem.message


UNWANTED = {
    "node_modules/": "node_modules/p/README.md",
    "a.sync-conflict-20240131-120000-ABCDEFG.md": "a.sync-conflict-20240131-120000-ABCDEFG.md",
    "a (Ann's conflicted copy 2024-01-31).md": "a (Ann's conflicted copy 2024-01-31).md",
    "a (Conflicted copy mac 202401311200).md": "a (Conflicted copy mac 202401311200).md",
}


@pytest.mark.parametrize("left_out", UNWANTED)
def test_what_is_hardly_a_note_is_left_out_and_named_until_it_is_asked_for(
    tmp_path, write, left_out
):
    write(UNWANTED[left_out])
    found = discover_notes(PalacePaths(tmp_path))
    assert (len(found.files), found.left_out) == (1, (f"palace/{left_out}",))
    write(".palaceignore", f"!{left_out}\n")
    found = discover_notes(PalacePaths(tmp_path))
    assert (len(found.files), found.left_out) == (2, ())


@pytest.mark.parametrize(
    "name",
    [
        "Templates/Daily.md",
        "Email templates/a.md",
        "Template engines/a.md",
        "a (conflicted).md",
        "On a conflicted copy.md",
        "a (1).md",
    ],
)
def test_a_note_about_templates_or_copies_is_a_note(tmp_path, write, name):
    write(name)
    assert name in names(tmp_path)


@pytest.mark.parametrize(
    ("settings", "value", "left_out"),
    [
        ("templates.json", {"folder": "Meta/forms"}, "Meta/Forms/"),
        ("templates.json", {"folder": "/Meta/Forms/"}, "Meta/Forms/"),
        ("plugins/templater-obsidian/data.json", {"templates_folder": "Meta"}, "Meta/"),
        ("daily-notes.json", {"template": "Meta/Forms/Day"}, "Meta/Forms/Day.md"),
        ("templates.json", {"folder": ""}, ""),
        ("templates.json", ["folder"], ""),
    ],
)
@pytest.mark.parametrize("vault", ["", "sub/"])
def test_what_the_settings_of_a_vault_call_templates_is_left_out_and_named(
    tmp_path, write, vault, settings, value, left_out
):
    write(f"{vault}.obsidian/{settings}", json.dumps(value))
    write(f"{vault}Meta/Forms/Day.md")
    write(f"{vault}Templates/Note.md")
    found = discover_notes(PalacePaths(tmp_path))
    assert found.left_out == ((f"palace/{vault}{left_out}",) if left_out else ())
    assert len(found.files) == (2 if left_out else 3)
    write(f"{vault}.palaceignore", f"!{left_out.rstrip('/').rpartition('/')[2] or 'x'}\n")
    assert len(discover_notes(PalacePaths(tmp_path)).files) == 3


def test_settings_that_are_no_json_and_folders_that_are_ignored_name_no_templates(tmp_path, write):
    write(".obsidian/templates.json", "[" * 100_000)
    write("Templates/Daily.md")
    assert discover_notes(PalacePaths(tmp_path)).left_out == ()
    write(".palaceignore", "forms/\n")
    write(".obsidian/templates.json", '{"folder": "forms"}')
    write("forms/a.md")
    assert discover_notes(PalacePaths(tmp_path)).left_out == ()


def test_a_folder_that_may_not_be_entered_has_no_rules(tmp_path, write, monkeypatch):
    write("chambers/a.md")
    write("closed/b.md")
    stat = os.stat

    def refuse(path, *args, **kwargs):
        if "closed/" in os.fspath(path):
            raise PermissionError(13, "Permission denied")
        return stat(path, *args, **kwargs)

    monkeypatch.setattr("os.stat", refuse)
    _IgnoreRules(PalacePaths(tmp_path), use_git=False).enter("palace/closed")


def test_a_link_to_a_folder_whose_name_is_a_prefix_is_followed(tmp_path, write):
    note = write(".hidden/x.md").parent
    target = tmp_path / "palace" / "ab"
    note.rename(target)
    (tmp_path / "palace" / "abc").mkdir()
    (tmp_path / "palace" / "abc" / "link").symlink_to(target)
    assert "abc/link/x.md" in names(tmp_path)


def test_links_that_loop_leave_or_dangle_are_not_followed(tmp_path, write):
    room = tmp_path / "palace" / "chambers"
    (tmp_path / "outside.md").write_text("x")
    (room / "out.md").symlink_to(tmp_path / "outside.md")
    (room / "gone.md").symlink_to(room / "nowhere.md")
    (room / "self.md").symlink_to(room / "self.md")
    (room / "up").symlink_to(room.parent)
    (room / "here").symlink_to(room)
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "b.md").write_text("x")
    (room / "away").symlink_to(tmp_path / "away")
    found = discover_notes(PalacePaths(tmp_path))
    assert [file.path for file in found.files] == ["palace/chambers/a.md"]
    refused = [p.path.rpartition("/")[2] for p in found.problems]
    assert refused == ["away", "gone.md", "out.md", "self.md"]


def test_cold_is_the_resolved_folder_and_no_other(tmp_path, write):
    cold = write("archive_basement/2026/old.md")
    write("chambers/archive_basement_notes/b.md")
    (tmp_path / "palace" / "chambers" / "link.md").symlink_to(cold)
    found = {
        f.path.rpartition("/")[2]: f.is_cold for f in discover_notes(PalacePaths(tmp_path)).files
    }
    assert found == {"a.md": False, "b.md": False, "old.md": True, "link.md": True}


def test_a_walk_stops_at_the_most_entries_it_may_look_at(tmp_path, write):
    for number in range(1200):
        write(f"chambers/n{number}.md", "")
    found = discover_notes(PalacePaths(tmp_path), most_entries=1000)
    assert not found.is_complete and len(found.files) < 1200


def test_a_folder_or_file_that_may_not_be_looked_at_is_named(tmp_path, write, monkeypatch):
    write("locked/x.md")
    real = os.scandir

    def scandir(folder):
        if str(folder).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    found = discover_notes(PalacePaths(tmp_path))
    assert [f.path for f in found.files] == ["palace/chambers/a.md"]
    assert [(p.path, p.is_failure) for p in found.problems] == [("palace/locked", True)]


def test_a_name_that_is_not_utf8_is_reported(tmp_path, write):
    name = os.fsencode(tmp_path / "palace") + b"/caf\xe9.md"
    try:
        os.close(os.open(name, os.O_CREAT))
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (problem,) = discover_notes(PalacePaths(tmp_path)).problems
    assert problem.kind == "name" and problem.is_failure
    str(problem).encode()


def test_reading_returns_bytes_and_the_stat_they_came_from(tmp_path, write):
    file = write("chambers/b.md", "words")
    data, stat = read_note(PalacePaths(tmp_path), "palace/chambers/b.md", limit_bytes=5)
    assert data == b"words" and stat.mtime_ns == file.stat().st_mtime_ns
    with pytest.raises(NoteUnreadable, match="max_note_bytes"):
        read_note(PalacePaths(tmp_path), "palace/chambers/b.md", limit_bytes=4)
    with pytest.raises(FileNotFoundError):
        read_note(PalacePaths(tmp_path), "palace/chambers/c.md", limit_bytes=4)


def test_a_folder_that_became_a_link_outward_is_refused(tmp_path, write):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("not ours")
    (tmp_path / "palace" / "linked").symlink_to(outside)
    with pytest.raises(NoteUnreadable, match="leaves the palace"):
        read_note(PalacePaths(tmp_path), "palace/linked/a.md", limit_bytes=99)


def test_a_pipe_named_like_a_note_does_not_block(tmp_path, write):
    os.mkfifo(tmp_path / "palace" / "pipe.md")
    with pytest.raises(NoteUnreadable, match="not a regular file"):
        read_note(PalacePaths(tmp_path), "palace/pipe.md", limit_bytes=99)
