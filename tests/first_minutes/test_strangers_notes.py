"""From an empty home, in a folder of notes that nobody made for this program."""

import json
import shutil
from pathlib import Path

import pytest
from evaluation_data import DATA
from first_minutes.conftest import CACHE, PALACE, Home, take_state
from writing_notes import write_notes

from memory_palace.embedding.registry import is_available

VAULTS = {
    "help": DATA / "multilingual-help" / "notes" / "en",
    "garden": DATA / "vaults" / "jackyzha0-garden",
}
FEW = {
    "Ferry.md": "# Ferry to Ulva\n\nThe last boat back leaves at a quarter past six.\n",
    "recipes/Bread.md": "---\naliases: [daily loaf]\n---\nBake it for forty minutes, lid on.\n",
    ".obsidian/templates.json": '{"folder": "Templates"}',
    ".trash/Old.md": "The ferry was cancelled.\n",
    "Templates/daily.md": "# {{title}}\n",
}


@pytest.fixture
def few(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "My Notes", FEW)


def test_three_commands_answer_and_touch_nothing(home: Home, few: Path):
    before, around = take_state(few), take_state(home.path)
    home.palace("init", "--here", cwd=few)
    indexed = home.run(PALACE, "index", cwd=few)
    assert indexed.returncode == 0
    if is_available("minilm"):  # the model in the cache is used without a word
        assert indexed.stderr == "" and "with minilm" in indexed.stdout
    found = home.palace("query", "when does the last boat leave", cwd=few)
    assert "quarter past six" in found.split("\n\n")[0] and "Ferry.md:" in found
    assert home.palace("query", "daily loaf", "--format", "paths", cwd=few).startswith("recipes/")
    assert take_state(few, leave_out=frozenset({".palace"})) == before
    outside = take_state(home.path).keys() - around.keys()
    assert {path for path in outside if not path.startswith(f"{CACHE}")} <= {".cache"}
    assert list((home.path / "tmp").iterdir()) == []
    listed = json.loads(home.palace("list", "--json", cwd=few))
    assert {note["path"] for note in listed["notes"]} == {"Ferry.md", "recipes/Bread.md"}


def test_without_a_model_words_answer_and_it_is_said_how_to_get_one(home: Home, few: Path):
    shutil.rmtree(home.path / ".cache", ignore_errors=True)
    for verb in (["init", "--here"], ["index"]):
        done = home.run(PALACE, *verb, cwd=few)
        assert done.returncode == 0
        assert "`palace models fetch minilm` (91 MB)" in done.stderr
    done = home.run(PALACE, "query", "last boat", cwd=few)
    assert "quarter past six" in done.stdout
    assert "mode: lexical; run `palace models fetch minilm`, then `palace index`" in done.stderr


@pytest.mark.parametrize("vault", VAULTS)
def test_a_vault_of_other_people_answers_and_stays_as_it_is(home: Home, tmp_path: Path, vault: str):
    if not VAULTS[vault].is_dir():
        pytest.skip(f"needs {VAULTS[vault]}")
    notes = tmp_path / "vault"
    shutil.copytree(VAULTS[vault], notes)
    before = take_state(notes)
    home.palace("init", "--here", cwd=notes)
    home.palace("index", "--embedder", "none", cwd=notes)
    listed = json.loads(home.palace("list", "--json", cwd=notes))["notes"]
    titles = [note["title"] for note in listed]
    note = next(n for n in listed if titles.count(n["title"]) == 1 and len(n["title"].split()) > 2)
    found = json.loads(home.palace("query", note["title"], "--json", cwd=notes))
    assert found["hits"][0]["path"] == note["path"]
    assert take_state(notes, leave_out=frozenset({".palace"})) == before
    assert {p for p in take_state(home.path) if not p.startswith(f"{CACHE}")} <= {".cache", "tmp"}
