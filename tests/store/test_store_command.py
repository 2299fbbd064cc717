import json
import os
from pathlib import Path

import jsonschema
import pytest
from running import run_main
from store.pushing import write_notes

from memory_palace.cli.registry import read_address
from memory_palace.features.store.connecting import connect, make_palace, make_store
from memory_palace.palace import Palace

SCHEMAS = Path(__file__).parents[2] / "references" / "schemas"


@pytest.fixture
def palace(database, tmp_path, monkeypatch, capsys):
    """Run the command as a user whose one store holds an empty palace called hut."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    address = read_address(database.url(palace="hut"))
    with connect(address, purpose="test") as connection:
        make_store(connection, address)
        make_palace(connection, address)

    def run(*line):
        return run_main(capsys, *line)

    assert run("config", "register", "hut", "--store", database.url())[0] == 0
    return run


def test_who_may_read_is_granted_shown_and_revoked(palace, database):
    database.make_role("anna")
    assert palace("config", "store", "grant", "anna")[:2] == (0, "anna may read hut\n")
    assert palace("config", "store", "grant", "anna", "--write")[:2] == (0, "anna may write hut\n")
    status, out, _ = palace("config", "store", "status")
    assert status == 0
    assert out.splitlines()[0].startswith("hut  0 notes, 0 passages, ")
    assert out.splitlines()[1:] == ["  writes   anna", "  writes   keeper"]
    hers = ["--store", database.url("anna")]
    assert "writes   anna" in palace("config", "store", "status", *hers)[1]
    assert palace("config", "store", "grant", "anna", "--revoke")[:2] == (
        0,
        "anna may no longer read hut\n",
    )
    status, _, said = palace("config", "store", "status", *hers)
    assert status == 10
    assert "whoever set the store up can run `palace config store grant anna`" in said
    assert len(said.splitlines()) == 1


def test_json_answers_have_their_schemas(palace, database):
    database.make_role("anna")
    lines = (
        ("status", []),
        ("grant", ["anna"]),
        ("status", []),
        ("grant", ["anna", "--revoke"]),
        ("drop", []),
    )
    for verb, line in lines:
        status, out, _ = palace("config", "store", verb, *line, "--json")
        assert status == 0
        schema = json.loads((SCHEMAS / f"config-store-{verb}.json").read_text("utf-8"))
        jsonschema.Draft202012Validator(schema).validate(json.loads(out))


def test_a_palace_is_dropped_where_that_is_applied(palace):
    assert palace("config", "store", "drop") == (
        0,
        "hut  0 notes, 0 passages would go\n",
        "nothing was changed; add --apply\n",
    )
    assert palace("config", "store", "drop", "--apply")[:2] == (
        0,
        "hut  0 notes, 0 passages, gone\n",
    )
    status, _, said = palace("config", "store", "drop", "--apply")
    assert status == 4
    assert "is not there" in said


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "hut-notes" / "palace").mkdir(parents=True)
    write_notes(
        tmp_path / "hut-notes",
        hut="# Hut\n\nThe hut has a stove.\n",
        path="# Path\n\nSee [[hut]].\n",
    )
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
