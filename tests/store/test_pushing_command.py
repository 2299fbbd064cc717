from __future__ import annotations

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
HUT_PATH = ["palace/grand_hall/hut.md"]
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


def test_indexing_pushes_and_a_second_machine_embeds_nothing(run, notes, tmp_path):
    first = run("-C", notes, "index", "--embedder", "hashing", schema="index")
    assert first["pushed"]["added"] == 2
    assert first["embedded"] == 2
    assert run("-C", notes, "index", schema="index")["pushed"]["rows_sent"] == 0

    other = tmp_path / "elsewhere" / "hut-notes"
    (other / "palace").mkdir(parents=True)
    write_notes(other, hut=HUT, path="# Path\n\nSee [[hut]].\n")
    second = run("-C", other, "index", "--embedder", "hashing", schema="index")
    assert (second["embedded"], second["reused"]) == (0, 2)


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


def test_verify_compares_a_store(run, notes, tmp_path, database):
    run("-C", notes, "index", "--embedder", "hashing")
    write_notes(notes, hut=HUT + "More.\n")
    assert "pushed     1 passage, 1 removed; generation 2" in run("-C", notes, "index")[1]
    verified = run("-C", notes, "config", "store", "verify", schema="config-store-verify")
    assert (verified["findings"], verified["compared"], verified["notes"]) == ([], True, 2)
    with database.server.connect(database.name) as admin:
        admin.execute("UPDATE memory_palace.note SET type = 'x' WHERE path LIKE '%hut.md'")
    status, out, err = run("-C", notes, "config", "store", "verify")
    assert status == 8
    assert "palace/grand_hall/hut.md" in out
    assert "differs in" in err


def test_verify_names_a_note_that_differs_once_and_says_where_it_compares_nothing(
    run, notes, tmp_path, monkeypatch
):
    run("-C", notes, "index", "--embedder", "hashing")
    write_notes(notes, hut=HUT + "More.\n")
    Palace(notes).index()
    out = run("-C", notes, "config", "store", "verify")[1].splitlines()
    assert out[0] == "note palace/grand_hall/hut.md is another there"
    assert out[1:] == ["generation 1: 2 notes, 2 passages, 1 difference"]
    monkeypatch.chdir(tmp_path)
    said = run("config", "store", "verify")[1]
    assert said.endswith("0 differences; there are no notes here to compare it with\n")
