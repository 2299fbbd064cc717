"""Models that their user names: where they lie, and what is said without them or their library."""

import pytest
from running import run_main

from memory_palace import Palace
from memory_palace.embedding import st_models
from memory_palace.embedding.st_models import find_folder
from memory_palace.errors import ConfigError, MissingPartError, UsageError


@pytest.fixture
def environ(tmp_path):
    return {"PALACE_CACHE": str(tmp_path / "cache"), "HF_HUB_CACHE": str(tmp_path / "hub")}


@pytest.fixture
def snapshots(tmp_path):
    return tmp_path / "hub" / "models--org--model" / "snapshots"


def keep(snapshots, revision, *, main=False):
    folder = snapshots / revision
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    if main:
        (snapshots.parent / "refs").mkdir()
        (snapshots.parent / "refs" / "main").write_text(revision)
    return folder


def test_a_folder_is_a_folder(environ, tmp_path, monkeypatch):
    assert find_folder(str(tmp_path), environ) == tmp_path
    (tmp_path / "mine").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_folder("mine", environ) == tmp_path / "mine"


def test_the_revision_that_main_names_comes_first(environ, snapshots):
    keep(snapshots, "aaa")
    main = keep(snapshots, "bbb", main=True)
    assert find_folder("org/model", environ) == main


def test_a_revision_without_configuration_gives_way(environ, snapshots):
    (keep(snapshots, "bbb", main=True) / "config.json").unlink()
    other = keep(snapshots, "aaa")
    assert find_folder("org/model", environ) == other


@pytest.mark.parametrize("content", [b"\xff", b"\0", b"../../../..", b"x" * 5000])
def test_odd_references_of_a_cache_are_passed_by(environ, snapshots, content):
    (snapshots.parent / "refs").mkdir(parents=True)
    (snapshots.parent / "refs" / "main").write_bytes(content)
    with pytest.raises(MissingPartError, match="palace models fetch org/model"):
        find_folder("org/model", environ)


@pytest.mark.parametrize("name", ["minilm", "./no", "/no/here", "a/b/c", "~/no", "../x", "org/"])
def test_what_stands_for_no_model_is_an_error(environ, name):
    with pytest.raises(UsageError, match="there is no folder"):
        find_folder(name, environ)


def test_to_fetch_a_model_needs_the_extra(monkeypatch, capsys):
    monkeypatch.setattr(st_models, "find_spec", lambda name: None)
    code, _, err = run_main(capsys, "models", "fetch", "org/model")
    assert code == 9 and "[st]" in err and err.count("\n") == 1


def test_the_settings_of_a_folder_name_none(tmp_path):
    name = "llm:mine"
    palace = Palace.init(tmp_path, here=True)
    palace.paths.settings.write_text(f"embedder: {name}\n")
    with pytest.raises(ConfigError, match="for you to choose") as caught:
        Palace(tmp_path)
    assert f"--embedder {name}`" in str(caught.value)
