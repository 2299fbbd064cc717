"""Lines that recall is judged by: their form, their halves, and that none is a null line."""

import json
from collections import Counter
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
KEYS = {
    "garden": {"id", "utterance", "gold", "half"},
    "help": {"id", "utterance", "gold", "half"},
    "small_talk": {"id", "lang", "register", "utterance", "half"},
    "locomo": {"conversation", "turn", "refers", "gold", "half"},
    "locomo_chat": {"conversation", "turn", "half"},
}


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


@pytest.mark.parametrize("name", KEYS)
def test_every_line_has_its_keys_and_a_half_of_its_own(name):
    rows = read(name)
    assert {frozenset(row) for row in rows} == {frozenset(KEYS[name])}
    assert len({tuple(map(str, list(row.values())[:2])) for row in rows}) == len(rows)
    halves = Counter(row["half"] for row in rows)
    assert halves.keys() == {"dev", "held"}
    assert all(row.get("gold") for row in rows if "gold" in row and row.get("refers", True))


@pytest.mark.parametrize("name", ["garden", "help", "small_talk"])
def test_there_are_enough_lines_and_none_twice(name):
    rows = read(name)
    assert len(rows) >= (200 if name == "small_talk" else 60)
    assert len({flat(row["utterance"]) for row in rows}) == len(rows)
    halves = Counter(row["half"] for row in rows)
    assert abs(halves["dev"] - halves["held"]) <= 0.1 * len(rows)


@pytest.mark.parametrize("name", ["locomo", "locomo_chat"])
def test_a_conversation_is_in_one_half(name):
    halves = {(row["conversation"], row["half"]) for row in read(name)}
    assert halves == {
        *((talk, "dev") for talk in ("conv-26", "conv-41")),
        *((talk, "held") for talk in ("conv-30", "conv-42", "conv-43")),
    }


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
