"""Names, modules and addresses of other systems and programs, none of which was at hand."""

import json
import os
import subprocess
import sys
from pathlib import Path, PureWindowsPath
from urllib.parse import parse_qs, urlsplit

import pytest

from memory_palace.changes.composing import file_name
from memory_palace.cli.screen import link_to
from memory_palace.errors import UsageError
from memory_palace.features.view.gather import gather
from memory_palace.palace import Palace

ROOT = Path(__file__).parents[2]
DAY = """
import json, pkgutil, sys, memory_palace
from memory_palace.cli.app import main
extras = {"mcp", "anyio", "llm", "psycopg", "pgvector"}
for module in pkgutil.walk_packages(memory_palace.__path__, "memory_palace."):
    try:
        module.name.endswith("__main__") or __import__(module.name)
    except ModuleNotFoundError as error:
        assert error.name in extras, error
for line in json.loads(sys.argv[1]):
    try:
        print(f"$ {line}", flush=True)
        main(line.split())
    except SystemExit as error:
        print("exit", error.code, flush=True)
"""
LINES = """init --here | index -q --embedder hashing | query gauge --json | new Aux --body Spare.
remember The wind vane sticks in frost | index | doctor | hook prompt | verify --text frost | view
config serve auto | query vane | serve --status | undo --apply""".replace("\n", " | ").split(" | ")
TESTS = ("storage", "changes/test_undo.py", "changes/test_composing.py")
OTHERWISE = "not flushed and not private_to_its_owner and not each_changing_verb"
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc has what is open")


def as_on_windows(cwd, *arguments):
    path = os.pathsep.join(map(str, (Path(__file__).parent, ROOT, ROOT / "tests")))
    environ = {**os.environ, "PYTHONPATH": path, "XDG_CONFIG_HOME": str(cwd / ".config")}
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    prompt = '{"prompt": "the wind vane sticks"}'
    line = [sys.executable, "-B", *arguments]
    return subprocess.run(line, env=environ, cwd=cwd, input=prompt, check=False, **said)


@only_linux
def test_a_day_passes_where_nothing_of_posix_is_there(tmp_path):
    (tmp_path / "rain.md").write_bytes(b"# Rain gauge\n\nThe gauge drifts.\n")
    parts = LINES[:5], LINES[5:]  # a process deletes no file that it has mapped
    outputs = [as_on_windows(tmp_path, "-c", DAY, json.dumps(part)).stdout for part in parts]
    said = dict(part.split("\n", 1) for part in "".join(outputs).split("$ ")[1:])
    assert list(said) == LINES, outputs
    assert [line for line, text in said.items() if "exit" in text] == ["serve --status"], said
    assert "needs Unix sockets" in said["serve --status"]
    assert '"path":"rain.md"' in said["query gauge --json"] and "wind vane" in said["hook prompt"]
    assert "unchanged  3" in said["index"] and (tmp_path / "Aux_.md").exists()
    assert not [file for file in tmp_path.rglob("*.jsonl") if b"\r" in file.read_bytes()]


@only_linux
def test_what_is_tested_of_writing_and_undoing_holds_without_posix(tmp_path):
    options = ("-q", "--rootdir", ROOT, "-c", ROOT / "pyproject.toml", "-p", "no:cacheprovider")
    files = [ROOT / "tests" / name for name in TESTS]
    line = map(str, (*files, *options, "-p", "no:xdist", "-k", OTHERWISE))
    done = as_on_windows(tmp_path, "-m", "pytest", *line)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("title", ["CON", "aux.md", "Lpt¹ .tar", "Ends. ", "🏔" * 300, "a:b/c\\d"])
def test_a_name_that_the_palace_makes_is_one_that_windows_takes(title):
    name = file_name(title)
    path = PureWindowsPath("C:/notes", name)
    assert path.parts == ("C:\\", "notes", name) and not path.is_reserved()
    assert len(name.encode("utf-16-le")) // 2 <= 140 and len(name.encode()) <= 255
    assert path.stem == path.stem.strip(". ")


def test_twins_and_strange_names_are_read_and_twins_are_not_made(tmp_path):
    (tmp_path / ".palace").mkdir()
    strange = {"Tea.md", "tea.md", "con.md", "ends. .md", f"{'x' * 250}.md"}
    for name in strange:
        (tmp_path / name).write_text(f"# Kettle {name[:9]}\n", "utf-8")
    palace = Palace(tmp_path)
    palace.index(embedder="hashing")
    assert {hit.path for hit in palace.query("kettle").hits} == strange
    palace.new("Rum", folder="Bar")
    for title, folder in (("TEA", None), ("Ale", "bar")):
        with pytest.raises(UsageError, match="only in case"):
            palace.new(title, folder=folder)


@pytest.mark.parametrize("inside", ["", "Ärger & Co/字 #1/"])
def test_a_note_in_a_vault_of_obsidian_is_opened_there(tmp_path, inside):
    root = tmp_path / "My vault" / inside
    (root / ".palace").mkdir(parents=True)
    file = root / "A & B #2 ünd 字.md"
    file.write_text("# Tea\n", "utf-8")
    palace = Palace(root)
    palace.index(embedder="hashing")
    assert link_to(file, 1, {}).startswith("file://") and gather(palace).vault == ""
    (tmp_path / "My vault/.obsidian").mkdir()
    address = link_to(file, 1, {"KITTY_WINDOW_ID": "1"})
    assert address.startswith("obsidian://open?vault=My%20vault&file=") and "#" not in address
    asked = parse_qs(urlsplit(address).query, strict_parsing=True)
    assert asked == {"vault": ["My vault"], "file": [f"{inside}{file.name}"]}
    assert address.startswith(gather(palace).vault)
