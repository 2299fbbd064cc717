import json
from pathlib import Path

import jsonschema
import pytest

psycopg = pytest.importorskip("psycopg", reason="needs the extra [postgres]")

from running import run_main  # noqa: E402

from memory_palace.cli.registry import read_address  # noqa: E402
from memory_palace.features.store.connecting import (  # noqa: E402
    connect,
    make_palace,
    make_store,
)

pytestmark = pytest.mark.postgres

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
