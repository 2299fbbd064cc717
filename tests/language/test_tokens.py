"""What counts as a token, in notes and in questions alike."""

import pytest
from growing import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.config import LANGUAGES
from memory_palace.features.anchors.vocabulary import words_of
from memory_palace.language.tagged_words import split_words
from memory_palace.language.words import _spell_as_american, plain_words, squeeze_all, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("release 1.0.21", ["1.0.21", "1", "0", "21"]),
        ("release v1.0.21", ["1.0.21"]),
        ("call save_index()", ["save_index", "save", "index"]),
        ("call saveIndex()", ["saveindex", "save", "index"]),
        ("peer-reviewed", ["peer-reviewed", "peer", "review"]),
        ("Anna's", ["anna"]),
        ("[notes](My%20Dog.md)", ["my", "dog.md", "dog"]),
        ("STRASSE Straße", ["strass"]),
        ("ﬁnd Ｗｉｄｅ", ["find", "wide"]),
        ("due 2026-03-05", ["2026-03-05", "2026"]),
        ("黒猫がいる", ["猫", "黒猫", "猫が"]),
        ("입니다", ["입니", "니다"]),
        ("ภาษาไทย", ["ภา", "ไท"]),
        ("Python入門", ["python", "入門"]),
        ("हिन्दी", ["हिन्दी"]),
        ("naïve café", ["naiv", "cafe"]),
    ],
)
def test_a_text_gives_these_tokens_among_others(text, tokens):
    assert set(tokens) <= set(tokenize(text))


@pytest.mark.parametrize("word", ["was", "this", "gas", "bus", "his", "css", "k8s", "x86", "1st"])
def test_short_words_and_names_of_things_keep_their_letters(word):
    assert tokenize(word) == [word]


@given(st.text())
def test_a_question_is_read_as_the_note_it_was_copied_from(text):
    assert tokenize(text) == tokenize(text.replace("\u2019", "'"))
    assert tokenize(text + " ") == tokenize(" " + text)


@given(st.text(alphabet="aeioursyzlbtgn", min_size=3, max_size=12))
def test_a_word_in_american_spelling_stays(word):
    once = _spell_as_american(word)
    assert _spell_as_american(once) == once


def test_stems_can_be_left_out():
    assert tokenize("the repairs", stems=False) == ["the", "repairs"]


def test_only_words_of_letters_are_stemmed():
    assert tokenize("24s caching_layers файлы2") == [
        "24s",
        "caching_layers",
        "cach",
        "layer",
        "файлы2",
    ]


@pytest.mark.parametrize(
    ("written", "typed"),
    [
        ("configuración", "configuracion"),
        ("modifiés à l’été", "modifies a l'ete"),
        ("Łódź", "lodz"),
        ("smörgåsbord", "smorgasbord"),
        ("œuvre", "oeuvre"),
    ],
)
def test_accents_of_latin_letters_may_be_left_out(written, typed):
    assert tokenize(written) == tokenize(typed)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("猫の本", ["猫", "本", "猫の", "の本"]),
        ("ノート", ["ノー", "ート"]),
        ("の", ["の"]),
        ("집에서", ["집", "에", "서", "집에", "에서"]),
        ("ไทย", ["ไท", "ทย"]),
        ("ﾃｽﾄ？", ["テス", "スト"]),
        ("全角　ＡＢＣ１２", ["全", "角", "全角", "abc12"]),
    ],
)
def test_letters_of_a_script_without_spaces_are_no_words_alone(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize(
    ("languages", "words"),
    [
        (("de",), "Häuser Hauses Haus"),
        (("en", "de"), "repairs repaired repairing"),
        (("de", "en"), "lost lose"),
        (("es",), "archivos archivo"),
        (("de",), "заметки заметку"),
        (("ja",), "repairs repairing"),
        (("el",), "σημειώσεις σημείωση"),
        (("hi",), "किताबें किताबों"),
    ],
)
def test_the_languages_that_apply_bring_their_forms_together(languages, words):
    assert len({*tokenize(words, languages=languages)}) == 1


def test_without_english_its_forms_are_words_of_their_own():
    assert len({*tokenize("lost lose repairing repaired", languages=("de",))}) == 4


@given(st.text(), st.lists(st.sampled_from(sorted(LANGUAGES)), max_size=3).map(tuple))
def test_any_languages_give_as_many_tokens(text, languages):
    """Whoever pairs stems with the words they are of relies on that."""
    assert len(tokenize(text, languages=languages)) == len(tokenize(text, stems=False))


@given(st.text())
def test_any_text_gives_tokens_without_blanks(text):
    for token in tokenize(text):
        assert token
        assert not any(c.isspace() for c in token)


@given(st.text(alphabet="abc ä-_.'漢字ก็", max_size=30))
def test_a_token_of_a_note_is_found_by_itself(text):
    for token in tokenize(text, stems=False):
        assert token in tokenize(token, stems=False)


def test_a_long_line_takes_linear_time():
    """A pattern that went back over what it has read would need hours for this."""
    assert tokenize("a." * 200_000)
    assert tokenize("漢" * 200_000)
    assert_linear(lambda repeats: tokenize("isour" * repeats + "tre"), 5_000)


def test_each_list_of_words_says_of_one_sentence_what_it_is_for():
    text = "Anna’s red-backpack isn't"
    assert tokenize(text) == ["anna", "red-backpack", "red", "backpack", "isn't"]
    assert plain_words(text) == ["anna's", "red", "backpack", "isn't"]
    assert [word.key for word in split_words(text)] == ["anna", "red-backpack", "isn't"]
    assert words_of(text) == ["anna", "red", "backpack", "isn't"]


def test_a_name_that_holds_the_mark_between_names_stays_one() -> None:
    assert squeeze_all(["a\0b", "C d"]) == ["ab", "cd"]
    assert squeeze_all(["\0"]) == [""]
