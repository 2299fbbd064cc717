from __future__ import annotations

import json
import unicodedata
from base64 import b64decode
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.embedding.charsmap import CharacterMap
from memory_palace.embedding.minilm import WordPiece
from memory_palace.embedding.tokenizer_file import PairTokenizer, read_tokenizer
from tests.cross_encoders import SMALL

tokenizers = pytest.importorskip("tokenizers")
MARKED = "e\u0301u\u0308n\u0303\u0327\u200d\uff76\uff9e\ufb01\u2460\u00bd"
FOLDED = MARKED + "\u3000\t\n aebc字\uff21\uff01🙂"


@pytest.fixture(scope="module")
def reference() -> Any:
    return tokenizers.Tokenizer.from_file(str(SMALL / "xlm_roberta" / "tokenizer.json"))


@pytest.fixture(scope="module")
def table() -> CharacterMap:
    content = json.loads((SMALL / "xlm_roberta" / "tokenizer.json").read_bytes())
    return CharacterMap(b64decode(content["normalizer"]["precompiled_charsmap"]))


def test_every_character_is_replaced_as_the_reference_does(
    table: CharacterMap, reference: Any
) -> None:
    codes = [code for code in range(0x10000) if not 0xD800 <= code <= 0xDFFF]
    normalize = reference.normalizer.normalize_str
    texts = [f"a{chr(code)}b" for code in codes]
    assert [text for text in texts if table.normalize(text) != normalize(text)] == []


@given(st.text(st.sampled_from(FOLDED), max_size=20))
def test_letters_with_marks_are_replaced_as_the_reference_does(
    table: CharacterMap, reference: Any, text: str
) -> None:
    assert table.normalize(text) == reference.normalizer.normalize_str(text)


@cache
def read_small() -> PairTokenizer:
    return read_tokenizer(SMALL / "xlm_roberta" / "tokenizer.json")[0]


SETTLED = st.characters(exclude_categories=("Cs", "Cc")).filter(
    lambda char: unicodedata.ucd_3_2_0.category(char) != "Cn"
)


@given(st.text(SETTLED | st.sampled_from(FOLDED + "aestor"), max_size=40))
def test_text_is_split_as_the_reference_splits_it(reference: Any, text: str) -> None:
    ours = read_small()
    assert ours.encode(text) == reference.encode(text, add_special_tokens=False).ids


def write_cased(path: Path) -> Any:
    vocabulary = "[UNK] [CLS] [SEP] Hütte hut ##te café cafe Ä a , 字".split()
    model = tokenizers.models.WordPiece({p: n for n, p in enumerate(vocabulary)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=False)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(path))
    return tokenizer


@pytest.mark.parametrize("text", ["Hütte, hutte 字a", "café CAFE Ä cafe\u0301", "\u200b字字 a\tÄ"])
def test_a_cased_vocabulary_keeps_case_and_accents(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokenizer.json"
    tokenizer = write_cased(path)
    ours, _ = read_tokenizer(path)
    assert isinstance(ours, WordPiece)
    assert ours.encode(text) == tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("units", [0, 1, 3])
def test_a_table_that_leads_out_of_itself_replaces_nothing(units: int) -> None:
    wild = b"\xff" * 4 * units
    data = (4 + len(wild)).to_bytes(4, "little") + b"\xff\xff\xff\xff" + wild
    table = CharacterMap(data)
    assert table.normalize("aé\u0301\x00字") == "aé\u0301\x00字"
