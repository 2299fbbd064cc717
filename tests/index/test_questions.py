"""Questions that chance is measured with: their vectors are kept, and what they find is robust."""

import numpy as np
import pytest

from memory_palace import Palace
from memory_palace.embedding.registry import get_embedder
from memory_palace.index import chance
from memory_palace.index.chance import embed_null_lines, find_best_null, read_lines


class Counting:
    """The hashing embedder, counting what it is asked."""

    def __init__(self, fingerprint: str = "one") -> None:
        self._embedder = get_embedder("hashing")
        self.dimension, self.fingerprint = self._embedder.dimension, fingerprint
        self.asked = 0

    def embed_queries(self, texts):
        self.asked += len(texts)
        return self._embedder.embed_queries(texts)


def test_questions_are_embedded_once_per_embedder(tmp_path):
    first, again = Counting(), Counting()
    made = embed_null_lines(tmp_path, first).questions
    assert np.array_equal(embed_null_lines(tmp_path, again).questions, made)
    assert (first.asked, again.asked) == (len(read_lines("questions")) + len(read_lines("talk")), 0)
    embed_null_lines(tmp_path, Counting("two"))
    assert len(list(tmp_path.iterdir())) == 1
    assert embed_null_lines(tmp_path, Counting()).questions.shape == made.shape


def test_damaged_vectors_are_made_again(tmp_path):
    made = embed_null_lines(tmp_path, Counting()).questions
    file = next(tmp_path.iterdir())
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)
    again = Counting()
    assert np.array_equal(embed_null_lines(tmp_path, again).questions, made)
    assert again.asked and len(list(tmp_path.iterdir())) == 1


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    for number in range(24):
        note = palace.paths.notes / "chambers" / f"{number}.md"
        note.write_text(f"Note {number} on the roof, rain {number * 7} and keys.\n", "utf-8")
    palace.index(embedder="hashing")
    return palace


def test_a_question_that_is_answered_does_not_move_the_null(palace):
    vectors = get_embedder("hashing").embed_queries(read_lines("questions"))
    before = find_best_null(palace.snapshot(), vectors)
    vectors[:5] = get_embedder("hashing").embed_queries(["Note 3 on the roof, rain 21 and keys."])
    after = find_best_null(palace.snapshot(), vectors)
    assert abs(after["best_null"] - before["best_null"]) < before["best_deviation"] / 3


def test_more_passages_than_are_asked_raise_the_null(palace, monkeypatch):
    vectors = get_embedder("hashing").embed_queries(read_lines("questions"))
    whole = find_best_null(palace.snapshot(), vectors)["best_null"]
    monkeypatch.setattr(chance, "ASKED_OF", 6)
    few = find_best_null(palace.snapshot(), vectors)["best_null"]
    assert abs(few - whole) < 0.05


def test_doctor_knows_the_vectors_and_a_build_sweeps_damaged_ones(palace):
    assert palace.doctor().findings == ()
    file = next(palace.paths.index.glob("null-*"))
    file.write_bytes(file.read_bytes()[:-9])
    assert [finding.what for finding in palace.doctor().findings] == ["leftover"]
    palace.index()
    assert palace.doctor().findings == ()


def test_chance_is_measured_in_the_language_of_the_notes(tmp_path):
    """A question of another language is farther off: it says too little of what chance gives."""
    palace = Palace.init(tmp_path)
    lines = [
        "ベランダで花を育てる方法は何ですか",
        "更新後にエディタが起動しない",
        "今日の会議はどうですか",
    ]
    for number in range(30):
        note = palace.paths.notes / "chambers" / f"{number}.md"
        note.write_text(f"{lines[number % 3]}、{number}番目のメモ。\n", "utf-8")
    palace.index(embedder="hashing")
    texts = read_lines("questions")
    own = texts.index("今日の天気はどうですか？")
    english = get_embedder("hashing").embed_queries(texts)
    english[own - 13 : own + 1] = english[:14]
    found = palace.snapshot().commit.calibration["best_null"]
    assert found > find_best_null(palace.snapshot(), english)["best_null"]


def test_questions_are_kept_in_a_byte_a_component(tmp_path):
    made = np.concatenate(embed_null_lines(tmp_path, Counting()))
    exact = get_embedder("hashing").embed_queries([*read_lines("questions"), *read_lines("talk")])
    assert np.abs((made * exact).sum(axis=1) - 1).max() < 0.01
    size = next(tmp_path.iterdir()).stat().st_size
    assert size < made.size * 1.05
