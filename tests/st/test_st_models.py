"""Embedders of one's own, by the real library over a tiny model."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from running import run_main

from memory_palace import Palace
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import MissingPartError, WrongEmbedderError

from .conftest import save_tiny_model

pytestmark = pytest.mark.st

TEXTS = ["the gateway lost packets", "snow covers the panel", "das ist ein satz auf deutsch", " "]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


@pytest.fixture
def mine(tiny_model, tmp_path):
    """A copy of the model that a test may change."""
    return Path(shutil.copytree(tiny_model, tmp_path / "mine"))


@pytest.fixture
def palace(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    for number, text in enumerate(TEXTS[:3]):
        (notes / f"note{number}.md").write_text(f"# Note {number}\n\n{text}\n")
    return Palace.init(notes, here=True)


def test_vectors_are_those_of_the_library_with_the_prompts_of_the_model(tiny_model):
    from sentence_transformers import SentenceTransformer

    embedder = get_embedder(f"st:{tiny_model}")
    asked, kept = embedder.embed_queries(TEXTS), embedder.embed_passages(TEXTS)
    assert asked.shape == (4, embedder.dimension) == (4, 32) and asked.dtype == np.float32
    assert not asked[3].any() and not kept[3].any()
    model = SentenceTransformer(str(tiny_model), local_files_only=True)
    for found, prompt in ((asked, "query: "), (kept, "passage: ")):
        plain = model.encode([f"{prompt}{text}" for text in TEXTS[:3]], normalize_embeddings=True)
        np.testing.assert_allclose(found[:3], plain, atol=1e-5)
    assert np.abs(asked - kept).max() > 0.01


def test_tokens_are_those_of_the_model(tiny_model):
    embedder = get_embedder(f"st:{tiny_model}")
    assert embedder.count_tokens(TEXTS[0]) == 4
    assert embedder.count_tokens("snow " * 100) == 100
    assert embedder.token_limit == 62


def test_the_recipe_has_the_digest_of_the_weights_and_the_prompts(mine):
    first = get_embedder(f"st:{mine}").fingerprint
    moved = mine.rename(mine.parent / "moved")
    assert get_embedder(f"st:{moved}").fingerprint == first
    settings = moved / "config_sentence_transformers.json"
    settings.write_text(settings.read_text().replace("passage: ", "text: "))
    second = get_embedder(f"st:{moved}").fingerprint
    weights = moved / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert len({first, second, get_embedder(f"st:{moved}").fingerprint}) == 3


def test_an_index_is_made_and_asked_with_a_folder(palace, mine, capsys):
    root, model = str(palace.paths.root), os.path.relpath(mine)
    code, _, err = run_main(capsys, "-C", root, "index", "--embedder", f"st:{model}")
    assert code == 0, err
    commit = palace.snapshot().commit
    assert (commit.embedder, commit.dimension) == (f"st:{mine}", 32)
    code, out, err = run_main(capsys, "-C", root, "query", TEXTS[1], "--format", "paths")
    assert (code, Path(out.split()[0]).name, err) == (0, "note1.md", "")
    assert run_main(capsys, "-C", root, "index", "--embedder", f"st:{model}")[0] == 0
    shutil.rmtree(mine)
    save_tiny_model(mine, seed=1)
    with pytest.raises(WrongEmbedderError, match="another version of st:"):
        Palace(palace.paths.root).query(TEXTS[1])


def test_a_name_of_the_hub_is_read_from_its_cache(palace, tiny_model, cache, capsys):
    root = str(palace.paths.root)
    code, _, err = run_main(capsys, "-C", root, "index", "--embedder", "st:org/tiny")
    assert code == 9 and "run `palace models fetch org/tiny`" in err and err.count("\n") == 1
    own = cache / "hub" / "models--org--tiny"
    shutil.copytree(tiny_model, own / "snapshots" / "abc")
    assert Palace(palace.paths.root).index(embedder="st:org/tiny").embedder == "st:org/tiny"
    assert get_embedder("st:org/tiny").fingerprint == get_embedder(f"st:{tiny_model}").fingerprint


def test_only_models_fetch_asks_the_hub(tiny_model, cache, monkeypatch, capsys):
    import huggingface_hub

    asked = []

    def download(name, **how):
        asked.append((name, how))
        return str(shutil.copytree(tiny_model, cache / "hub/models--org--tiny/snapshots/abc"))

    code, out, err = run_main(capsys, "models", "fetch", "org/tiny")
    assert (code, out, err.count("\n")) == (9, "", 1) and "cannot be fetched" in err
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    code, out, err = run_main(capsys, "models", "fetch", "st:org/tiny")
    assert code == 0 and Path(out.strip()).is_dir() and "--embedder st:org/tiny" in err
    assert run_main(capsys, "models", "fetch", "ms-marco-minilm")[0] == 9
    assert [name for name, how in asked] == ["org/tiny", "cross-encoder/ms-marco-MiniLM-L6-v2"]
    assert not any("bin" in str(how["allow_patterns"]) for _, how in asked)


def test_code_of_a_model_is_never_run(mine):
    (mine / "evil.py").write_text("raise SystemExit('this ran')\n")
    modules = json.loads((mine / "modules.json").read_text())
    modules[1]["type"] = "evil.Evil"
    (mine / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(MissingPartError) as caught:
        get_embedder(f"st:{mine}").embed_queries(TEXTS)
    assert "\n" not in str(caught.value) and str(mine) in str(caught.value)


def test_a_pickle_is_never_read(mine):
    (mine / "model.safetensors").rename(mine / "pytorch_model.bin")
    with pytest.raises(MissingPartError, match="cannot be used"):
        get_embedder(f"st:{mine}").embed_queries(TEXTS)
