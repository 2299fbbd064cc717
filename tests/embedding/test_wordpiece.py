import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.embedding.minilm import WordPiece
from memory_palace.embedding.registry import read_vocabulary

tokenizers = pytest.importorskip("tokenizers")

SAMPLES = [
    "The barometer drifts; recalibrate it (twice!) before 2026-11-21.",
    "naïve café, Ünïcödé, ﬁne, ½ ² ① Ⅷ — “quotes” … ¿qué?",
    "日本語のテキスト、中文字符和标点。한국어 문장입니다. ภาษาไทย",
    "Привет, мир! Ёлка Й ё й. Ελληνικά ΣΑΣ ς. עברית שָׁלוֹם. العربية مُحَمَّد",
    "हिन्दी में वाक्य। தமிழ் বাংলা",
    "emoji 🙂👩‍👩‍👧‍👦🏳️‍🌈 zero\u200bwidth\u200d soft\u00adhyphen \ufeffbom \x00nul \x85nel",
    "[SEP] [CLS] [MASK] [PAD] [UNK] ##ing [unused1]",
    "x" * 100 + " " + "x" * 101 + " " + "9" * 400,
    "snake_case camelCase path/to/file.md https://example.org/?q=1&r=2#frag",
    "İstanbul ıI ǅ ẞ ß \u1e9b\u0323 A\u030a e\u0301\u0327 \U0001d15e",
    "tab\tnew\nline\r\nform\x0cfeed\u2028sep\u3000wide\u00a0nbsp",
]

# Rust's tables of categories are those of Unicode 8, Python's are newer. These moved.
MOVED = "\u166d\u1734\u1885\u1886"


def is_settled(char):
    return char not in MOVED and unicodedata.ucd_3_2_0.category(char) != "Cn"


@pytest.fixture(scope="module")
def wordpiece(minilm_weights):
    return WordPiece(read_vocabulary(minilm_weights))


@pytest.fixture(scope="module")
def reference(minilm_weights):
    tokenizer = tokenizers.Tokenizer.from_file(str(minilm_weights / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def ids_of(reference, text):
    return list(reference.encode(text, add_special_tokens=False).ids)


@pytest.mark.parametrize("text", SAMPLES)
def test_samples_split_as_the_reference_tokenizer_splits_them(wordpiece, reference, text):
    assert wordpiece.encode(text) == ids_of(reference, text)


settled_text = st.text(st.characters(exclude_categories=("Cs",)).filter(is_settled), max_size=40)
wordy_text = st.text(st.sampled_from("aeinrst ÄéñΣßﬁ#[]_-.,'\n中の한\u0301\u0327\u200d🙂9"))


@given(settled_text | wordy_text | st.lists(settled_text | wordy_text, max_size=6).map(" ".join))
@settings(max_examples=300, deadline=None)
def test_random_text_splits_as_the_reference_tokenizer_splits_it(wordpiece, reference, text):
    assert wordpiece.encode(text) == ids_of(reference, text)


def test_every_settled_character_is_treated_as_by_the_reference_tokenizer(wordpiece, reference):
    codes = [code for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    texts = [f"a{chr(code)}b" for code in codes if is_settled(chr(code))]
    found = reference.encode_batch(texts, add_special_tokens=False)
    assert len(texts) > 200_000
    assert [t for t, f in zip(texts, found, strict=True) if wordpiece.encode(t) != f.ids] == []
