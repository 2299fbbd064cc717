import json
import os
from pathlib import Path

import jsonschema
import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from running import run_main  # noqa: E402
from store.pushing import write_notes  # noqa: E402

from memory_palace.palace import Palace  # noqa: E402

pytestmark = pytest.mark.postgres

SCHEMAS = Path(__file__).parents[2] / "references" / "schemas"
HUT = "# Hut\n\nThe hut has a stove.\n"


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "hut-notes" / "palace").mkdir(parents=True)
    write_notes(tmp_path / "hut-notes", hut=HUT, path="# Path\n\nSee [[hut]].\n")
    return tmp_path / "hut-notes"


@pytest.fixture
def run(capsys, database):
    def run(*line, schema=None, palace=""):
        json_too = ["--json"] if schema else []
        status, out, err = run_main(
            capsys, *line, "--store", database.url(palace=palace), *json_too
        )
        if not schema:
            return status, out, err
        assert status == 0, out + err
        form = json.loads((SCHEMAS / f"{schema}.json").read_text("utf-8"))
        jsonschema.validate(json.loads(out), form)
        return json.loads(out)

    return run


def test_indexing_pushes_what_differs(run, notes):
    first = run("-C", notes, "index", "--embedder", "hashing", schema="index")
    assert first["pushed"]["added"] == 2
    assert first["embedded"] == 2
    assert run("-C", notes, "index", schema="index")["pushed"]["rows_sent"] == 0


def test_a_store_of_another_embedder_is_replaced_by_force_alone(run, notes):
    run("-C", notes, "index", "--embedder", "hashing")
    Palace(notes).index(embedder="none", force=True)
    status, _, err = run("-C", notes, "index")
    assert status == 4
    assert "was indexed with hashing, and these notes with none" in err
    assert len(err.strip().splitlines()) == 1
    assert run("-C", notes, "index", "--force", schema="index")["pushed"]["added"] == 2


def test_other_notes_do_not_take_the_place_of_a_palace_by_mistake(run, tmp_path, monkeypatch):
    """Those of another folder, whose names may be the same; a copy of the notes is no other."""
    notes = {f"n{number}": f"# Note {number}\n\nA lantern, {{}}.\n" for number in range(12)}
    folders = {}
    for name, word in {"mine": "lit", "other": "cold", "copy": "lit"}.items():
        folders[name] = tmp_path / name / "hut-notes"
        (folders[name] / "palace").mkdir(parents=True)
        texts = {path: text.format(word) for path, text in notes.items()}
        write_notes(folders[name], **texts)
    monkeypatch.chdir(folders["mine"])
    assert run("index", "--embedder", "hashing", schema="index")["pushed"]["added"] == 12
    monkeypatch.chdir(tmp_path / "other")
    for path in (folders["copy"] / "palace").rglob("*.md"):
        os.utime(path, (1e9, 1e9))
    line = ["index", "--embedder", "hashing"]
    assert run("-C", folders["copy"], *line, schema="index")["pushed"]["removed"] == 0
    monkeypatch.chdir(folders["other"])
    status, _, err = run(*line)
    assert status == 10 and err.count("\n") == 1
    assert "of 12, 0 would go and 12 be replaced" in err and "--verify" in err
    assert run("index", "--verify", schema="index")["pushed"]["added"] == 12
