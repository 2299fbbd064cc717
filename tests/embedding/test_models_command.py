from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memory_palace.cli.models import app
from memory_palace.embedding.hub import RERANKERS
from memory_palace.embedding.registry import EMBEDDERS
from memory_palace.embedding.weights import MINILM
from memory_palace.errors import MissingPartError, UsageError

runner = CliRunner()


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def test_list_names_every_embedder_and_whether_it_is_ready() -> None:
    lines = runner.invoke(app, ["list"]).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [*EMBEDDERS, *RERANKERS]
    assert "missing" in lines[0]
    assert "ready" in lines[3]


def test_list_as_json_has_a_schema_number() -> None:
    shown = json.loads(runner.invoke(app, ["list", "--json"]).stdout)
    assert shown["schema"] == 2
    states = {model["name"]: model["available"] for model in shown["models"]}
    assert (states["minilm"], states["hashing"]) == (False, True)


def test_path_prints_the_folder_and_nothing_else(empty_cache: Path) -> None:
    assert runner.invoke(app, ["path", "minilm"]).stdout == f"{MINILM.folder(empty_cache)}\n"


def test_path_of_an_embedder_without_weights_is_a_usage_error() -> None:
    assert isinstance(runner.invoke(app, ["path", "hashing"]).exception, UsageError)


@pytest.mark.parametrize("verb", ["fetch", "path", "verify"])
def test_an_unknown_model_is_a_usage_error(verb: str) -> None:
    error = runner.invoke(app, [verb, "minlm"]).exception
    assert isinstance(error, UsageError)
    assert "did you mean 'minilm'" in str(error) and "ms-marco-minilm" in str(error)


def test_verify_without_weights_says_how_to_get_them() -> None:
    error = runner.invoke(app, ["verify", "minilm"]).exception
    assert isinstance(error, MissingPartError)
    assert "palace models fetch minilm" in str(error)


def test_hashing_has_nothing_to_fetch_or_verify() -> None:
    assert runner.invoke(app, ["fetch", "hashing"]).exit_code == 0
    assert "nothing to verify" in runner.invoke(app, ["verify", "hashing"]).stdout


def test_fetch_says_on_stderr_where_it_looks_and_prints_the_folder(
    minilm_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PALACE_CACHE", str(minilm_cache))
    result = runner.invoke(app, ["fetch", "minilm"])
    assert result.stdout == f"{MINILM.folder(minilm_cache)}\n"
    assert result.stderr == f"already in {MINILM.folder(minilm_cache)}\n"
    assert "pinned SHA-256" in runner.invoke(app, ["verify", "minilm"]).stdout


def test_fetch_from_a_source_shows_no_bar_where_there_is_no_terminal(
    minilm_weights: Path, empty_cache: Path
) -> None:
    snapshot = empty_cache / "hub/models--sentence-transformers--all-MiniLM-L6-v2/snapshots/1"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(minilm_weights)
    result = runner.invoke(app, ["fetch", "minilm"])
    assert result.exit_code == 0
    first, second = result.stderr.splitlines()
    assert first == "looking in the Hugging Face cache" and "next `palace index`" in second
    assert result.stdout == f"{MINILM.folder(empty_cache)}\n"
