"""Who reads a passage, and what is made of what spaCy finds."""

from __future__ import annotations

from importlib import metadata

import pytest

from memory_palace.config import Config
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import MissingPartError
from memory_palace.features.structure import spacy_reading as reading
from memory_palace.features.structure.facts import extract_structure
from memory_palace.features.structure.spacy_reading import Utterance, read_by_patterns
from memory_palace.index import recipes
from memory_palace.language.tagged_words import split_words
from memory_palace.palace import Palace


def recipe(structure="spacy"):
    made = (HashingEmbedder(), recipes.Detail.STRUCTURED, ())
    return recipes.name_recipe(*made, structure)


class Entry:
    def __init__(self, name):
        self.name = name


@pytest.fixture
def installed(monkeypatch):
    def install(*names):
        reading.need_pipeline.cache_clear()
        reading._load.cache_clear()
        monkeypatch.setattr(reading, "find_spec", lambda name: object() if names else None)
        found = [Entry(name) for name in names]
        kept = {"spacy_models": found}
        monkeypatch.setattr(metadata, "entry_points", lambda group: kept.get(group, ()))
        monkeypatch.setattr(metadata, "version", lambda name: "9.9" if name == "spacy" else "1.2")

    yield install
    reading.need_pipeline.cache_clear()
    reading._load.cache_clear()


def test_patterns_read_unless_the_settings_name_spacy(installed):
    installed("en_core_web_sm")
    assert reading.choose_reader("patterns") is read_by_patterns
    assert recipe("patterns").endswith("+patterns-1")


@pytest.mark.parametrize("names", [(), ("de_core_news_sm",)])
def test_without_an_english_pipeline_the_setting_is_refused_with_what_to_install(installed, names):
    installed(*names)
    for ask in (recipe, lambda: reading.choose_reader("spacy")):
        with pytest.raises(MissingPartError, match=r"pip install .*nlp.*en_core_web_sm"):
            ask()


def test_an_index_answers_and_is_made_again_where_another_reader_is_named(installed, tmp_path):
    (tmp_path / ".palace").mkdir()
    (tmp_path / "hut.md").write_text("# Hut\n\nAnna keeps the old barometer in the hut.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="hashing", structure=True)
    installed()
    asked = Palace(tmp_path, config=Config(structure="spacy"))
    assert asked.query("who keeps the barometer?", profile="structured").hits
    with pytest.raises(MissingPartError, match="structure: spacy"):
        asked.index()
    with pytest.raises(MissingPartError, match="structure: spacy"):
        asked.doctor()


def test_an_english_pipeline_is_part_of_the_recipe(installed):
    installed("xx_ent_wiki_sm", "en_core_web_sm")
    assert recipe().endswith("+spacy-9.9+en_core_web_sm-1.2")


@pytest.mark.nlp
def test_a_pipeline_that_does_not_load_is_named(installed):
    pytest.importorskip("spacy", reason="needs the extra [nlp]")
    installed("en_nowhere_to_be_found")
    with pytest.raises(MissingPartError, match="en_nowhere_to_be_found"):
        reading.choose_reader("spacy")


@pytest.fixture
def parsed():
    spacy = pytest.importorskip("spacy", reason="needs the extra [nlp]")
    from spacy.tokens import Doc, Span

    words = "I bought the portable power bank from Ana Lopez in May".split()
    doc = Doc(
        spacy.blank("en").vocab,
        words=words,
        pos="PRON VERB DET ADJ NOUN NOUN ADP PROPN PROPN ADP PROPN".split(),
        deps="nsubj ROOT det amod compound dobj prep compound pobj prep pobj".split(),
        heads=[1, 1, 5, 5, 5, 1, 1, 8, 6, 1, 9],
    )
    doc.ents = [Span(doc, 7, 9, label="PERSON"), Span(doc, 10, 11, label="DATE")]
    return doc


@pytest.mark.nlp
def test_what_spacy_finds_has_the_keys_that_questions_have(parsed):
    def read(said, known):
        return reading.read_documents(said, [parsed], known)

    facts = {(f.kind.value, f.key) for f in extract_structure(parsed.text, read=read)}
    assert {
        ("entity", "ana lopez"),
        ("entity", "lopez"),
        ("phrase", "portabl power bank"),
        ("phrase", "power bank"),
        ("relation", "i|buy|bank"),
        ("relation", "i|buy|*"),
    } <= facts
    assert ("entity", "may") not in facts
    assert not [key for kind, key in facts if kind == "phrase" and key.startswith("the")]


@pytest.mark.nlp
def test_the_first_person_is_the_speaker_for_spacy_too(parsed):
    part = Utterance("ben", parsed.text, split_words(parsed.text))
    assert reading.read_documents([part], [parsed], ()).relations[0] == ("ben", "buy", "bank")


@pytest.mark.nlp
def test_a_pipeline_reads_names_phrases_and_relations_that_a_question_finds(tmp_path):
    pytest.importorskip("spacy", reason="needs the extra [nlp]")
    try:
        reading.need_pipeline()
    except MissingPartError as error:
        pytest.skip(str(error))
    (tmp_path / ".palace").mkdir()
    (tmp_path / ".palace" / "palace.yaml").write_text(
        "structure: spacy\nprofiles: {read: {extends: structured, weights: {noun_phrase: 1}}}\n"
    )
    (tmp_path / "hut.md").write_text("# Hut\n\nOur neighbour Anna Lopez repaired the tide gauge.\n")
    (tmp_path / "bread.md").write_text("# Bread\n\nKnead the dough for ten minutes.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="hashing", structure=True)
    assert "+spacy-" in palace.snapshot().commit.fingerprint
    [hit, *_] = palace.query("who repaired the tide gauge?", profile="read").hits
    found = {part.signal: part.value for part in hit.contributions}
    assert hit.path == "hut.md" and found["noun_phrase"] > 0 and found["logic"] > 0
    assert palace.doctor().findings == ()
