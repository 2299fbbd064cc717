"""Cross-encoders of the library: what it computes is what transformers gave."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory_palace.embedding.cross_encoder import open_cross_encoder
from memory_palace.errors import MissingPartError
from tests.cross_encoders import SMALL, write_config, write_overlap_model

pytestmark = [
    pytest.mark.st,
    pytest.mark.skipif(
        importlib.util.find_spec("sentence_transformers") is None, reason="needs the extra [st]"
    ),
]
WORDS = "why did the barometer fall storm bread butter".split()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return a folder with a model that works, to be broken."""
    return write_overlap_model(tmp_path / "model", WORDS)


@pytest.mark.parametrize("name", ["bert", "xlm_roberta"])
def test_logits_are_those_of_transformers(name: str) -> None:
    expected: dict[str, Any] = json.loads((SMALL / name / "golden.json").read_text("utf-8"))
    model = open_cross_encoder(str(SMALL / name))
    logits = model.score([(first, second) for first, second in expected["pairs"]])
    assert np.abs(logits - np.array(expected["logits"])).max() <= 1e-4
    assert list(model.labels) == expected["labels"]
    assert model.score([]).shape == (0, len(model.labels))


def test_a_model_of_word_overlap_rises_with_each_shared_word(model: Path) -> None:
    question = "why did the barometer fall"
    words = question.split()
    pairs = [(question, " ".join([*words[:n], "bread", "butter"])) for n in range(6)]
    logits = open_cross_encoder(str(model)).score(pairs)[:, 0]
    assert (np.diff(logits) > 0.1).all()


def test_a_model_is_kept_while_its_files_stay_and_read_again_when_they_change(model: Path) -> None:
    first = open_cross_encoder(str(model))
    assert open_cross_encoder(str(model)) is first
    write_config(model, id2label={"0": "relevance"})
    again = open_cross_encoder(str(model))
    assert again is not first and again.labels == ("relevance",)


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def fill_with_nothing(folder: Path) -> None:
    path = folder / "model.safetensors"
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    path.write_bytes(data[:begin] + b"\xff" * (len(data) - begin))


def only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def name_code(folder: Path) -> None:
    """Ask for a class of a file beside the model, as those do that want ``trust_remote_code``."""
    (folder / "evil.py").write_text("raise SystemExit('this ran')\n")
    entry = {"idx": 0, "name": "0", "path": "", "type": "evil.Evil"}
    (folder / "modules.json").write_text(json.dumps([entry]))
    known = {"model_type": "CrossEncoder", "__version__": {"sentence_transformers": "6.0.0"}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(known))


def name_code_of_transformers(folder: Path) -> None:
    (folder / "evil.py").write_text("raise SystemExit('this ran')\n")
    code = {"AutoConfig": "evil.Evil", "AutoModelForSequenceClassification": "evil.Evil"}
    write_config(folder, auto_map=code, model_type="evil")


def empty(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text("{}") and None


BROKEN = {
    "cut weights": cut_weights,
    "values that are no numbers": fill_with_nothing,
    "a pickle": only_pickle,
    "code": name_code,
    "code of transformers": name_code_of_transformers,
    "no configuration": empty("config.json"),
    "no tokenizer": empty("tokenizer.json"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_folder_is_refused_in_one_line(model: Path, name: str) -> None:
    BROKEN[name](model)
    with pytest.raises(MissingPartError) as caught:
        open_cross_encoder(str(model)).score([("why", "storm")])
    message = str(caught.value)
    assert str(model) in message and "\n" not in message and len(message) < 600
