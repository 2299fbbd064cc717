"""Every verb, as somebody who was not granted the palace: one line, no trace, and nothing of it."""

import json
import shutil

import pytest
from running import run_main
from store.granting import CANARY, ROLES, list_tables, push_two
from store.pushing import write_notes

VERBS = (
    ("query", CANARY),
    ("query", CANARY, "--include-cold", "--json"),
    ("query", "", "--tag", f"{CANARY}/tag"),
    ("index",),
    ("index", "--force"),
    ("config", "store", "grant", "ROLE", "--write"),
    ("config", "store", "grant", "keeper", "--revoke"),
    ("config", "store", "drop", "--apply"),
)
"""What is done to a palace that is named; the rest is tried beside them."""


@pytest.fixture(scope="module")
def two(shared, tmp_path_factory):
    """A store that nothing here changes, and the folder of the palace that was granted."""
    folder = tmp_path_factory.mktemp("palaces")
    push_two(shared, folder)
    return shared, folder


def picture(database):
    """Return all rows of all tables, as the superuser sees them."""
    with database.server.connect(database.name) as admin:
        return {
            table: sorted(map(repr, admin.execute(f"SELECT * FROM memory_palace.{table}")))
            for table in list_tables(admin)
        }


@pytest.fixture
def command(two, tmp_path, monkeypatch, capsys):
    """Run a command line as somebody whose notes are those of the palace that was granted."""
    database, folder = two
    shutil.copytree(folder / "hers", tmp_path / "notes")
    (tmp_path / "new" / "palace").mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path / "notes")

    def run(role, palace, *line):
        given = [{"NEW": str(tmp_path / "new"), "ROLE": role}.get(word, word) for word in line]
        return run_main(capsys, *given, "--store", database.url(role, palace=palace))

    return run


@pytest.mark.parametrize("role", ROLES)
def test_no_verb_reads_or_changes_a_palace_that_was_not_granted(two, command, role, tmp_path):
    before = picture(two[0])
    for line in VERBS:
        told = []
        for palace in ("secret", "nowhere"):
            status, out, err = command(role, palace, *line)
            assert status in (4, 10), (line, out, err)
            said = out if "--json" in line else err
            assert len(said.splitlines()) == 1, (line, said)
            assert CANARY not in out + err, line
            told.append(said.replace(palace, "NAME"))
        assert told[0] == told[1], "it tells whether there is such a palace"
    assert list((tmp_path / "new").rglob("*.npz")) == []
    assert picture(two[0]) == before


@pytest.mark.parametrize("role", ROLES)
def test_a_list_of_palaces_shows_those_that_were_granted(command, role):
    status, out, err = command(role, "", "config", "store", "status", "--json")
    if role == "stranger":
        assert (status, len(err.splitlines()) + len(out.splitlines())) == (10, 1)
        return
    (shown,) = json.loads(out)["palaces"]
    assert shown["name"] == "hers"
    assert [member["role"] for member in shown["members"]] == [role]
    assert "secret" not in out + err and "keeper" not in out + err


@pytest.mark.parametrize("role", ["reader", "stranger"])
def test_a_reader_writes_nothing(two, command, role, tmp_path):
    before = picture(two[0])
    write_notes(tmp_path / "notes", shed="# Shed\n\nA shed beside the hut.\n")
    for line in (["index"], ["index", "--force"], ["config", "store", "grant", "stranger"]):
        status, out, err = command(role, "hers", *line)
        assert (status, len(err.splitlines())) == (10, 1), (line, out, err)
    assert picture(two[0]) == before
