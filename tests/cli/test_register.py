import json
import stat
from pathlib import Path

import pytest
from running import run_main


@pytest.fixture
def world(tmp_path, monkeypatch, capsys):
    """Two palaces, a folder that is in neither, and a user's configuration."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    for name in ("work", "home"):
        folder = tmp_path / name / "palace" / "chambers"
        folder.mkdir(parents=True)
        (folder / f"{name}.md").write_text(f"# {name.title()}\n\nA note about {name}.\n")
        (tmp_path / name / "deep" / "er").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")

    def run(*arguments):
        return run_main(capsys, *arguments)

    for name in ("work", "home"):
        run("-C", str(tmp_path / name), "index", "-q", "--embedder", "none")
    return tmp_path, run


def test_a_name_reaches_its_palace_before_and_after_the_verb(world):
    root, run = world
    assert run("config", "register", "w", str(root / "work"))[0] == 0
    for typed in (["-C", "w", "list"], ["list", "-C", "w"], ["list", "--root", "w"]):
        assert "chambers/work.md" in run(*typed)[1]
    assert "chambers/work.md" in run("graph", "-C", "w", "orphans")[1]
    assert "chambers/work.md" in run("graph", "orphans", "-C", "w")[1]


def test_the_palace_is_chosen_in_the_order_that_is_documented(world, monkeypatch):
    root, run = world
    run("config", "register", "w", str(root / "work"), "--default")
    run("config", "register", "h", "../home")
    assert "work.md" in run("list")[1]  # no palace here: the default
    monkeypatch.chdir(root / "home" / "deep" / "er")
    assert "home.md" in run("list")[1]  # the nearest goes before the default
    monkeypatch.setenv("PALACE_ROOT", "w")
    assert "work.md" in run("list")[1]  # PALACE_ROOT goes before the nearest
    assert "home.md" in run("list", "-C", "h")[1]  # -C goes before all
    assert "home.md" in run("-C", "w", "list", "-C", "h")[1]


def test_a_folder_of_a_registered_name_is_reached_by_its_path(world):
    root, run = world
    (root / "elsewhere" / "w" / "palace").mkdir(parents=True)
    run("config", "register", "w", str(root / "work"))
    assert "work.md" in run("list", "-C", "w")[1]
    assert run("list", "-C", "./w")[0] == 4  # that palace has no index


@pytest.mark.parametrize("typed", [["-C", "wrok", "list"], ["list", "-C", "wrok"]])
def test_an_unknown_name_suggests_a_near_one_and_opens_no_other_palace(world, monkeypatch, typed):
    root, run = world
    run("config", "register", "work", str(root / "work"))
    monkeypatch.chdir(root / "home")
    status, out, err = run(*typed)
    assert (status, out) == (3, "")
    assert "did you mean 'work'?" in err and "folder" in err


def test_names_are_kept_for_the_user_alone_and_by_no_other_verb(world):
    root, run = world
    config = root / "config"
    run("config", "register")
    run("list", "-C", str(root / "work"))
    assert not config.exists()
    run("config", "register", "w", str(root / "work"))
    (kept,) = (path for path in config.rglob("*") if path.is_file())
    assert kept == config / "memory-palace" / "palaces.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    before = kept.stat()
    run("list", "-C", "w")
    run("index", "-C", "w", "-q")
    assert kept.stat() == before or kept.stat().st_mtime_ns == before.st_mtime_ns


def test_names_are_listed_moved_and_forgotten(world):
    root, run = world
    run("config", "register", "w", str(root / "work"), "--default")
    assert run("config", "register")[1] == f"w  {root / 'work'}  (default)\n"
    answer = json.loads(run("config", "register", "w", str(root / "home"), "--json")[1])
    assert answer["palaces"] == [{"name": "w", "folder": str(root / "home"), "default": True}]
    assert run("config", "register", "w", "--remove")[0] == 0
    assert run("config", "register")[1] == ""
    assert run("list")[0] == 3
    assert (root / "home" / "palace" / "chambers" / "home.md").exists()


def test_without_a_folder_the_palace_one_stands_in_is_registered(world, monkeypatch):
    root, run = world
    monkeypatch.chdir(root / "work" / "deep")
    assert run("config", "register", "w")[1] == f"w  {root / 'work'}\n"
    monkeypatch.chdir(root / "home")
    status, _, err = run("config", "register", "w")
    assert status == 2 and str(root / "work") in err  # a name is not moved by accident


def test_outside_of_all_palaces_a_new_name_is_not_one_more_for_the_default(world):
    root, run = world
    run("config", "register", "w", str(root / "work"), "--default")
    assert run("config", "register", "other")[0] == 3
    assert run("config", "register")[1].count("\n") == 1


@pytest.mark.parametrize("name", ["a/b", ".", "-x", "", "a b", "x" * 65, "~"])
def test_a_name_is_one_word(world, name):
    root, run = world
    status, _, err = run("config", "register", "--", name, str(root / "work"))
    assert status == 2 and "cannot be the name of a palace" in err


def test_a_folder_that_is_no_palace_is_not_registered(world):
    root, run = world
    assert run("config", "register", "e", str(root / "elsewhere"))[0] == 3
    assert run("config", "register", "g", str(root / "gone"))[0] == 3


def test_a_palace_that_has_moved_is_named(world):
    root, run = world
    run("config", "register", "w", str(root / "work"), "--default")
    (root / "work").rename(root / "moved")
    for typed in (["list"], ["list", "-C", "w"]):
        status, _, err = run(*typed)
        assert status in (2, 3) and "palace config register w FOLDER" in err
    assert "(not there)" in run("config", "register")[1]


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"palaces": {"a": 1}}', '{"default": "a"}', "[" * 9999]
)
def test_a_broken_file_of_names_is_named(world, text):
    root, run = world
    (root / "config" / "memory-palace").mkdir(parents=True)
    (root / "config" / "memory-palace" / "palaces.json").write_text(text)
    status, _, err = run("list")
    assert status == 2 and "palaces.json" in err
    assert run("list", "-C", str(root / "work"))[0] == 0  # which needs no name


def test_without_a_home_there_are_no_names(world, monkeypatch):
    root, run = world
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setattr(Path, "home", staticmethod(lambda: Path("~").expanduser()))
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert run("list")[0] == 3
    assert run("config", "register", "w", str(root / "work"))[0] == 2
