"""How sure an answer is: what raises it, what does not, and what is said below the threshold."""

import math
import random
import re
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from memory_palace import Palace
from memory_palace.embedding import registry
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.index.words import LEAST_DEVIATION
from memory_palace.language.words import STOPWORDS
from memory_palace.models import PERHAPS
from memory_palace.retrieval.search import ANSWERED, LITERAL, NAMED, Grounds, agree, weigh

SAMPLE = Path(__file__).parents[2] / "palace"
NOTES = {
    "Broker": "We dropped the broker because it lost its sessions after a power cut.",
    "Gauge": "The tipping bucket loses eleven per cent of the rain in a heavy shower.",
    "Frost": "Growers are woken when blossom is in danger below one degree.",
    "Keys": "The spare keys hang behind the clock in the kitchen of the hut.",
}


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    for title, text in NOTES.items():
        note = f"---\ntitle: {title}\ndate: 2026-03-14\n---\n{text}\n"
        (palace.paths.notes / "chambers" / f"{title.lower()} note.md").write_text(note, "utf-8")
    palace.index(embedder="hashing")
    return palace


def grounds(
    meaning: float | None = 0.0,
    words: float = 0.0,
    *,
    is_literal: bool = False,
    is_named: bool = False,
) -> Grounds:
    return Grounds(meaning, words, is_literal, is_named)


@pytest.mark.parametrize("meaning", [None, -3.0, 0.0, 3.0])
def test_more_words_make_a_note_surer(meaning):
    found = [weigh(grounds(meaning, share / 10)) for share in range(11)]
    assert found == sorted(found) and found[0] < found[-1]
    assert all(0 <= one <= 1 for one in found)


def test_nearer_passages_make_a_note_surer_up_to_a_bound():
    found = [weigh(grounds(above, 0.3)) for above in (-100.0, -1.0, 0.0, 1.0, 3.0)]
    assert found == sorted(set(found))
    assert weigh(grounds(9.0)) == weigh(grounds(100.0))


def test_what_is_asked_to_the_letter_is_sure_whatever_it_means():
    assert weigh(grounds(-8.0)) < 0.01
    assert weigh(grounds(-8.0, is_literal=True)) == LITERAL >= ANSWERED
    assert weigh(grounds(-8.0, is_named=True)) == NAMED > LITERAL


def log_odds(sure: float) -> float:
    return math.log(sure / (1 - sure))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([0.9, 0.5, 0.1], [0.9, 0.5, 0.1]),
        ([0.2, 0.8], [0.5, 0.5]),
        ([0.9, 0.2, 0.8, 0.1], [0.9, 0.5, 0.5, 0.1]),
        ([0.1, 0.5, 0.9, 0.95], None),
        ([0.0, 1.0, 0.3], None),
        ([], []),
    ],
)
def test_the_numbers_fall_with_the_rank_and_keep_the_mean_of_their_log_odds(palace, given, shown):
    hit = palace.query("the broker")[0]
    found = [h.confidence for h in agree([replace(hit, confidence=sure) for sure in given])]
    assert found == sorted(found, reverse=True)
    if shown is not None:
        assert found == pytest.approx(shown, abs=1e-3)
    elif all(0 < sure < 1 for sure in given):
        assert sum(map(log_odds, found)) == pytest.approx(sum(map(log_odds, given)), abs=1e-2)


def test_behind_a_sure_hit_what_is_not_worth_reading_is_left_out(palace):
    found = palace.query("Why was the broker dropped after a power cut?")
    assert found.is_answered and len(found) > 1
    hits = [replace(h, confidence=c) for h, c in zip(found, (0.9, PERHAPS, 0.05), strict=False)]
    read = replace(found, hits=tuple(hits)).worth_reading()
    assert [hit.confidence for hit in read] == [0.9, PERHAPS]
    low = [replace(hit, confidence=0.01) for hit in found]
    unsure = replace(found, hits=tuple(low), is_answered=False)
    assert len(unsure.worth_reading()) == 1 and not unsure.may_answer
    assert replace(unsure, hits=(hits[1],)).may_answer


@pytest.mark.parametrize("lexical", [False, True])
def test_a_question_that_a_note_answers_is_answered_and_nonsense_is_not(palace, lexical):
    result = palace.query("Why was the broker dropped after a power cut?", lexical=lexical)
    assert result.is_answered and result[0].title == "Broker"
    assert result.confidence == max(hit.confidence for hit in result)
    for question in ("xyzzy plugh", "Who won the world cup in 1998?"):
        found = palace.query(question, lexical=lexical)
        assert not found.is_answered and found.confidence < 0.5


def test_words_of_a_note_wherever_they_stand_in_it_answer(palace):
    note = palace.paths.notes / "chambers" / "long.md"
    parts = ["# Long\n", "## One\n\nzebra\n", "## Two\n\nquince\n"]
    note.write_text("\n".join(part + "filler text about nothing. " * 60 for part in parts), "utf-8")
    palace.index()
    result = palace.query("quince zebra", lexical=True)
    assert result.is_answered and result[0].confidence >= LITERAL
    assert not palace.query("what does a quince have to do with a bucket", lexical=True).is_answered


@pytest.mark.parametrize(
    ("question", "is_answered"),
    [
        ("others mostly", True),  # their stems are those of "other" and "most"
        ("you'd they’ll", True),
        ("AjwIZI", True),  # joined to more in the note
        ("AjwIZI NLgZT", True),
        ("must kelp", True),  # other lists of stop words lack some of ours
        ("you must kelp dry", True),
        ("you could must kelp dry", False),  # most of it only grammar needs
        ("AjwIZI NLgXY", False),
        ("others mostly zebra", False),
    ],
)
@pytest.mark.parametrize("lexical", [False, True])
def test_every_word_of_a_list_counts_as_it_is_written(palace, question, is_answered, lexical):
    note = palace.paths.notes / "chambers" / "list.md"
    texts = "Others are mostly dry. You could.|You'd, they'll.|See ?v=x-AjwIZI_NLgZT.|Kelp must go."
    filler = [f"## {text}\n\n" + "nothing to say here. " * 60 for text in texts.split("|")]
    note.write_text("\n\n".join(filler), "utf-8")
    palace.index()
    result = palace.query(question, lexical=lexical)
    assert (result.confidence >= LITERAL) is is_answered


@pytest.mark.parametrize("name", ["Broker", "broker note", "BROKER"])
def test_the_name_of_a_note_is_sure(palace, name):
    assert palace.query(name)[0].confidence >= NAMED


def test_the_day_that_a_note_is_from_counts_as_its_words(palace):
    question = "Which rain was lost in the bucket on 14 March 2026?"
    dated = palace.query(question, lexical=True)[0].confidence
    note = palace.paths.notes / "chambers" / "gauge note.md"
    note.write_text(note.read_text("utf-8").replace("date: 2026-03-14\n", ""), "utf-8")
    palace.index()
    assert palace.query(question, lexical=True)[0].confidence < dated


def test_quoted_words_that_stand_nowhere_answer_nothing_and_the_nearest_is_shown(palace):
    """Before, the words of a quote that no note holds were as sure as the quote itself."""
    said = palace.query('the broker "lost its sessions after a power cut"')
    asked = palace.query('the broker "lost the sessions after a power cut"')
    assert said.is_answered and not asked.is_answered
    assert asked.unmatched_quotes and asked[0].title == said[0].title == "Broker"
    assert not palace.query('"lost its sessions" "of a green whale"').is_answered


def test_a_listing_has_no_confidence(palace):
    result = palace.query(room="chambers")
    assert result.confidence is None and result.is_answered
    assert {hit.confidence for hit in result} == {None}
    assert not palace.query(room="chambers", type="task").is_answered


def test_hits_below_what_is_demanded_are_left_out_but_for_the_nearest(palace):
    question = "Why was the broker dropped after a power cut in the kitchen?"
    everything = palace.query(question, min_confidence=0.0)
    sure = palace.query(question, min_confidence=0.5)
    assert [h.path for h in sure] == [h.path for h in everything if h.confidence >= 0.5]
    assert 0 < len(sure) < len(everything)
    nothing = palace.query("xyzzy of the kitchen", min_confidence=0.99)
    assert len(nothing) == 1 and not nothing.is_answered
    assert palace.query("xyzzy of the kitchen", min_confidence=0.0).is_answered


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10])
def test_in_a_small_palace_its_own_words_are_answered(tmp_path, size):
    pick = random.Random(size)
    files = sorted(p for p in SAMPLE.rglob("*.md") if "archive_basement" not in p.parts)
    palace = Palace.init(tmp_path)
    for file in pick.sample(files, size):
        (palace.paths.notes / "chambers" / file.name).write_bytes(file.read_bytes())
    palace.index(embedder="hashing")
    words = {
        path: re.findall(r"[^\W\d_]{3,}", "\n".join(c.text for c in chunks).casefold())
        for path, chunks in _chunks(palace).items()
    }
    for path, own in words.items():
        others = {word for other in words if other != path for word in words[other]}
        rare = [word for word in own if word not in others and word not in STOPWORDS]
        usual = [word for word in own if word not in STOPWORDS]
        for _ in range(5):
            asked = [pick.choice(rare), *pick.sample(usual, min(pick.randrange(5), len(usual)))]
            for lexical in (False, True):
                result = palace.query(" ".join(asked), limit=10, lexical=lexical, neighbors=0)
                sure = [hit.path for hit in result if hit.confidence >= ANSWERED]
                assert path in sure, asked


def _chunks(palace):
    from memory_palace.notes.parsing import parse_note

    return {
        note.path: parse_note(
            note.path,
            (palace.paths.root / note.path).read_bytes(),
            count_tokens=lambda text: len(text.split()),
            token_limit=200,
        ).chunks
        for note in palace.notes()
    }


def test_a_word_that_every_note_has_lists_them_all_as_answers(tmp_path):
    palace = Palace.init(tmp_path)
    for number, subject in enumerate("roof rain keys frost bread".split()):
        path = palace.paths.notes / "chambers" / f"{number}.md"
        path.write_text(f"Weekly meeting about {subject}.\n", "utf-8")
    palace.index(embedder="hashing")
    for lexical in (False, True):
        result = palace.query("meeting", lexical=lexical, limit=10)
        assert len(result) == 5 and all(hit.confidence >= ANSWERED for hit in result)


def test_a_sentence_of_another_language_is_no_list_of_words(tmp_path):
    """Its words have to stand in one passage, as those of an English sentence have."""
    palace = Palace.init(tmp_path)
    filler = " ".join(f"слово{n} дело{n}" for n in range(150))
    parts = [f"Каждый датчик чистят.\n\n{filler}", f"Чистят весной.\n\n{filler}", "Стоит школа."]
    text = "\n\n".join(f"# Часть {n}\n\n{part}" for n, part in enumerate(parts))
    (palace.paths.notes / "chambers" / "a.md").write_text(text, "utf-8")
    for number in range(9):
        other = f"Иное и совсем другое, номер {number}.\n"
        (palace.paths.notes / "chambers" / f"{number}.md").write_text(other, "utf-8")
    palace.index(embedder="hashing")
    spread = palace.query("где стоит каждый датчик весной")
    inside = palace.query("каждый датчик чистят")
    assert (spread.confidence or 0) < (inside.confidence or 0)


class NarrowEmbedder(HashingEmbedder):
    """All its vectors have a direction in common, as e5's: a question has more or less of it."""

    name, dimension, fingerprint = "narrow", HashingEmbedder.dimension + 1, "narrow:1"

    def embed_queries(self, texts):
        shares = [0.87 + 0.1 * (sha256(text.encode()).digest()[0] / 255) for text in texts]
        return self._lean(HashingEmbedder().embed_queries(texts), np.array(shares, np.float32))

    def embed_passages(self, texts):
        return self._lean(
            HashingEmbedder().embed_passages(texts), np.full(len(texts), 0.93, np.float32)
        )

    def _lean(self, vectors, shares):
        own = vectors * np.sqrt(1 - shares**2)[:, None]
        return np.concatenate([shares[:, None], own], axis=1)


@pytest.fixture
def narrow(tmp_path, monkeypatch):
    module = ModuleType("memory_palace.embedding.narrow")
    module.load = lambda model, environ: NarrowEmbedder()
    module.is_available = lambda environ: True
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.EMBEDDERS, "narrow", ("narrow", "narrow alone"))
    palace = Palace.init(tmp_path)
    for title, text in NOTES.items():
        (palace.paths.notes / "chambers" / f"{title}.md").write_text(text + "\n", "utf-8")
    palace.index(embedder="narrow")
    return palace


def test_what_raises_all_cosines_of_a_question_makes_it_no_surer(narrow):
    """Before, the same words were answered or not by how high a question's cosines all are."""
    chance = narrow.snapshot().commit.calibration
    assert chance["best_shared"] > 0.6
    assert chance["best_deviation"] < LEAST_DEVIATION  # differences between cosines are as small
    for text in NOTES.values():
        part = " ".join(text.split()[:5])
        asked = [f"{part} {end}?" for end in "zaz zbz zcz zdz zez zfz zgz zhz ziz zjz".split()]
        found = [narrow.query(question).confidence for question in asked]
        assert max(found) - min(found) < 0.2, found
    for question in ("xyzzy plugh", "Who won the world cup in 1998?", "tell me of another planet"):
        assert not narrow.query(question).is_answered


def test_where_unrelated_texts_have_no_cosine_nothing_is_taken_off(palace):
    assert not any("shared" in name for name in palace.snapshot().commit.calibration)


@pytest.mark.parametrize("name", ["palace", "narrow"])
def test_a_confidence_does_not_depend_on_how_the_index_grew(request, name):
    palace = request.getfixturevalue(name)
    for number in range(6):
        path = palace.paths.notes / "chambers" / f"more {number}.md"
        path.write_text(f"Note {number} on rain, buckets and {number} keys.\n", "utf-8")
        palace.index()
    grown, figures = palace.query("How much rain does the bucket lose?"), chance_of(palace)
    palace.index(force=True)
    assert chance_of(palace) == figures
    found = palace.query("How much rain does the bucket lose?")
    assert {h.path: h.confidence for h in found} == {h.path: h.confidence for h in grown}


def chance_of(palace):
    return palace.snapshot().commit.calibration
