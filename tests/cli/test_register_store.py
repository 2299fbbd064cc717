import json

import pytest
from running import run_main

URL = "postgresql://anna@db.example/notes"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return lambda *line: run_main(capsys, *line)


def kept(tmp_path) -> dict[str, object]:
    return json.loads((tmp_path / "config" / "memory-palace" / "palaces.json").read_text("utf-8"))


def test_a_store_is_kept_by_name_shown_and_forgotten(run, tmp_path):
    assert run("config", "register", "team", "--store", f"{URL}#hut")[0] == 0
    assert kept(tmp_path)["stores"] == {"team": f"{URL}#hut"}
    assert json.loads(run("config", "register", "--json")[1])["stores"] == [
        {"name": "team", "address": f"{URL}#hut"}
    ]
    assert run("config", "register")[1] == f"team  {URL}#hut\n"
    assert run("config", "register", "team", "--remove")[0] == 0
    assert "stores" not in kept(tmp_path)


def test_other_verbs_that_write_the_file_keep_the_stores(run, tmp_path):
    run("config", "register", "team", "--store", URL)
    run("config", "serve", "auto")
    assert kept(tmp_path)["stores"] == {"team": URL}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://anna:sesame@127.0.0.1:1/notes",
        "postgresql://anna:sesame@127.0.0.1:1/notes#hut",
        "postgresql://127.0.0.1:1/notes?user=anna&password=sesame",
        "postgresql://127.0.0.1:1/notes?sslpassword=sesame",
        "postgresql://anna:ses#ame@127.0.0.1:1/notes",
        "postgresql://anna:sesame@[db.example/notes",
        "anna:sesame@db.example",
        "mysql://anna:sesame@127.0.0.1:1/notes",
        "host=db.example password=sesame",
    ],
)
def test_a_password_is_neither_kept_nor_printed(run, tmp_path, url):
    for line in (
        ["config", "register", "team", "--store", url],
        ["config", "store", "status", "--store", url],
    ):
        status, out, said = run(*line)
        assert status in ((2,) if line[1] == "register" else (2, 9, 10))
        assert "ses" not in (out + said).replace("postgresql://USER@HOST", "")
        assert len(said.splitlines()) == 1
    assert not (tmp_path / "config" / "memory-palace").exists()


def test_a_name_that_is_not_registered_names_the_nearest(run):
    assert (
        "no store is registered as 'tema'; registered: none"
        in run("config", "store", "status", "--store", "tema")[2]
    )
    run("config", "register", "team", "--store", URL)
    assert "did you mean 'team'?" in run("config", "store", "status", "--store", "tema")[2]


def test_of_several_stores_one_must_be_named(run):
    for name in ("team", "home"):
        run("config", "register", name, "--store", URL)
    status, _, said = run("config", "store", "status")
    assert status == 2
    assert "name the store: --store NAME|ADDRESS; registered: home, team" in said


def test_what_cannot_be_a_name_is_refused(run):
    assert run("config", "register", "a b", "--store", URL)[0] == 2
    assert run("config", "register", "team", "--store", f"{URL}#a b")[0] == 2
    assert run("config", "register", "--store", URL)[0] == 2
    assert run("config", "register", "team", ".", "--store", URL)[0] == 2


def test_a_palace_cannot_send_its_notes_to_a_stranger(run, tmp_path):
    """An address in a palace's own settings is no setting."""
    (tmp_path / "palace" / "chambers").mkdir(parents=True)
    (tmp_path / "palace" / "palace.yaml").write_text(f"stores:\n  team: {URL}\nstore: {URL}\n")
    status, _, said = run("config", "store", "status")
    assert status == 2
    assert "registered: none" in said


def test_without_the_extra_one_line_says_how_it_is_added(run, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    status, _, said = run("config", "store", "status", "--store", URL)
    assert status == 9
    assert "psycopg" in said and "[postgres]" in said
    assert len(said.splitlines()) == 1
