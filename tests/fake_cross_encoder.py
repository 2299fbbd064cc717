"""A small stand-in for ``sentence_transformers.CrossEncoder``: the share of known words."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest


class CrossEncoder:
    """Score a pair by the share of the words in ``words.txt`` that both texts have.

    With two labels the first is always 0. A folder without ``words.txt`` is damaged.
    """

    max_seq_length = 4096

    def __init__(self, folder: str, **options: Any) -> None:
        assert options["trust_remote_code"] is False and options["local_files_only"] is True
        assert options["model_kwargs"]["use_safetensors"] is True
        lines = (Path(folder) / "words.txt").read_text("utf-8").splitlines()
        self._words = set(lines[0].split())
        labels = lines[1].split()
        self.num_labels = len(labels)
        self.config = SimpleNamespace(id2label=dict(enumerate(labels)))

    def predict(self, pairs: Sequence[tuple[str, str]], **options: Any) -> Any:
        """Return an array of logits, of shape ``(pairs,)`` for one label."""
        assert self.max_seq_length == 512
        shared = [
            len(self._words & set(first.split()) & set(second.replace(",", "").split()))
            for first, second in pairs
        ]
        found = np.array(shared, np.float32) / max(len(self._words), 1) * 10
        return found if self.num_labels == 1 else np.stack([np.zeros_like(found), found], 1)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the stand-in, and what the adapter imports besides, for one test."""
    for name, values in {
        "sentence_transformers": {"CrossEncoder": CrossEncoder},
        "torch": {"float32": "float32"},
        "torch.nn": {"Identity": object},
        "safetensors": {"SafetensorError": type("SafetensorError", (Exception,), {})},
        "transformers": {},
        "transformers.utils": {
            "logging": SimpleNamespace(
                set_verbosity_error=lambda: None, disable_progress_bar=lambda: None
            )
        },
    }.items():
        module = ModuleType(name)
        module.__spec__ = ModuleSpec(name, None)
        vars(module).update(values)
        monkeypatch.setitem(sys.modules, name, module)


def write_model(folder: Path, words: str, labels: str = "LABEL_0") -> str:
    """Write a folder that the stand-in reads; return it."""
    folder.mkdir(parents=True)
    (folder / "words.txt").write_text(f"{words}\n{labels}\n", "utf-8")
    return str(folder)
