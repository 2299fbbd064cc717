"""Finding the weights of bge-m3, which needs neither torch nor the weights themselves."""

import importlib.util

import pytest

from memory_palace.embedding.bge_m3 import REQUIRED, VARIABLE, find_weights, load, missing_files
from memory_palace.errors import MissingPartError


def fill(folder, *, encoder="pytorch_model.bin"):
    folder.mkdir(parents=True)
    for name in (*REQUIRED, encoder):
        (folder / name).write_text("{}", "utf-8")
    return folder


def environ(tmp_path, variable=VARIABLE, folder=None):
    """Return an environment with our own cache and one variable more."""
    return {variable: str(folder or tmp_path), "PALACE_CACHE": str(tmp_path / "cache")}


def snapshot(cache, revision):
    return cache / "models--BAAI--bge-m3" / "snapshots" / revision


def test_the_variable_wins_over_every_cache(tmp_path):
    fill(tmp_path / "cache" / "models" / "bge-m3")
    named = fill(tmp_path / "elsewhere")
    assert find_weights(environ(tmp_path, VARIABLE, named)) == named


@pytest.mark.parametrize(
    ("variable", "below"),
    [("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")],
)
def test_the_hub_cache_is_where_its_variables_say(tmp_path, variable, below):
    weights = fill(snapshot(tmp_path / "hub" / below, "a1"))
    assert find_weights(environ(tmp_path, variable, tmp_path / "hub")) == weights


def test_without_weights_the_error_says_how_to_get_them(tmp_path):
    with pytest.raises(MissingPartError, match="hf download BAAI/bge-m3") as caught:
        find_weights(environ(tmp_path, "HF_HUB_CACHE", tmp_path))
    assert VARIABLE in str(caught.value)
    assert caught.value.exit_code == 9


def test_a_named_folder_that_is_missing_is_an_error_and_not_a_download(tmp_path):
    fill(tmp_path / "cache" / "models" / "bge-m3")
    with pytest.raises(MissingPartError, match="not a folder"):
        find_weights(environ(tmp_path, VARIABLE, tmp_path / "gone"))


@pytest.mark.parametrize("name", REQUIRED)
def test_a_folder_that_lacks_a_file_is_refused_by_name(tmp_path, name):
    folder = fill(tmp_path / "weights")
    (folder / name).unlink()
    with pytest.raises(MissingPartError, match=name.replace(".", r"\.")):
        find_weights(environ(tmp_path, VARIABLE, folder))


def test_either_format_of_the_encoder_is_enough(tmp_path):
    assert missing_files(fill(tmp_path / "new", encoder="model.safetensors")) == ()
    folder = fill(tmp_path / "old", encoder="pytorch_model.bin")
    assert missing_files(folder) == ()
    (folder / "pytorch_model.bin").unlink()
    assert missing_files(folder) == ("model.safetensors or pytorch_model.bin",)


def test_without_flagembedding_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingPartError, match=r"-m pip install '.*\[bge\]'"):
        load("", {VARIABLE: str(fill(tmp_path / "weights"))})
