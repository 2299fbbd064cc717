"""``palace undo`` after every verb that changes notes, in both layouts."""

import ast
import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_reference import walk_verbs
from importing_exports import claude_conversation, claude_message
from typer.testing import CliRunner

from memory_palace.changes.journal import read_log
from memory_palace.cli.group import app
from memory_palace.config import ROOMS
from memory_palace.errors import UsageError
from memory_palace.features.redqueen import rounds, verbs
from memory_palace.features.redqueen.session import RoundFindings, RoundProposal
from memory_palace.palace import Palace

ROOT = Path(__file__).parent.parent.parent
CHANGING = """
new Lantern --body "Trim the wick." --in "a new folder/inside"
remember "- one more line" --to control_panel --under Notes
remember the radio of the hut needs a new fuse --agent wren
import {talks} --apply
task new Packs --owner wren --project winter-2026 --goal Fresh --check swapped --apply
task tick winter-battery-swap 3 --apply
task block winter-battery-swap --reason "no snow" --apply
task start heated-hygrometer-trial --apply
task complete leave-on-paper --apply
task start saddle-hut-visit --reason again --apply
redqueen add "who wrote this" control_panel
conflict open control_panel:1-2 constitution --by sable --apply
conflict resolve mast-height-at-saddle-hut --wontfix --decision "both stand" --by Jean --apply
metabolism distill saddle-hut-visit --apply
metabolism promote warm --as principle --section Rationale=cold --section {when} --apply
metabolism apply --apply
redqueen run --model any --apply
graph map --apply
seek locus add Cellar --at 2.5,-1 --summary bottles --apply
memory new Gong --image "Kick it." --content "Everyone votes." --token "wet gong slippers"
memory score "thread in the funnel" --set "humor: two neighbours laugh" --apply
memory review "thread in the funnel" --recalled
metabolism archive "frost message" --apply
metabolism restore "an old siting" --apply
metabolism cold --fix
"""
"""A command line for each verb that changes notes, or what is kept of them."""
NOUNS = {" --to ": "append", "redqueen add": "golden", "seek locus": "locus", "graph map": "map"}
NOUNS |= {f"metabolism {verb}": "cold" for verb in ("archive", "restore", "cold")}
"""What the log calls a change, where that is not the first word."""
LINES = CHANGING.strip().splitlines()


def make_palace(folder, *, as_it_stands):
    """Make a copy of the sample palace with something for every verb to do; return its root."""
    root = folder / "notes"
    shutil.copytree(ROOT / "palace", root / "palace", ignore=shutil.ignore_patterns(".*"))
    notes = root / "palace"
    card = (
        "---\nstatus: completed\ncompleted: 2026-10-{}\nproject: {}\n---\n"
        "## Goal\n\nSee [[warm]].\n"
    )
    for day, project in (("01", "winter-2026"), ("02", "radio-link")):
        path = notes / "dispatch_corridor" / "completed" / f"2026-10-{day}_warmed.md"
        path.write_text(card.format(day, project))
    done = (
        "---\nstatus: active\nproject: radio\n---\n"
        "## Goal\n\nGo.\n\n## Acceptance Checks\n\n- [x] gone\n"
    )
    (notes / "dispatch_corridor" / "active" / "2026-11-05_leave-on-paper.md").write_text(done)
    rule = "---\ndate: 2026-08-01\n---\n# Warm first\n\n## Principle\n\nWarm the cell first.\n"
    (notes / "project_rooms" / "winter-2026" / "warm.md").write_text(rule)
    old = "---\ndate: 2020-01-01\nsuperseded_by: warm\n---\n# Old\n\n## Principle\n\nPaint.\n"
    (notes / "reflection_wing" / "principles" / "old.md").write_text(old)
    (notes / "archive_basement" / "2026" / "chambers").mkdir()
    old_note = notes / "archive_basement" / "2026" / "chambers" / "an old siting.md"
    old_note.write_text("# An old siting\n\nBy the chapel.\n")
    listed = '{"path": "palace/chambers/an old siting.md"}\n'
    golden = "| question | note |\n|---|---|\n| who keeps this | control_panel |\n"
    (notes / "golden_questions.md").write_text(golden)
    cold = '{"path": "palace/archive_basement/2026/broker settings.md"}\n'
    manifest = notes / "watchdog_manifest_v1.jsonl"
    manifest.write_text(manifest.read_text() + cold + listed)
    talks = [
        claude_conversation(n, [claude_message(2, "human", f"Warm the cell, number {n}.")])
        for n in range(1, 121)
    ]
    (folder / "talks.json").write_text(json.dumps(talks))
    if as_it_stands:
        (root / ".palace").mkdir()
        rooms = "".join(f"  {room}: {room}\n" for room in ROOMS)
        (root / ".palace" / "palace.yaml").write_text(f"rooms:\n{rooms}")
        for name in ("watchdog_manifest_v1.jsonl", "golden_questions.md"):
            text = (notes / name).read_text().replace('"palace/', '"')
            (root / ".palace" / name).write_text(text)
            (notes / name).unlink()
        shutil.copytree(notes, root, dirs_exist_ok=True)
        shutil.rmtree(notes)
    return root


def snapshot(root):
    """Return every file with its bytes, and every folder, but for the index and the journal."""
    paths = Palace(root).paths
    own = {paths.logs / name for name in ("moves.jsonl", "usage.jsonl")}
    left_out = (paths.index, paths.logs / "before")
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
        if path not in own and not any(path.is_relative_to(folder) for folder in left_out)
    }


def run(root, line):
    done = CliRunner().invoke(app, f"-C {root} {line}")
    assert done.exit_code == 0, (line, done.output, done.exception)
    return done.stdout


@pytest.fixture
def namer(monkeypatch):
    """Let a model propose a name for a note, whatever is found."""

    async def propose(memories, roles, **how):
        path = next(path for path in memories if path.endswith("02_sable/sable.md"))
        return RoundFindings((), (RoundProposal("alias", path, "the quiet one", reason="a test"),))

    monkeypatch.setattr(rounds, "run_session", propose)
    monkeypatch.setattr(verbs, "open_dialogue", lambda model: SimpleNamespace(spent=lambda: None))


@pytest.mark.usefixtures("namer")
@pytest.mark.parametrize("as_it_stands", [False, True])
def test_undo_gives_every_byte_and_folder_back_after_each_changing_verb(tmp_path, as_it_stands):
    root = make_palace(tmp_path, as_it_stands=as_it_stands)
    Palace(root).paths.logs.mkdir(parents=True, exist_ok=True)
    run(root, "index --embedder hashing -q")
    known = {"{talks}": str(tmp_path / "talks.json")}
    known["{when}"] = "'When it applies, and when not=in frost'"
    for line in LINES:
        command = line
        for mark, value in known.items():
            command = command.replace(mark, value)
        before = snapshot(root)
        run(root, command)
        after = snapshot(root)
        assert after != before, line
        shown = run(root, "undo")
        noun = next((word for words, word in NOUNS.items() if words in line), line.split()[0])
        assert shown.splitlines()[0].split()[1] == noun, line
        assert snapshot(root) == after, line
        run(root, "undo --apply")
        again = snapshot(root)
        assert again.keys() == before.keys(), line
        assert [path for path in before if again[path] != before[path]] == [], line
    told = {"command": "create", "path": "/memories/tea.md", "file_text": "Green."}
    assert Palace(root).memory_tool().call(told).startswith("File created")
    run(root, "undo --apply")
    assert snapshot(root).keys() == before.keys()
    made = {entry.command for entry in read_log(Palace(root).paths)}
    assert made == logged_nouns()


def logged_nouns():
    """Return every noun under which code of the package logs a change."""
    found = set()
    for file in (ROOT / "memory_palace").rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        named = {
            node.targets[0].id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            if isinstance(node.targets[0], ast.Name)
        }
        found |= {named["COMMAND"]} if "COMMAND" in named else set()
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            for given in call.keywords if name in WRITERS else ():
                value = given.value
                if given.arg == "command" and isinstance(value, ast.Constant):
                    found.add(value.value)
                elif given.arg == "command" and isinstance(value, ast.Name) and value.id in named:
                    found.add(named[value.id])
    return found


WRITERS = {"change_notes", "write_file", "apply_change"}


def test_every_verb_with_apply_is_undone_in_the_table():
    verbs = {
        words
        for words, command in walk_verbs()
        if any("--apply" in parameter.opts for parameter in command.params)
    }
    others = {"undo", "config store drop"}  # a store is a database
    tried = {verb for verb in verbs if any(f"{x} ".startswith(f"{verb} ") for x in LINES)}
    assert {verb for verb in verbs - tried if verb != "connect"} - others == set()


def test_nobody_but_the_journal_writes_into_the_folder_of_notes():
    """A module that writes files is known; a new one is asked whether its change can be undone."""
    writers = {
        file.relative_to(ROOT / "memory_palace").as_posix().removeprefix("features/")
        for file in (ROOT / "memory_palace").rglob("*.py")
        if re.search(
            r"\b(write_atomic|write_new|write_stream|append_record)\(", file.read_text("utf-8")
        )
    }
    assert {file for file in writers if file.split("/")[0] not in APART} == KNOWN_WRITERS


APART = {"cli", "view", "embedding", "index", "storage.py", "agents", "anchors"}
"""They write pages, pictures, models, plug-ins and what is derived from notes."""
KNOWN_WRITERS = {"changes/journal.py", "notes/usage.py", "seek/search_session.py"}


@pytest.fixture
def vault(tmp_path):
    (tmp_path / ".palace").mkdir()
    (tmp_path / ".palace" / "logs").mkdir()
    (tmp_path / "tea.md").write_text("# Tea\n\nGreen.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="hashing")
    return palace


def test_undo_names_the_verb_the_moment_and_the_agent_and_changes_nothing_yet(vault, monkeypatch):
    vault.agent = "wren"
    vault.append("tea", "Black.")
    root = vault.paths.root
    shown = run(root, "undo").splitlines()
    assert re.fullmatch(r"20\S+-1  append  append tea\.md  by wren", shown[0])
    assert "-Black." in shown and (root / "tea.md").read_text().endswith("Black.\n")
    record = json.loads(run(root, "undo --json"))
    assert record["change"]["agent"] == "wren" and not record["applied"]


def test_undo_takes_the_last_change_whatever_verb_made_it_then_the_one_before(vault):
    root = vault.paths.root
    before = snapshot(root)
    run(root, "new Milk --body Warm.")
    run(root, "remember Black. --to tea")
    run(root, "undo --apply")
    assert (root / "tea.md").read_text() == "# Tea\n\nGreen.\n"
    run(root, "undo --apply")
    assert snapshot(root) == before
    done = CliRunner().invoke(app, f"-C {root} undo")
    assert "nothing to undo" in str(done.exception)
    listed = run(root, "undo --list").splitlines()
    assert [line.endswith("undone") for line in listed] == [True, True, False, False]


def test_undo_refuses_by_name_what_was_edited_since_and_says_what_to_take_back_first(vault):
    root = vault.paths.root
    run(root, "remember Black. --to tea")
    first = vault.changes.log()[0].identity
    run(root, "remember White. --to tea")
    before = snapshot(root)
    with pytest.raises(
        UsageError, match=r"changed since: tea\.md; `palace undo 20.*-2` goes first"
    ):
        vault.changes.undo(identity=first, apply=True)
    (root / "tea.md").write_text("mine")
    with pytest.raises(UsageError, match=r"changed since: tea\.md"):
        vault.changes.undo(apply=True)
    assert snapshot(root) == {**before, "tea.md": b"mine"}


def test_an_undo_is_undone_by_its_id(vault):
    vault.append("tea", "Black.")
    after = snapshot(vault.paths.root)
    vault.changes.undo(apply=True)
    vault.changes.undo(identity=vault.changes.log()[-1].identity, apply=True)
    assert snapshot(vault.paths.root) == after
    vault.changes.undo(apply=True)
    assert (vault.paths.root / "tea.md").read_text() == "# Tea\n\nGreen.\n"


def test_what_an_agent_says_while_another_writes_is_undone_too(vault):
    before = snapshot(vault.paths.root)
    with vault.writing():
        other = Palace(vault.paths.root)
        kept = other.remember("The kettle leaks.", agent="wren", wait_seconds=0.0)
    assert kept.remark and snapshot(vault.paths.root) != before
    assert vault.changes.undo(apply=True).change.agent == "wren"
    assert snapshot(vault.paths.root) == before


def test_an_import_that_is_undone_can_be_imported_again(vault, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    talk = claude_conversation(1, [claude_message(2, "human", "Warm the cell.")])
    (folder / "talks.json").write_text(json.dumps([talk]))
    for _ in range(2):
        assert vault.import_export(folder / "talks.json", apply=True).counts["new"] == 1
        vault.changes.undo(apply=True)


def test_a_room_that_a_change_made_goes_with_it_and_so_does_its_line_in_the_settings(vault):
    root = vault.paths.root
    before = snapshot(root)
    run(root, "task new Packs --owner wren --project winter --goal Fresh --check swapped --apply")
    assert "dispatch_corridor" in (root / ".palace" / "palace.yaml").read_text()
    run(root, "undo --apply")
    assert snapshot(root) == before
