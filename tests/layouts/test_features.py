"""Every feature works in both layouts: `palace/` with rooms, and a folder taken as it stands."""

import shutil
from datetime import date

import pytest
from copying_palaces import copy_sample
from running import run_main
from vaults import MAPPED, a_pose, digests

from memory_palace.config import FOLDERS
from memory_palace.errors import ConfigError, RoomNotMappedError, UsageError
from memory_palace.graph.naming import active_projects
from memory_palace.notes.note import find_disputes
from memory_palace.palace import Palace
from memory_palace.places import MANIFEST
from memory_palace.settings import read_config


def test_a_folder_is_taken_as_it_stands_and_asked_without_a_byte_changed(vault, capsys):
    before = digests(vault)
    for verb in (
        ["init", "--here", vault],
        ["-C", vault, "index", "--embedder", "hashing"],
        ["-C", vault, "query", "why does the rain gauge drift", "-k", "1"],
        ["-C", vault, "status"],
        ["-C", vault, "doctor"],
        ["-C", vault, "metabolism", "cold"],
        ["-C", vault, "graph", "broken"],
    ):
        status, out, _ = run_main(capsys, *verb)
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


def test_a_room_that_is_named_later_types_and_archives_its_notes_at_the_next_build(vault):
    Palace.init(vault, here=True).index(embedder="hashing")
    (vault / ".palace" / "palace.yaml").write_text(MAPPED)
    palace = Palace(vault)
    assert palace.index().embedded == 0
    notes = {note.path: note for note in palace.notes(include_cold=True)}
    assert notes["Archive/2019/mast.md"].is_cold
    assert "Archive/2019/mast.md" not in {note.path for note in palace.notes()}
    assert notes["Tasks/README.md"].type == "task"
    assert [n.path for n in palace.notes(room="dispatch_corridor")] == ["Tasks/README.md"]
    palace.cold_zone.fix()
    assert palace.cold_zone.check() == []


def test_a_card_is_kept_in_the_folder_that_is_the_corridor(mapped, capsys):
    card = ["task", "new", "Swap packs", "--owner", "wren", "--project", "alpha", "--goal", "g"]
    run_main(capsys, "-C", mapped, *card, "--check", "done", "--apply")
    (path,) = mapped.glob("Tasks/active/*_swap-packs.md")
    run_main(capsys, "-C", mapped, "task", "block", "swap-packs", "--reason", "rain", "--apply")
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
    "grand_hall": ["graph", "map", "--json"],
    "archive_basement": ["metabolism", "archive", "bread"],
    "chambers": ["seek", "locus", "add", "Attic", "--at", "1,2"],
}


@pytest.mark.parametrize("room", NEEDED)
def test_a_verb_that_needs_a_room_names_the_line_or_makes_it(vault, capsys, room):
    Palace.init(vault, here=True).index(embedder="hashing")
    before = digests(vault)
    verb = ["-C", vault, *NEEDED[room]]
    status, out, err = run_main(capsys, *verb)
    said = out + err  # an error is JSON on stdout where that was asked for
    assert status == 2 and said.count("\n") == 1, said
    assert f": {room}}}`" in said and ".palace/palace.yaml" in said and "--apply" in said
    settings = vault / ".palace" / "palace.yaml"
    assert digests(vault) == before and not settings.exists()
    settings.write_text("rooms:\n")  # no block can follow
    assert run_main(capsys, *verb, "--apply")[0] == 2 and settings.read_text() == "rooms:\n"
    settings.unlink()
    status, out, err = run_main(capsys, *verb, "--apply")
    assert status == 0, err
    assert f"+  {room}: {room}" in out
    assert read_config(settings).rooms == {room: room}
    assert list((vault / room).rglob("*.md"))


def test_a_new_memory_makes_its_room_and_says_so(vault, capsys):
    Palace.init(vault, here=True)
    before = digests(vault)
    status, out, err = run_main(capsys, "-C", vault, *"memory new A --content Rain.".split())
    assert (status, out) == (0, "reflection_wing/memories/A.md\n")
    assert "+  reflection_wing: reflection_wing" in err
    assert before.items() <= digests(vault).items()


def test_a_link_that_has_a_rooms_name_and_leads_out_is_no_room(vault):
    palace = Palace.init(vault, here=True)
    (vault.parent / "elsewhere").mkdir()
    (vault / "chambers").symlink_to(vault.parent / "elsewhere")
    with pytest.raises(ConfigError, match="leads out of the notes"):
        palace.loci.add("Attic", pose=a_pose(), apply=True)
    assert not palace.paths.settings.exists()


def test_new_notes_go_where_they_are_asked_to(vault):
    palace = Palace.init(vault, here=True)
    assert palace.new("Rain") == "Rain.md"
    assert palace.new("Rain", folder="Projects/alpha/") == "Projects/alpha/Rain.md"
    with pytest.raises(RoomNotMappedError, match="chambers"):
        palace.new("Rain", room="chambers")
    with pytest.raises(UsageError, match="not both"):
        palace.new("Rain", room="chambers", folder="Projects")
    with pytest.raises(UsageError, match="conditions alone"):
        palace.notes("rain")
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
    for verb, wanted in (("query frost", 0), ("list", 0), ("status", 0), ("metabolism cold", 0)):
        assert run_main(capsys, "-C", vault, *verb.split())[0] == wanted, verb
    status, _, err = run_main(capsys, "-C", vault, "index")
    assert status == 2 and "(line 2, '[z-a]'" in err and err.count("\n") == 1
    assert run_main(capsys, "-C", vault, "task", "list")[0] == 2
    status, out, _ = run_main(capsys, "-C", vault, "doctor")
    assert status == 8 and out.count("problem  ") == 1
    assert len(Palace(vault).notes()) == 5


def test_status_says_that_use_is_logged_and_where(mapped, capsys):
    (mapped / ".palace" / "palace.yaml").write_text("usage_log: on\n")
    Palace(mapped).index(embedder="hashing")
    _, out, _ = run_main(capsys, "-C", mapped, "status")
    said = "logged in .palace/logs/usage.jsonl; `usage_log: off` in .palace/palace.yaml"
    assert said in " ".join(out.split())


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The sample palace, and its notes in a folder taken as it stands; neither is changed."""
    root = tmp_path_factory.mktemp("both")
    classic, here = copy_sample(root / "classic", embedder="hashing").paths.root, root / "here"
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
    Palace(here).index(embedder="hashing")
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
