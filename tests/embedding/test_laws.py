"""What holds for both models that run without a library."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memory_palace.embedding.e5 import E5Embedder
from memory_palace.embedding.minilm import MiniLMEmbedder
from memory_palace.errors import MissingPartError

DATA = Path(__file__).parent / "data"
KINDS = {"minilm": MiniLMEmbedder, "e5": E5Embedder}
ROUNDING = {"minilm": 1e-6, "e5": 5e-6}
Model = MiniLMEmbedder | E5Embedder


@pytest.fixture(params=KINDS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(name: str, request: pytest.FixtureRequest) -> Model:
    """Return the model with its real weights."""
    found: Model = request.getfixturevalue(name)
    return found


def test_neither_order_nor_company_changes_a_vector(name: str, model: Model) -> None:
    texts = json.loads((DATA / f"{name}_reference.json").read_bytes())["texts"]
    together = model.embed_passages(texts)
    assert np.abs(model.embed_passages(texts[::-1])[::-1] - together).max() <= ROUNDING[name]
    alone = np.concatenate([model.embed_passages([text]) for text in texts])
    assert np.abs(alone - together).max() <= ROUNDING[name]


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\x00"])
def test_a_text_without_a_token_is_the_zero_vector(model: Model, text: str) -> None:
    vectors = model.embed_passages([text, "storm"])
    assert not vectors[0].any()
    assert np.linalg.norm(vectors[1]) == pytest.approx(1, abs=1e-6)
    assert model.count_tokens(text) == 0


@pytest.mark.parametrize(
    ("name", "digest"), [("minilm", "53aa51172d142c89"), ("e5", "1571fc9827503943")]
)
def test_building_one_reads_nothing(tmp_path: Path, name: str, digest: str) -> None:
    embedder = KINDS[name](tmp_path / "absent")
    assert embedder.dimension == 384
    assert embedder.fingerprint.startswith(f"{name}:{digest}:")
    with pytest.raises(MissingPartError, match=f"palace models fetch {name}"):
        embedder.embed_queries(["storm"])


@pytest.mark.usefixtures("model")
def test_a_query_loads_no_heavy_package(name: str) -> None:
    code = (
        "import sys; from memory_palace.embedding.registry import get_embedder;"
        f"get_embedder('{name}').embed_queries(['storm']);"
        "heavy = {'torch', 'tokenizers', 'typer', 'rich', 'transformers'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
