"""Models of one's own, by the real library over a tiny model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from running import run_main

from memory_palace.embedding.hub import open_model
from memory_palace.errors import MissingPartError

pytestmark = pytest.mark.st


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


@pytest.fixture
def mine(tiny_model: Path, tmp_path: Path) -> Path:
    """A copy of the model that a test may change."""
    return Path(shutil.copytree(tiny_model, tmp_path / "mine"))


def test_only_models_fetch_asks_the_hub(
    tiny_model: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    import huggingface_hub

    asked = []

    def download(name: str, **how: object) -> str:
        asked.append((name, how))
        return str(shutil.copytree(tiny_model, cache / "hub/models--org--tiny/snapshots/abc"))

    code, out, err = run_main(capsys, "models", "fetch", "org/tiny")
    assert (code, out, err.count("\n")) == (9, "", 1) and "cannot be fetched" in err
    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    code, out, err = run_main(capsys, "models", "fetch", "org/tiny")
    assert code == 0 and Path(out.strip()).is_dir() and "--rerank org/tiny" in err
    assert run_main(capsys, "models", "fetch", "ms-marco-minilm")[0] == 9
    assert [name for name, how in asked] == ["org/tiny", "cross-encoder/ms-marco-MiniLM-L6-v2"]
    assert not any("bin" in str(how["allow_patterns"]) for _, how in asked)


def test_code_of_a_model_is_never_run(mine: Path) -> None:
    (mine / "evil.py").write_text("raise SystemExit('this ran')\n")
    modules = json.loads((mine / "modules.json").read_text())
    modules[1]["type"] = "evil.Evil"
    (mine / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(MissingPartError) as caught:
        open_model("SentenceTransformer", mine)
    assert "\n" not in str(caught.value) and str(mine) in str(caught.value)


def test_a_pickle_is_never_read(mine: Path) -> None:
    (mine / "model.safetensors").rename(mine / "pytorch_model.bin")
    with pytest.raises(MissingPartError, match="cannot be used"):
        open_model("SentenceTransformer", mine)
