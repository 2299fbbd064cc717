from io import BytesIO
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.e5 import MARK, UNKNOWN_PENALTY, E5File, Unigram, write_tensors
from memory_palace.embedding.minilm import TensorFile
from tests.embedding.e5_writer import PIECES, SPECIAL, write_e5

SCORES = dict(PIECES)
NAMES = [*SPECIAL, *SCORES]
UNKNOWN = SPECIAL.index("<unk>")


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Unigram:
    path = tmp_path_factory.mktemp("e5") / "e5.bin"
    write_e5(path)
    packed = BytesIO()
    write_tensors(packed, E5File(path).unpack())
    return Unigram(TensorFile(path, packed.getvalue()))


def spell(unigram: Unigram, text: str) -> list[str]:
    return [NAMES[number] for number in unigram.encode(text)]


def cost(pieces: list[str]) -> float:
    unknown = min(SCORES.values()) - UNKNOWN_PENALTY
    return sum(SCORES.get(piece, unknown) for piece in pieces)


def split_every_way(word: str) -> list[list[str]]:
    """Return all splits of a word into known pieces and unknown single characters."""
    ways = []
    for cuts in product((False, True), repeat=len(word) - 1):
        pieces, start = [], 0
        for place, is_cut in enumerate((*cuts, True), 1):
            if is_cut:
                pieces.append(word[start:place])
                start = place
        if all(piece in SCORES or len(piece) == 1 for piece in pieces):
            ways.append(pieces)
    return ways


@given(word=st.text("astormx\u5b57", min_size=1, max_size=8))
def test_no_other_split_of_a_word_has_a_better_sum(unigram: Unigram, word: str) -> None:
    best = max(cost(way) for way in split_every_way(MARK + word))
    ids = unigram.encode(word)
    unknown = min(SCORES.values()) - UNKNOWN_PENALTY
    found = sum(unknown if number == UNKNOWN else SCORES[NAMES[number]] for number in ids)
    assert found == pytest.approx(best)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("storm", ["\u2581storm"]),
        ("  storm\t\nstorm ", ["\u2581storm", "\u2581storm"]),
        ("query: a", ["\u2581query", ":", "\u2581a"]),
        ("\uff41\uff41\x01", ["\u2581a", "a"]),
        ("\u33ab", ["\u2581", "m", "a"]),
        ("cafe\u0301", ["\u2581", "caf", "\u00e9"]),
        ("zq", ["\u2581", "<unk>", "<unk>"]),
        ("a\0a", ["\u2581a", "a"]),
        ("\ud800", ["\u2581", "<unk>"]),
        ("", []),
        (" \n\t\0\x01", []),
    ],
)
def test_a_text_is_split_as_the_rules_say(unigram: Unigram, text: str, pieces: list[str]) -> None:
    assert spell(unigram, text) == pieces


def test_control_pieces_in_a_note_are_text(unigram: Unigram) -> None:
    for piece in SPECIAL:
        assert not {0, 1, 2} & set(unigram.encode(f"a {piece} a"))


@given(left=st.text(max_size=20), right=st.text(max_size=20))
def test_words_are_split_apart_from_each_other(unigram: Unigram, left: str, right: str) -> None:
    assert unigram.encode(f"{left} {right}") == unigram.encode(left) + unigram.encode(right)


def test_a_word_of_a_hundred_thousand_letters_takes_linear_work(
    unigram: Unigram, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = 0
    find = unigram._find_group

    def count(name: str) -> tuple[dict[str, int], int]:
        nonlocal found
        found += 1
        return find(name)

    monkeypatch.setattr(unigram, "_find_group", count)
    ids = unigram.encode("a" * 100_000)
    assert len(ids) == 50_001
    assert found == 100_001
