"""Where notes and all else lie in both layouts, and which folder is meant."""

import io
import shutil
import subprocess

import pytest
from running import run_main
from vaults import a_pose

from memory_palace.config import Rooms
from memory_palace.errors import ConfigError, UsageError
from memory_palace.palace import Palace
from memory_palace.settings import parse_config


def test_git_sees_what_is_to_keep_and_nothing_that_is_derived(mapped, capsys):
    subprocess.run(["git", "init", "-q", mapped], check=True)
    Palace(mapped).index(embedder="hashing")
    run_main(capsys, "-C", mapped, "seek", "start", "frost")
    run_main(capsys, "-C", mapped, "new", "Rain", "--body", "It rains.")
    listed = ["git", "-C", mapped, "ls-files", "--others", "--exclude-standard", ".palace"]
    found = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split()
    assert sorted(found) == [
        ".palace/.gitignore",
        ".palace/logs/moves.jsonl",
        ".palace/palace.yaml",
        ".palace/watchdog_manifest_v1.jsonl",
    ]


def test_git_ignores_the_index_of_a_classic_palace(tmp_path):
    Palace.init(tmp_path).index(embedder="hashing")
    assert (tmp_path / "palace" / ".index" / ".gitignore").read_text() == "*\n"
    assert Palace(tmp_path).doctor().findings == ()


def test_a_room_whose_folder_is_not_there_is_named(vault):
    palace = Palace.init(vault, here=True)
    palace.paths.settings.write_text("rooms: {archive: archive_basement}\n")
    palace = Palace(vault)
    problems = [*palace.index(embedder="hashing").problems, *palace.status().problems]
    assert [problem.path for problem in problems] == [".palace/palace.yaml"] * 2
    assert "no folder archive for archive_basement" in problems[0].message
    (vault / "archive").mkdir()
    assert not palace.index().problems


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "rooms:\n  chambers: chambers\n"),
        ("usage_log: true", "usage_log: true\nrooms:\n  chambers: chambers\n"),
    ],
)
def test_a_room_is_added_to_the_settings_and_every_other_byte_stays(vault, text, after):
    palace = Palace.init(vault, here=True)
    settings = palace.paths.settings
    settings.write_text(text)
    Palace(vault).loci.add("Attic", pose=a_pose(), apply=True)
    assert settings.read_text() == after


def test_settings_that_name_rooms_are_left_alone(vault):
    palace = Palace.init(vault, here=True)
    palace.paths.settings.write_text("rooms: {Tasks: dispatch_corridor}\n")
    with pytest.raises(UsageError, match="name one in"):
        Palace(vault).loci.add("Attic", pose=a_pose(), apply=True)
    assert palace.paths.settings.read_text() == "rooms: {Tasks: dispatch_corridor}\n"
    assert not (vault / "chambers").exists()


@pytest.mark.parametrize(
    "folder", ["../out", "/etc", "a/../b", "", ".", "a//b", ".obsidian", "a/.b", 3]
)
def test_a_room_is_a_folder_inside_and_one_of_seven(folder):
    with pytest.raises(ConfigError, match="rooms: "):
        parse_config({"rooms": {folder: "chambers"}})
    with pytest.raises(ConfigError, match="did you mean 'archive_basement'"):
        parse_config({"rooms": {"Archive": "archive"}})


def test_a_room_that_is_a_link_out_of_the_notes_is_refused(mapped, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(mapped / "Tasks")
    (mapped / "Tasks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="'Tasks' is a link that leads out of the notes"):
        Palace(mapped)


def test_its_own_folder_comes_before_one_that_is_called_palace(mapped):
    assert not Palace(mapped).paths.is_classic
    assert Palace(mapped / ".palace").paths.root == mapped
    (mapped / "Projects" / "palace").mkdir()
    for below in ("palace", "Projects", "Projects/alpha"):
        assert Palace.discover(mapped / below).paths.root == mapped
    Palace.init(mapped / "Projects" / "own")
    assert Palace.discover(mapped / "Projects" / "own").paths.root == mapped / "Projects" / "own"
    inner = mapped / "Projects" / "alpha"
    Palace.init(inner, here=True).index(embedder="hashing")
    assert Palace.discover(inner).paths.root == inner
    Palace(mapped).index(embedder="hashing")
    assert "Projects/alpha/frost.md" in {note.path for note in Palace(mapped).notes()}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("answer", "is_classic"), [("y\n", False), ("\n", False), ("n\n", True)])
def test_init_asks_a_terminal_where_there_are_notes(vault, capsys, monkeypatch, answer, is_classic):
    shutil.rmtree(vault / "palace")
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    status, out, _ = run_main(capsys, "init", vault)
    assert status == 0 and "4 notes in" in out
    assert Palace(vault).paths.is_classic == is_classic
    assert (vault / "palace").exists() == is_classic


def test_init_without_a_terminal_says_what_to_type(vault, capsys):
    shutil.rmtree(vault / "palace")
    status, out, err = run_main(capsys, "init", vault)
    assert (status, out) == (0, f"{vault}/palace\n")
    assert "4 notes in" in err and "`palace init --here`" in err
    _, _, err = run_main(capsys, "-C", vault, "index", "--embedder", "none")
    assert "4 notes in" in err and "`palace init --here`" in err
    assert run_main(capsys, "init", "--here", vault)[:2] == (0, f"{vault}/.palace\n")
    assert not (vault / "palace").exists()
    assert run_main(capsys, "init", vault)[:2] == (0, f"{vault}/.palace\n")


def test_a_folder_that_is_not_there_is_not_taken_as_it_stands(tmp_path, capsys):
    status, _, err = run_main(capsys, "init", "--here", tmp_path / "mistyped")
    assert status == 2 and "there is no folder" in err and not (tmp_path / "mistyped").exists()


def test_a_classic_palace_in_use_is_not_made_a_second_one(tmp_path, capsys):
    palace = Palace.init(tmp_path)
    palace.new("Rain")
    palace.index(embedder="hashing")
    status, _, err = run_main(capsys, "init", "--here", tmp_path)
    assert status == 2 and "references/layouts.md" in err and not (tmp_path / ".palace").exists()


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("Tasks/active/a.md", "dispatch_corridor/active/a.md"),
        ("Tasks/deep/er/a.md", "chambers/er/a.md"),
        ("Archive/2020/Tasks/active/a.md", "archive_basement/2020/dispatch_corridor/active/a.md"),
        ("Archive/x.md", "archive_basement/x.md"),
        ("Tasks.md", "./Tasks.md"),
        ("dispatch_corridor/active/a.md", "./dispatch_corridor/active/a.md"),
        ("Bu\u0308ro/a.md", "grand_hall/a.md"),
    ],
)
def test_a_place_names_the_room_instead_of_its_folder(path, place):
    folders = {"Tasks": "dispatch_corridor", "Tasks/deep": "chambers", "B\u00fcro": "grand_hall"}
    rooms = Rooms({**folders, "Archive": "archive_basement"})
    assert rooms.place_of(path) == place
    if not place.startswith("./") and "archive" not in place and path.isascii():
        assert rooms.path_of(place) == path


@pytest.mark.parametrize(
    ("path", "is_archived"),
    [
        ("Archive/a.md", True),
        ("Archived/a.md", False),
        ("x/archive_basement/a.md", True),
        ("x/Archive/a.md", False),
        ("my_archive_basement/a.md", False),
        ("Archive", True),
    ],
)
def test_the_archive_is_a_folder_of_that_name_or_one_that_is_called_so(path, is_archived):
    assert Rooms({"Archive": "archive_basement"}).is_archived(path) == is_archived
