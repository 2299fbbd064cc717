"""The recipe for a new verb in contributing.md, followed in a copy of the package."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from writing_notes import write_notes

ROOT = Path(__file__).parent.parent.parent
RECIPE = (ROOT / "references" / "contributing.md").read_text("utf-8")
RECIPE = RECIPE[RECIPE.index("## Add a verb") : RECIPE.index("## Change the page")]


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    """Run a command of the copy in a palace of two notes."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "memory_palace", copy / "memory_palace")
    (file,) = re.findall(r"`(features/\w+/verbs\.py)`", RECIPE)
    (code,) = re.findall(r"```python\n(.*?)   ```", RECIPE, re.DOTALL)
    (line,) = re.findall(r'`("count": .*?\))`', RECIPE, re.DOTALL)
    written = copy / "memory_palace" / file
    written.parent.mkdir()
    written.write_text(textwrap.dedent(code), "utf-8")
    table = copy / "memory_palace" / "table.py"
    text = table.read_text("utf-8")
    panel = '    "Every day": {\n'
    assert panel in text
    table.write_text(text.replace(panel, f"{panel}{line},\n"), "utf-8")
    notes = tmp_path_factory.mktemp("notes")
    write_notes(notes, dict.fromkeys(("chambers/ada.md", "archive/bob.md"), "A note.\n"))

    def run(*arguments):
        environ = {**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "80"}
        command = [sys.executable, "-P", "-m", "memory_palace", "-C", str(notes), *arguments]
        return subprocess.run(command, cwd=notes, env=environ, capture_output=True, text=True)

    assert run("init", "--here").returncode == 0
    assert run("index", "-q", "--embedder", "none").returncode == 0
    return run


def test_the_verb_answers_in_lines_and_in_json(palace):
    assert palace("count").stdout == "2 notes\n"
    assert json.loads(palace("count", "--json").stdout) == {"schema": 2, "notes": 2}


def test_the_verb_has_help_and_stands_in_its_panel(palace):
    shown = palace("count", "-h").stdout
    assert "Count the notes of a room" in shown and "Example: palace count" in shown
    assert "--room" in shown and "--json" in shown
    assert re.search(r"│ count +Count notes\.", palace("--help").stdout)


def test_its_errors_are_one_line_and_a_status(palace):
    wrong = palace("count", "--room", "cellar", "--json")
    assert wrong.returncode == 2
    assert json.loads(wrong.stdout)["error"]["code"] == 2
