import subprocess
import sys

import pytest

from memory_palace.embedding.registry import EMBEDDERS, MINILM, get_embedder, is_available
from memory_palace.errors import UsageError


@pytest.fixture
def environ(tmp_path):
    return {"PALACE_CACHE": str(tmp_path), "HF_HUB_CACHE": str(tmp_path / "hub")}


@pytest.mark.parametrize("function", [get_embedder, is_available])
def test_an_unknown_name_lists_the_known_and_the_nearest(function):
    assert callable(function)
    with pytest.raises(UsageError, match="did you mean 'minilm'") as caught:
        function("minlm")
    assert all(name in str(caught.value) for name in EMBEDDERS)
    with pytest.raises(UsageError, match="known:"):
        function("zzz")


def test_minilm_is_available_once_both_files_have_their_length(environ, tmp_path):
    assert not is_available("minilm", environ=environ)
    folder = MINILM.folder(tmp_path)
    folder.mkdir(parents=True)
    for file in MINILM.files:
        assert not is_available("minilm", environ=environ)
        with (folder / file.name).open("wb") as sparse:
            sparse.truncate(file.size_bytes)
    assert is_available("minilm", environ=environ)


def test_asking_what_is_available_imports_no_model_package():
    code = (
        "import sys; from memory_palace.embedding.registry import EMBEDDERS, is_available;"
        "[is_available(name) for name in EMBEDDERS];"
        "heavy = {'torch', 'FlagEmbedding', 'llm', 'tokenizers'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
