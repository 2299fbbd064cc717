"""No line that recall is judged by is a null line, or nearly one."""

import json
from pathlib import Path

import pytest
from evaluation_data import DATA, ROOT

from benchmarks.recall_sets import read_talks
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.language.words import plain_words

HERE = Path(__file__).parent
LINES = HERE / "recall"
NULL = [ROOT / "memory_palace" / "index" / name for name in ("chat.txt", "talk.txt")]
LIKE = {"minilm": 0.95, "e5": 0.98}
"""Cosines above which two lines are the same one; those of e5 lie close together."""


def read(name):
    return [json.loads(line) for line in (LINES / f"{name}.jsonl").read_text("utf-8").splitlines()]


def read_null():
    lines = [line.strip() for path in NULL for line in path.read_text("utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "["))]


def flat(text):
    return " ".join(plain_words(text))


def list_said():
    """Return every line that is said, by id: of LoCoMo too, where it is here."""
    said = {
        r["id"]: r["utterance"] for name in ("garden", "help", "small_talk") for r in read(name)
    }
    talks = DATA / "locomo" / "locomo_dev.json"
    for listener in read_talks(talks, LINES) if talks.exists() else ():
        said |= {remark.id: remark.text for remark in listener.said}
    return said


def test_no_line_is_a_null_line():
    known = {flat(line) for line in read_null()}
    assert len(known) >= 200
    assert {name for name, text in list_said().items() if flat(text) in known} == set()


@pytest.mark.long
@pytest.mark.parametrize("model", ["minilm", pytest.param("e5", marks=pytest.mark.long)])
def test_no_line_is_nearly_a_null_line(model):
    if not is_available(model):
        pytest.skip(f"needs {model}; palace models fetch {model}")
    embedder, said = get_embedder(model), list_said()
    null = embedder.embed_queries(read_null())
    best = (embedder.embed_queries(list(said.values())) @ null.T).max(axis=1)
    assert {name for name, near in zip(said, best, strict=True) if near > LIKE[model]} == set()
