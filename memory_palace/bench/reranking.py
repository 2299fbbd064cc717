"""``palace bench rerank``: what a question costs where a cross-encoder reads its 50 best."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np

from memory_palace.bench.generate import generated_palace, scratch_folder
from memory_palace.bench.given import need_models
from memory_palace.bench.serving import draw_questions
from memory_palace.bench.timing import Measured
from memory_palace.bench.vectors import drawn_minilm, loading
from memory_palace.embedding.cross_encoder import open_cross_encoder
from memory_palace.embedding.e5_file import Array, write_tensors
from memory_palace.embedding.weights import MINILM, TOKENIZER, cache_folder
from memory_palace.palace import Palace
from memory_palace.retrieval.reranking import RERANKED
from memory_palace.storage.atomic import write_atomic, write_stream

LAYERS, WIDTH, HEADS, INNER, PIECES = 6, 384, 12, 1536, 30_522
"""Of ms-marco-MiniLM-L6."""
_NOTES, _WORDS, _TIMED = 400, 33, 5
"""Notes of three passages, which have about 120 tokens with their headings."""


def measure_reranking(model: str | None) -> Iterator[Measured]:
    """Ask with and without a model, by its name or folder; else with weights drawn by chance."""
    need_models("minilm")
    with generated_palace(_NOTES, words=_WORDS * 3) as root, scratch_folder() as scratch:
        folder = model or str(write_drawn_model(scratch))
        palace = Palace(root)
        with loading(drawn_minilm()):
            palace.index(embedder="minilm")
        questions = draw_questions(root, _TIMED + 1)
        plain = _time(palace, questions, None)
        started = time.process_time()
        open_cross_encoder(folder)
        opening = time.process_time() - started
        again = _time(palace, questions, folder)
    reader = model or "a model of 6 x 384"
    what = f"CPU time of a question whose {RERANKED} best are read by {reader}"
    yield Measured(what, again * 1_000, "ms", "the same without it", plain * 1_000)
    yield Measured("CPU time of opening the model, once a process", opening * 1_000, "ms")


def _time(palace: Palace, questions: list[str], model: str | None) -> float:
    """Return the median of several questions, in seconds of the processor, without the first."""
    taken = []
    for question in questions:
        started = time.process_time()
        palace.query(question, rerank=model)
        taken.append(time.process_time() - started)
    return median(taken[1:])


def write_drawn_model(folder: Path) -> Path:
    """Write a model of that size with minilm's vocabulary and weights by chance."""
    rng = np.random.default_rng(16)
    tensors: dict[str, Array] = {}

    def add(name: str, *shape: int) -> None:
        tensors[name] = rng.normal(0, 0.05, shape).astype(np.float32)

    def add_affine(name: str, outgoing: int, incoming: int) -> None:
        add(f"{name}.weight", outgoing, incoming)
        add(f"{name}.bias", outgoing)

    def add_norm(name: str) -> None:
        tensors[f"{name}.weight"] = np.ones(WIDTH, np.float32)
        tensors[f"{name}.bias"] = np.zeros(WIDTH, np.float32)

    for table, rows in (("word", PIECES), ("position", 512), ("token_type", 2)):
        add(f"bert.embeddings.{table}_embeddings.weight", rows, WIDTH)
    add_norm("bert.embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"bert.encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            add_affine(f"{layer}.attention.{part}", WIDTH, WIDTH)
        add_affine(f"{layer}.intermediate.dense", INNER, WIDTH)
        add_affine(f"{layer}.output.dense", WIDTH, INNER)
        for norm in ("attention.output", "output"):
            add_norm(f"{layer}.{norm}.LayerNorm")
    add_affine("bert.pooler.dense", WIDTH, WIDTH)
    add_affine("classifier", 1, WIDTH)
    write_stream(folder / "model.safetensors", lambda out: write_tensors(out, tensors))
    shutil.copyfile(MINILM.find(cache_folder(os.environ)) / TOKENIZER.name, folder / TOKENIZER.name)
    said = (
        f'{{"architectures": ["BertForSequenceClassification"], "hidden_size": {WIDTH}, '
        f'"num_hidden_layers": {LAYERS}, "num_attention_heads": {HEADS}, '
        f'"intermediate_size": {INNER}, "vocab_size": {PIECES}, "model_type": "bert", '
        '"num_labels": 1}'
    )
    write_atomic(folder / "config.json", said.encode())
    return folder
