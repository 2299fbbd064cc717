import json

import pytest
from typer.testing import CliRunner

from memory_palace.embedding.registry import EMBEDDERS, MINILM
from memory_palace.features.upkeep.models import models as app

runner = CliRunner()


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def test_list_names_every_embedder_and_whether_it_is_ready():
    lines = runner.invoke(app, ["list"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*EMBEDDERS]
    assert "missing" in lines[0]
    assert "ready" in lines[3]


def test_list_as_json_says_where_weights_are(minilm_cache, monkeypatch):
    monkeypatch.setenv("PALACE_CACHE", str(minilm_cache))
    shown = json.loads(runner.invoke(app, ["list", "--json"]).stdout)["models"]
    folders = {model["name"]: model["folder"] for model in shown}
    assert folders["minilm"] == str(MINILM.folder(minilm_cache)) and folders["hashing"] is None


def test_hashing_has_nothing_to_fetch():
    assert runner.invoke(app, ["fetch", "hashing"]).exit_code == 0


def test_fetch_says_on_stderr_where_it_looks_and_prints_the_folder(minilm_cache, monkeypatch):
    monkeypatch.setenv("PALACE_CACHE", str(minilm_cache))
    result = runner.invoke(app, ["fetch", "minilm"])
    assert result.stdout == f"{MINILM.folder(minilm_cache)}\n"
    assert result.stderr == f"already in {MINILM.folder(minilm_cache)}\n"
