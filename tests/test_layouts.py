"""Both layouts: `palace/` with rooms, and a folder of notes taken as it stands."""

from __future__ import annotations

import io
import shutil
import subprocess
from datetime import date
from hashlib import sha256
from pathlib import Path

import pytest

from memory_palace.anchors.projects import active_projects
from memory_palace.cli.app import main
from memory_palace.config import FOLDERS, MANIFEST, ROOMS, SEVEN, PalacePaths, Rooms, nearest_paths
from memory_palace.errors import ConfigError, NotAPalaceError, RoomNotMappedError, UsageError
from memory_palace.notes.reading import find_disputes
from memory_palace.palace import Palace
from memory_palace.settings import parse_config, read_config

ROOT = Path(__file__).parent.parent
VAULT = {
    "Projects/alpha/frost.md": "# Frost\n\nThe rain gauge drifts when it freezes at night.\n",
    "Archive/2019/mast.md": "# Old mast\n\nThe mast was three metres.\n",
    "Tasks/README.md": "# Tasks\n\nWhat is to be done.\n",
    "bread.md": "# Bread\n\nFeed the starter on Mondays. See [[frost]].\n",
    "palace/moat.md": "# Moat\n\nThe moat is dry in August.\n",
    "notes.txt": "no note\n",
    ".obsidian/app.json": "{}\n",
    ".trash/gone.md": "# Gone\n\nThrown away.\n",
}
MAPPED = "rooms:\n  Archive: archive_basement\n  Tasks/: dispatch_corridor  # cards\n"


@pytest.fixture
def vault(tmp_path):
    """Somebody's folder of notes, one of them in a folder of the name ``palace``."""
    for path, text in VAULT.items():
        file = tmp_path / "vault" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "vault"


@pytest.fixture
def mapped(vault):
    """The same as a palace, with two rooms."""
    Palace.init(vault, here=True)
    (vault / ".palace" / "palace.yaml").write_text(MAPPED)
    return vault


def digests(root):
    return {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".palace" not in path.relative_to(root).parts
    }


def run(capsys, *arguments):
    """Return status, stdout and stderr of a command."""
    try:
        main(list(map(str, arguments)))
        status = 0
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    return status, out, err


def test_a_folder_is_taken_as_it_stands_and_asked_without_a_byte_changed(vault, capsys):
    before = digests(vault)
    for verb in (
        ["init", "--here", vault],
        ["-C", vault, "index", "--embedder", "hashing"],
        ["-C", vault, "query", "why does the rain gauge drift", "-k", "1"],
        ["-C", vault, "status"],
        ["-C", vault, "doctor"],
        ["-C", vault, "cold", "check"],
        ["-C", vault, "graph", "broken"],
    ):
        status, out, _ = run(capsys, *verb)
        assert status == 0, (verb, out)
        if "query" in verb:
            assert "Projects/alpha/frost.md" in out
    assert digests(vault) == before
    palace = Palace(vault)
    assert [note.path for note in palace.notes()] == [
        "Archive/2019/mast.md",
        "Projects/alpha/frost.md",
        "Tasks/README.md",
        "bread.md",
        "palace/moat.md",
    ]
    assert "Projects/alpha/frost.md" in str(palace.graph().neighbors("bread.md"))


def test_git_sees_what_is_to_keep_and_nothing_that_is_derived(mapped, capsys):
    subprocess.run(["git", "init", "-q", mapped], check=True)
    Palace(mapped).index(embedder="hashing")
    run(capsys, "-C", mapped, "seek", "start", "frost")
    run(capsys, "-C", mapped, "new", "Rain")
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


def test_rooms_are_folders_that_the_settings_name(mapped):
    palace = Palace(mapped)
    palace.index(embedder="hashing")
    notes = {note.path: note for note in palace.notes(include_cold=True)}
    assert notes["Archive/2019/mast.md"].is_cold
    assert "Archive/2019/mast.md" not in {note.path for note in palace.notes()}
    assert notes["Tasks/README.md"].type == "task"
    assert [n.path for n in palace.notes(room="dispatch_corridor")] == ["Tasks/README.md"]


def test_a_room_whose_folder_is_not_there_is_named(vault):
    palace = Palace.init(vault, here=True)
    palace.paths.settings.write_text("rooms: {archive: archive_basement}\n")
    palace = Palace(vault)
    problems = [*palace.index(embedder="hashing").problems, *palace.status().problems]
    assert [problem.path for problem in problems] == [".palace/palace.yaml"] * 2
    assert "no folder archive for archive_basement" in problems[0].message
    (vault / "archive").mkdir()
    assert not palace.index().problems


def test_a_room_that_is_named_later_types_and_archives_its_notes_at_the_next_build(vault):
    Palace.init(vault, here=True).index(embedder="hashing")
    (vault / ".palace" / "palace.yaml").write_text(MAPPED)
    palace = Palace(vault)
    assert palace.index().embedded == 0
    notes = {note.path: note for note in palace.notes(include_cold=True)}
    assert notes["Archive/2019/mast.md"].is_cold
    assert notes["Tasks/README.md"].type == "task"
    palace.cold_zone.fix()
    assert palace.cold_zone.check() == []


def test_a_card_is_kept_in_the_folder_that_is_the_corridor(mapped, capsys):
    card = ["task", "new", "Swap packs", "--owner", "wren", "--project", "alpha", "--goal", "g"]
    run(capsys, "-C", mapped, *card, "--check", "done", "--apply")
    (path,) = mapped.glob("Tasks/active/*_swap-packs.md")
    run(capsys, "-C", mapped, "task", "block", "swap-packs", "--reason", "rain", "--apply")
    assert not path.exists() and (mapped / "Tasks" / "blocked" / path.name).exists()
    assert not (mapped / "dispatch_corridor").exists()


def test_what_is_archived_comes_back_to_where_it_was_also_without_the_log(mapped):
    palace = Palace(mapped)
    palace.index(embedder="hashing")
    palace.cold_zone.archive("moat", apply=True)
    (moved,) = mapped.glob("Archive/*/palace/moat.md")
    shutil.rmtree(mapped / ".palace" / "logs")
    palace.cold_zone.restore("moat", apply=True)
    assert (mapped / "palace" / "moat.md").exists() and not moved.exists()


NEEDED = {
    "dispatch_corridor": "task new A --owner o --project p --goal g --check c".split(),
    "conflict_room": ["conflict", "open", "bread", "frost", "--by", "me"],
    "reflection_wing": ["memory", "new", "A", "--content", "Two words here."],
    "grand_hall": ["map"],
    "archive_basement": ["cold", "archive", "bread"],
    "chambers": ["locus", "add", "Attic", "--at", "1,2"],
}


@pytest.mark.parametrize("room", NEEDED)
def test_a_verb_that_needs_a_room_names_the_line_or_makes_it(vault, capsys, room):
    Palace.init(vault, here=True).index(embedder="hashing")
    before = digests(vault)
    verb = ["-C", vault, *NEEDED[room]]
    status, _, err = run(capsys, *verb)
    assert status == 2 and err.count("\n") == 1, err
    assert f": {room}}}`" in err and ".palace/palace.yaml" in err and "--apply" in err
    assert digests(vault) == before and not (vault / ".palace" / "palace.yaml").exists()
    status, out, err = run(capsys, *verb, "--apply")
    assert status == 0, err
    assert f"+  {room}: {room}" in out
    assert read_config(vault / ".palace" / "palace.yaml").rooms == {room: room}
    assert list((vault / room).rglob("*.md"))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "rooms:\n  chambers: chambers\n"),
        ("usage_log: true", "usage_log: true\nrooms:\n  chambers: chambers\n"),
        ("rooms:\n", "rooms:\n  chambers: chambers\n"),
        (
            "# mine\nrooms: # folders\n    # people\n    Tasks: dispatch_corridor\nignore: git\n",
            "# mine\nrooms: # folders\n    # people\n    chambers: chambers\n"
            "    Tasks: dispatch_corridor\nignore: git\n",
        ),
    ],
)
def test_a_line_of_the_settings_is_added_and_every_other_byte_stays(vault, text, after):
    palace = Palace.init(vault, here=True)
    settings = palace.paths.settings
    settings.write_text(text)
    Palace(vault).loci.add("Attic", pose=_pose(), apply=True)
    assert settings.read_text() == after


def test_settings_that_cannot_be_extended_are_left_alone(vault):
    palace = Palace.init(vault, here=True)
    palace.paths.settings.write_text("rooms: {Tasks: dispatch_corridor}\n")
    with pytest.raises(UsageError, match=r"could not be extended; add `chambers: chambers`"):
        Palace(vault).loci.add("Attic", pose=_pose(), apply=True)
    assert palace.paths.settings.read_text() == "rooms: {Tasks: dispatch_corridor}\n"
    assert not (vault / "chambers").exists()


def test_a_link_that_has_a_rooms_name_and_leads_out_is_no_room(vault):
    palace = Palace.init(vault, here=True)
    (vault.parent / "elsewhere").mkdir()
    (vault / "chambers").symlink_to(vault.parent / "elsewhere")
    with pytest.raises(ConfigError, match="leads out of the notes"):
        palace.loci.add("Attic", pose=_pose(), apply=True)
    assert not palace.paths.settings.exists()


def _pose():
    from memory_palace.navigation.nodes import Pose2D

    return Pose2D(1.0, 2.0, 0.0)


@pytest.mark.parametrize(
    "folder", ["../out", "/etc", "a/../b", "", ".", "a//b", ".obsidian", "a/.b", 3]
)
def test_a_room_is_a_folder_inside(folder):
    with pytest.raises(ConfigError, match="rooms: "):
        parse_config({"rooms": {folder: "chambers"}})


def test_a_room_of_another_name_is_refused_and_the_nearest_named():
    with pytest.raises(ConfigError, match="did you mean 'archive_basement'"):
        parse_config({"rooms": {"Archive": "archive"}})


def test_a_room_that_is_a_link_out_of_the_notes_is_refused(mapped, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(mapped / "Tasks")
    (mapped / "Tasks").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="'Tasks' is a link that leads out of the notes"):
        Palace(mapped)


@pytest.mark.parametrize("embedder", ["llm:gpt", "llm:http://127.0.0.1/x"])
def test_a_palace_cannot_choose_who_is_sent_its_notes(embedder):
    with pytest.raises(ConfigError, match="--embedder llm:"):
        parse_config({"embedder": embedder})


def test_new_notes_go_where_they_are_asked_to(vault):
    palace = Palace.init(vault, here=True)
    assert palace.new("Rain") == "Rain.md"
    assert palace.new("Rain", folder="Projects/alpha/") == "Projects/alpha/Rain.md"
    with pytest.raises(RoomNotMappedError, match="chambers"):
        palace.new("Rain", room="chambers")
    with pytest.raises(UsageError, match="not both"):
        palace.new("Rain", room="chambers", folder="Projects")
    for outside in ("../x", ".palace", "/etc"):
        with pytest.raises(UsageError, match="outside the palace"):
            palace.new("Snow", folder=outside)
    classic = Palace.init(vault.parent / "classic")
    assert classic.new("Rain") == "palace/project_rooms/Rain.md"
    assert classic.new("Rain", folder="chambers") == "palace/chambers/Rain.md"


def test_an_ignore_file_that_cannot_be_used_keeps_the_index_and_answers(vault, capsys):
    palace = Palace.init(vault, here=True)
    palace.index(embedder="hashing")
    (vault / ".palaceignore").write_text("Projects/\n[z-a]\n")
    for verb, wanted in (("query frost", 0), ("list", 0), ("status", 0), ("cold check", 0)):
        assert run(capsys, "-C", vault, *verb.split())[0] == wanted, verb
    status, _, err = run(capsys, "-C", vault, "index")
    assert status == 2 and "(line 2, '[z-a]'" in err and err.count("\n") == 1
    assert run(capsys, "-C", vault, "task", "list")[0] == 2
    status, out, _ = run(capsys, "-C", vault, "doctor")
    assert status == 8 and out.count("problem  ") == 1
    assert len(Palace(vault).notes()) == 5


def test_nothing_but_notes_of_the_folder_is_ever_changed(vault):
    palace = Palace.init(vault, here=True)
    (vault / "out.md").symlink_to(vault.parent / "other.md")
    (vault.parent / "other.md").write_text("mine")
    report = palace.index(embedder="hashing")
    (problem,) = report.problems
    assert problem.path == "out.md" and "make a palace there" in problem.message
    assert palace.status().problems == (problem,)


def test_status_says_that_use_is_logged_and_where(mapped, capsys):
    (mapped / ".palace" / "palace.yaml").write_text("usage_log: true\n")
    Palace(mapped).index(embedder="hashing")
    _, out, _ = run(capsys, "-C", mapped, "status")
    assert "logged in .palace/logs/usage.jsonl" in out


# --- Which folder is meant -----------------------------------------------------------------


def test_its_own_folder_comes_before_one_that_is_called_palace(mapped):
    assert not Palace(mapped).paths.is_classic
    assert Palace(mapped / ".palace").paths.root == mapped
    assert Palace.discover(mapped / "palace").paths.root == mapped
    assert Palace.discover(mapped / "Projects" / "alpha").paths.root == mapped


def test_a_folder_called_palace_does_not_hide_the_palace_it_is_in(mapped):
    (mapped / "Projects" / "palace").mkdir()
    assert Palace.discover(mapped / "Projects").paths.root == mapped
    Palace.init(mapped / "Projects" / "own")
    assert Palace.discover(mapped / "Projects" / "own").paths.root == mapped / "Projects" / "own"


def test_a_palace_in_a_folder_of_another_is_the_nearest_from_inside(mapped):
    inner = mapped / "Projects" / "alpha"
    Palace.init(inner, here=True).index(embedder="hashing")
    assert Palace.discover(inner).paths.root == inner
    Palace(mapped).index(embedder="hashing")
    assert "Projects/alpha/frost.md" in {note.path for note in Palace(mapped).notes()}


def test_where_there_is_no_palace_the_next_command_is_named(tmp_path, capsys):
    status, _, err = run(capsys, "-C", tmp_path, "query", "x")
    assert status == 3 and "palace init --here" in err and err.count("\n") == 1
    with pytest.raises(NotAPalaceError):
        Palace(tmp_path)
    assert nearest_paths(tmp_path) is None


# --- palace init ---------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(("answer", "is_classic"), [("y\n", False), ("\n", False), ("n\n", True)])
def test_init_asks_a_terminal_where_there_are_notes(vault, capsys, monkeypatch, answer, is_classic):
    shutil.rmtree(vault / "palace")
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    status, out, _ = run(capsys, "init", vault)
    assert status == 0 and "4 notes in" in out
    assert Palace(vault).paths.is_classic == is_classic
    assert (vault / "palace").exists() == is_classic


def test_init_without_a_terminal_says_what_to_type(vault, capsys):
    shutil.rmtree(vault / "palace")
    status, out, err = run(capsys, "init", vault)
    assert (status, out) == (0, f"{vault}/palace\n")
    assert "4 notes in" in err and "`palace init --here`" in err
    _, _, err = run(capsys, "-C", vault, "index", "--embedder", "none")
    assert "4 notes in" in err and "`palace init --here`" in err
    assert run(capsys, "init", "--here", vault)[:2] == (0, f"{vault}/.palace\n")
    assert not (vault / "palace").exists()
    assert run(capsys, "init", vault)[:2] == (0, f"{vault}/.palace\n")


def test_a_folder_that_is_not_there_is_not_taken_as_it_stands(tmp_path, capsys):
    status, _, err = run(capsys, "init", "--here", tmp_path / "mistyped")
    assert status == 2 and "there is no folder" in err and not (tmp_path / "mistyped").exists()


def test_a_classic_palace_in_use_is_not_made_a_second_one(tmp_path, capsys):
    palace = Palace.init(tmp_path)
    palace.new("Rain")
    palace.index(embedder="hashing")
    status, _, err = run(capsys, "init", "--here", tmp_path)
    assert status == 2 and "references/layouts.md" in err and not (tmp_path / ".palace").exists()


# --- Paths, rooms and places ---------------------------------------------------------------


def test_the_classic_layout_has_the_seven_rooms_in_palace():
    assert [SEVEN.folder_of(room) for room in ROOMS] == [f"palace/{room}" for room in ROOMS]
    assert SEVEN.room_of("palace/chambers/a/b.md") == "chambers"
    assert SEVEN.room_of("palace/elsewhere/b.md") is None


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("Tasks/active/a.md", "dispatch_corridor/active/a.md"),
        ("Tasks/deep/er/a.md", "chambers/er/a.md"),
        ("Archive/2020/Tasks/active/a.md", "archive_basement/2020/dispatch_corridor/active/a.md"),
        ("Archive/Tasks/a.md", "archive_basement/dispatch_corridor/a.md"),
        ("Archive/2020/x.md", "archive_basement/2020/x.md"),
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


def test_everything_that_is_written_lies_in_one_folder(tmp_path):
    paths = PalacePaths(tmp_path, is_classic=False)
    for place in ("manifest", "settings", "index", "commit", "lock", "sessions", "logs"):
        assert getattr(paths, place).is_relative_to(tmp_path / ".palace"), place
    assert (paths.notes, paths.prefix) == (tmp_path, "")


# --- The same palace in both layouts, its rooms under other names --------------------------


@pytest.fixture
def both(tmp_path):
    """The sample palace, and its notes in a folder taken as it stands."""
    classic, here = tmp_path / "classic", tmp_path / "here"
    shutil.copytree(ROOT / "palace", classic / "palace", ignore=shutil.ignore_patterns(".*"))
    (here / ".palace").mkdir(parents=True)
    for room, folder in FOLDERS.items():
        shutil.copytree(classic / "palace" / room, here / folder)
    for file in here.rglob("*.md"):
        text = file.read_bytes()
        for room, folder in FOLDERS.items():
            text = text.replace(f"palace/{room}/".encode(), f"{folder}/".encode())
        file.write_bytes(text)
    rooms = "".join(f"  {folder}: {room}\n" for room, folder in FOLDERS.items())
    (here / ".palace" / "palace.yaml").write_text(f"rooms:\n{rooms}")
    lines = (classic / "palace" / MANIFEST).read_text("utf-8")
    for room, folder in FOLDERS.items():
        lines = lines.replace(f'"palace/{room}/', f'"{folder}/')
    (here / ".palace" / MANIFEST).write_text(lines, "utf-8")
    for root in (classic, here):
        Palace(root).index(embedder="hashing")
    return Palace(classic), Palace(here)


def as_classic(text):
    """Return a text with the paths that it has in the classic layout."""
    for room, folder in FOLDERS.items():
        text = text.replace(f"{folder}/", f"palace/{room}/")
    return text


LOOKED_AT = {
    "tasks": lambda p: [(card.path, card.state) for card in p.tasks.list()],
    "lint": lambda p: p.tasks.lint(),
    "conflicts": lambda p: [c.path for c in p.conflicts.list(include_closed=True)],
    "memories": lambda p: [memory.id for memory in p.memories.list()],
    "report": lambda p: p.metabolism.report(today=date(2026, 11, 21)).proposals,
    "ripe": lambda p: p.metabolism.report(today=date(2026, 11, 21)).ripe,
    "projects": lambda p: active_projects(p.snapshot()),
    "leaks": lambda p: p.cold_zone.check(),
    "broken": lambda p: [(link.source, link.target) for link in p.graph().broken()],
    "notes": lambda p: [(n.path, n.type, n.is_cold) for n in p.notes(include_cold=True)],
    "rooms": lambda p: p.status().rooms.items(),
    "disputed": lambda p: find_disputes(p.paths).items(),
    "loci": lambda p: [locus.path for locus in p.loci.read().loci],
}


@pytest.mark.parametrize("what", LOOKED_AT)
def test_a_palace_is_the_same_under_other_names(both, what):
    classic, here = ([repr(found) for found in LOOKED_AT[what](palace)] for palace in both)
    assert sorted(classic) == sorted(map(as_classic, here))
    assert classic or what in ("leaks", "lint", "loci", "broken", "ripe")


def test_a_card_is_distilled_and_an_asset_made_in_the_folders_that_are_the_rooms(both):
    diffs = []
    for palace in both:
        done = [card for card in palace.tasks.list() if card.state == "completed"]
        outcomes = [palace.metabolism.distill(card.path) for card in done[:2]]
        panel = palace.map()
        diffs.append("".join(outcome.diff for outcome in (*outcomes, panel)))
    assert diffs[0] == as_classic(diffs[1])
    assert "Insights/telegrams/" in diffs[1] and "Home/control_panel.md" in diffs[1]
