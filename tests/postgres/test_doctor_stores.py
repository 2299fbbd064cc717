"""``palace doctor`` says how the stores of a palace stand to its index."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from postgres.pushing import write_notes  # noqa: E402
from running import run_main  # noqa: E402

pytestmark = pytest.mark.postgres

SCHEMAS = Path(__file__).parents[2] / "references" / "schemas"


@pytest.fixture
def run(database, tmp_path, monkeypatch, capsys):
    """Run the command as a user whose palace is in one store, and in one that is not there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "hut"
    (folder / "palace").mkdir(parents=True)
    write_notes(folder, hut="# Hut\n\nA stove.\n", path="# Path\n\nSteep.\n")

    def run(*line):
        return run_main(capsys, "-C", folder, *line)

    for name, address in (
        ("team", database.url(palace="hut")),
        ("gone", f"postgresql://anna@/notes?host={tmp_path}#hut"),
        ("others", database.url(palace="boat")),
    ):
        assert run_main(capsys, "register", name, "--store", address)[0] == 0
    assert run("index", "--embedder", "hashing", "--store", "team")[0] == 0
    return run


def told(run) -> dict[str, str]:
    """Return what is said of each store."""
    status, out, _ = run("doctor")
    assert status == 0
    found = [line for line in out.splitlines() if line.startswith("store ")]
    return dict(line.removeprefix("store    ").split(": ", 1) for line in found)


def test_stores_that_hold_the_palace_are_compared_with_its_index(run, tmp_path):
    stores = told(run)
    assert stores.keys() == {"team", "gone"}
    assert stores["team"] == "holds what the index says"
    assert "No such file" in stores["gone"]
    write_notes(tmp_path / "hut", hut="# Hut\n\nA new stove.\n", sun="# Sun\n\nWarm.\n")
    (tmp_path / "hut/palace/grand_hall/path.md").unlink()
    assert run("index")[0] == 0
    assert told(run)["team"] == (
        "3 notes of generation 1 differ (1 another there, 1 in the store alone, "
        "1 not in the store); run `palace index --store team`"
    )
    assert run("index", "--store", "team")[0] == 0
    assert told(run)["team"] == "holds what the index says"


def test_a_store_that_somebody_pushed_to_since_is_told(run, tmp_path, capsys, database):
    other = tmp_path / "elsewhere" / "hut"
    (other / "palace").mkdir(parents=True)
    write_notes(other, hut="# Hut\n\nA stove, mended.\n", path="# Path\n\nSteep.\n")
    assert run_main(capsys, "-C", other, "index", "--embedder", "hashing")[0] == 0
    assert run_main(capsys, "-C", other, "index", "--store", database.url(palace="hut"))[0] == 0
    said = told(run)["team"]
    assert said.startswith("2 notes of generation 2 differ (2 another there); pushed by palace")
    assert said.endswith("since: get those notes, then `palace index --store team`")


def test_the_answer_for_programs_has_its_schema(run):
    status, out, _ = run("doctor", "--json")
    form = json.loads((SCHEMAS / "doctor.json").read_text("utf-8"))
    shared = json.loads((SCHEMAS / "definitions.json").read_text("utf-8"))["$defs"]
    form = json.loads(json.dumps(form).replace("definitions.json#", "#")) | {"$defs": shared}
    del form["$schema"]
    jsonschema.validate(json.loads(out), form)
    assert [(store["store"], store["same"]) for store in json.loads(out)["stores"]] == [
        ("gone", False),
        ("team", True),
    ]
    assert status == 0
