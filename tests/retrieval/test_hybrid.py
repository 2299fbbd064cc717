"""Dense and lexical evidence, standardised and added up."""

from dataclasses import replace
from functools import partial
from math import log1p
from random import Random

import numpy as np
import pytest

from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import BM25, K1, PASSAGE_B, PostingLookup
from memory_palace.language.words import PSEUDO_TEXTS
from memory_palace.models import ParsedQuery
from memory_palace.retrieval.evidence import gather, sharpen
from memory_palace.retrieval.signals import BESIDE, HYBRID, SPOKEN, Profile
from tests.searching import search

VECTOR = np.array([1, 0], np.float32)


def asked(text, vector=VECTOR):
    return ParsedQuery(text, 0.0, vector=vector)


def find(text, snapshot):
    return gather(asked(text), snapshot, signals=HYBRID, half_life_days=30)


def score_words(snapshot):
    return BM25(PostingLookup(snapshot, "words"))


def paths(found):
    return [hit.path for hit in found.hits]


def test_bm25_is_the_formula_it_names(build, passage):
    snapshot = build(
        [
            passage("palace/a.md", texts=["frost frost pump"]),
            passage("palace/b.md", texts=["pump"]),
            passage("palace/c.md", texts=["sun and rain and wind"]),
        ]
    )
    idf = log1p((3 + PSEUDO_TEXTS - 1 + 0.5) / (1 + 0.5))
    norm = K1 * (1 - PASSAGE_B + PASSAGE_B * 3 / 3)
    expected = idf * 2 * (K1 + 1) / (2 + norm)
    assert score_words(snapshot).passages(["frost"]).tolist() == pytest.approx([expected, 0, 0])


def test_a_note_is_scored_by_the_words_of_all_its_passages(build, passage):
    snapshot = build(
        [
            passage("palace/a.md", [0.1, 0.1], texts=["frost", "pump"]),
            passage("palace/b.md", [0.1, 0.1], texts=["frost", "sun"]),
            passage("palace/c.md", [0.1, 0.1], texts=["rain", "wind"]),
        ]
    )
    a, b, c = score_words(snapshot).notes(["frost", "pump"]).tolist()
    assert a > b > c == 0


def test_cold_notes_count_in_no_frequency(build, passage):
    notes = [passage("palace/a.md", texts=["frost"]), passage("palace/b.md", texts=["sun"])]
    alone = score_words(build(notes)).passages(["frost"])[0]
    cold = [passage(f"palace/archive_basement/{n}.md", texts=["frost " * 9]) for n in range(5)]
    together = score_words(build(notes, cold=cold)).passages(["frost"])
    assert together[0] == alone
    assert together[-1] > 0


def test_a_dead_row_is_found_by_nothing(build, passage):
    snapshot = build(
        [passage("palace/a.md", texts=["frost"]), passage("palace/b.md", texts=["sun"])],
        [passage("palace/a.md", texts=["rain"])],
    )
    assert not score_words(snapshot).passages(["frost"]).any()
    assert paths(search(asked("frost", None), snapshot, profile="hybrid")) == []


@pytest.mark.parametrize(
    ("signal", "lender", "vector", "cosines"),
    [
        ("beside_words", "lexical", None, [0.0, 0.0]),
        ("beside_meaning", "dense", VECTOR, [0.9, 0.0]),
    ],
)
def test_a_passage_borrows_from_those_beside_it_in_its_own_note(
    build, passage, signal, lender, vector, cosines
):
    snapshot = build(
        [
            passage("palace/a.md", cosines, texts=["frost on the pump", "it was mended"]),
            passage("palace/b.md", [0.0, 0.0], texts=["it was mended", "sun"]),
        ]
    )
    question = "frost pump" if vector is None else "cold water"
    found = search(asked(question, vector), snapshot, profile="hybrid", per_note=False, limit=9)
    values = {
        (hit.path, hit.chunk.first_line): {c.signal: c.value for c in hit.contributions}
        for hit in found.hits
    }
    first, second = values["palace/a.md", 1], values["palace/a.md", 11]
    assert first[signal] == 0 < first[lender]
    assert second[signal] == pytest.approx(BESIDE[1][0] * first[lender], rel=1e-4)
    assert {name for name in second if name.startswith("beside") and second[name]} == {signal}
    assert ("palace/b.md", 1) not in values


def measured(signal, snapshot, text):
    """What a signal says of each passage, by path and line."""
    query = asked(text, None)
    found = search(query, snapshot, profile=Profile("", {signal: 1.0}), per_note=False, limit=9)
    return {(hit.path, hit.chunk.first_line): hit.score for hit in found.hits}


def test_a_passage_covers_the_words_just_around_it_but_not_as_well_as_its_own(build, passage):
    texts = ["the ring", "where from?", "bought in Paris", "sun", "rain", "wind"]
    other = passage("palace/b.md", texts=["Paris ring"])
    found = measured(
        "covered", build([passage("palace/a.md", [0.0] * 6, texts=texts), other]), "ring Paris"
    )
    lines = [found.get(("palace/a.md", 1 + 10 * place), 0.0) for place in range(6)]
    assert found["palace/b.md", 1] == pytest.approx(1, abs=1e-3)
    assert found["palace/b.md", 1] > lines[2] > lines[3] > lines[4] > lines[5] == 0
    assert lines[1] > lines[0] > 0


def test_a_word_that_is_said_again_and_again_covers_no_more(build, passage):
    texts = ["pump pump pump", "the pump froze"]
    notes = [passage(f"palace/{n}.md", texts=[text]) for n, text in enumerate(texts)]
    found = measured("covered", build(notes), "pump froze")
    assert found["palace/0.md", 1] < 0.5 < found["palace/1.md", 1]


def test_an_answer_gets_what_the_question_before_it_found(build, passage):
    texts = ["since when is the pump here?", "for four years", "we like the pump", "so do I"]
    snapshot = build(
        [
            passage("palace/a.md", [0.0] * 4, texts=texts),
            passage("palace/b.md", texts=["whose pump?"]),
            passage("palace/c.md", texts=["no idea"]),
        ]
    )
    assert measured("replied", snapshot, "pump").keys() == {("palace/a.md", 11)}


def test_an_answer_does_not_pass_the_note_that_says_it(build, passage):
    texts = ["is the pump of the hut red?", "yes it is", "sun", "rain"]
    red = "a red hut by the lake, and the old pump that the keeper painted in spring"
    snapshot = build(
        [
            passage("palace/a.md", [0.0] * 4, texts=texts),
            *(passage(f"palace/{n}.md", texts=[t]) for n, t in enumerate([red, "a pump", "wind"])),
        ]
    )
    query, profile = asked("red pump of the hut", None), Profile("hybrid", HYBRID)
    found = search(query, snapshot, profile=profile, per_note=False, limit=9)
    assert [hit.chunk.preview for hit in found.hits[:3]] == [red, *texts[:2]]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("When did the pump freeze?", "the pump froze last Tuesday"),
        ("how long has the pump been here", "the pump is here since spring"),
        ("How many pumps?", "three of a pump"),
        ("Where is the pump?", None),
        ("whenever the pump", None),
    ],
)
def test_a_passage_with_the_kind_of_thing_that_is_asked_for_is_marked(
    build, passage, question, answer
):
    texts = ["the pump froze last Tuesday", "the pump is here since spring", "three of a pump"]
    others = ["the pump is red", "on Tuesday, one, since then"]
    notes = [passage(f"palace/{n}.md", texts=[text]) for n, text in enumerate(texts + others)]
    found = measured("asked_kind", build(notes), question)
    assert [texts[int(path[7])] for path, _ in found] == ([answer] if answer else [])


def test_fusion_adds_the_words_of_a_note_to_its_nearest_passage(build, passage):
    notes = [
        passage("palace/a.md", [0.9, 0.0], texts=["sun", "frost pump"]),
        passage("palace/b.md", [0.9, 0.0], texts=["sun", "frost"]),
        passage("palace/c.md", [0.0, 0.0], texts=["moon", "frost pump"]),
    ]
    profile = Profile("fusion", {"dense": 1.0, "note_lexical": 1.0})
    found = search(asked("frost pump", VECTOR), build(notes), profile=profile)
    best = found.hits[0]
    assert (best.path, best.chunk.first_line) == ("palace/a.md", 1)
    assert {part.signal: part.value > 0 for part in best.contributions} == {
        "dense": True,
        "note_lexical": True,
    }


def test_a_long_note_is_found_by_a_passage_and_does_not_stand_before_short_ones(build, passage):
    draw = Random(3)
    words = [f"{a}{b}" for a in ("ba", "co", "du", "fe", "gi", "ha") for b in map(str, range(60))]
    short = {f"palace/{n}.md": " ".join(draw.sample(words, 12)) for n in range(60)}
    long = [" ".join(draw.sample(words, 12)) for _ in range(200)]
    notes = [passage(path, texts=[text]) for path, text in short.items()]
    snapshot = build([*notes, passage("palace/long.md", [0.0] * 200, texts=long)])

    def first(text, profile="hybrid"):
        question = " ".join(draw.sample(text.split(), 5))
        return paths(search(asked(question, None), snapshot, profile=profile))[0]

    assert [first(text) for text in short.values()] == list(short)
    assert {first(text) for text in draw.sample(long, 40)} == {"palace/long.md"}
    assert [first(text, "bm25") for text in draw.sample(long, 40)].count("palace/long.md") < 20


def test_the_words_of_a_named_speaker_come_first(build, passage):
    texts = ["Anna: the pump froze", "Bert: the pump froze", "Cleo: nothing new here"]
    notes = [passage(f"palace/{n}.md", texts=[text]) for n, text in enumerate(texts)]
    found = search(asked("what did bert say of the pump"), build(notes), profile="hybrid")
    assert paths(found)[0] == "palace/1.md"


def test_did_i_say_and_did_you_say_ask_for_the_turns_of_a_chat(build, passage):
    notes = [passage(f"palace/{n}.md", texts=[f"{n}: the pump froze"]) for n in ("AI", "User")]
    said = partial(measured, "speaker", build(notes))
    assert said("can you tell me what I said of the pump").keys() == {("palace/User.md", 1)}
    assert said("What did you tell me of the user's pump?").keys() == {("palace/AI.md", 1)}
    assert not said("what does the user manual say of a pump")


def test_a_passage_that_only_asks_comes_after_one_that_states(build, passage):
    texts = ["when did the pump freeze?", "when did the pump freeze", "nothing of the kind"]
    notes = [passage(f"palace/{n}.md", texts=[text]) for n, text in enumerate(texts)]
    found = search(asked("when did the pump freeze"), build(notes), profile="hybrid")
    assert paths(found)[:2] == ["palace/1.md", "palace/0.md"]


def test_where_nothing_is_found_no_prior_makes_a_hit(build, passage):
    notes = [passage(f"palace/{n}.md", [0.0], texts=["sun"]) for n in range(3)]
    assert search(asked("frost", None), build(notes), profile="hybrid").hits == []


def test_an_exact_cosine_does_not_depend_on_where_its_row_stands(build, passage):
    notes = [passage(f"palace/{n}.md", [0.01 * n]) for n in range(40)]
    for groups in ([notes], [notes[::2], notes[1::2]]):
        snapshot = build(*groups)
        exact = sharpen(find("x", snapshot), snapshot.row_note).meaning.cosines
        by_path = {snapshot.paths[n]: c for n, c in zip(snapshot.row_note, exact, strict=True)}
        assert by_path["palace/7.md"] == np.float32(0.07)


def test_what_a_hit_shows_does_not_depend_on_the_last_bits_of_a_quick_product(
    build, passage, monkeypatch
):
    """A product in single precision differs by the place of a row; answers must not."""
    snapshot = build([passage(f"palace/{n}.md", [0.5 + 1e-6 * (n % 3)]) for n in range(40)])
    calm = search(asked("passage"), snapshot, profile="raw", limit=9).hits
    quick = Snapshot.similarities
    noise = np.random.default_rng(1).uniform(-3e-6, 3e-6, len(snapshot.row_note))
    monkeypatch.setattr(
        Snapshot,
        "similarities",
        lambda self, *given, **named: quick(self, *given, **named) + noise.astype(np.float32),
    )
    noisy = search(asked("passage"), snapshot, profile="raw", limit=9).hits
    assert [(h.path, h.score) for h in noisy] == [(h.path, h.score) for h in calm]


@pytest.mark.parametrize("count", [*range(2, 12), 60])
def test_a_word_that_every_note_has_finds_them_all(build, passage, count):
    """Where the others outnumber the prior, a note of few of the words is below the mean."""
    texts = [f"meeting {'meeting ' * (n % 5)} {'pad ' * n}" for n in range(count)]
    snapshot = build([passage(f"palace/{n:02d}.md", texts=[text]) for n, text in enumerate(texts)])
    for profile in (Profile("bm25", {"lexical": 1.0}), Profile("hybrid", HYBRID)):
        found = search(asked("meeting", None), snapshot, profile=profile, limit=count)
        assert len(found.hits) == count


def test_a_stop_word_says_less_than_another_though_there_are_two_notes(build, passage):
    snapshot = build(
        [
            passage("palace/a.md", texts=["what the miller ground and when and why and how"]),
            passage("palace/b.md", texts=["frost on a field"]),
        ]
    )
    profile = Profile("bm25-passages", {"lexical": 1.0})
    found = search(asked("when frost", None), snapshot, profile=profile)
    assert paths(found)[0] == "palace/b.md"


def test_an_unrelated_only_note_is_not_found_by_meaning(build, passage):
    """Chance is what the embedder makes of unrelated texts, not what a palace of one note has."""
    null = {"null_mean": 0.4, "null_std": 0.05}
    far = build([passage("palace/a.md", [0.38], texts=["frost"])], calibration=null)
    near = build([passage("palace/a.md", [0.6], texts=["frost"])], calibration=null)
    assert paths(search(asked("ice"), far, profile="hybrid")) == []
    assert paths(search(asked("ice"), near, profile="hybrid")) == ["palace/a.md"]


def test_words_of_another_language_than_the_notes_count_little(build, passage):
    """A name or number that both have stands out by chance, because nothing else is found."""
    names = [f"palace/{n:03d}.md" for n in range(400)]
    texts = [f"der Turm steht am Ufer und der Wind weht {n}" for n in range(400)]
    texts[7] = "der Turm heisst Obsidian und das Tor ist zu"
    notes = [passage(name, [0.1], texts=[text]) for name, text in zip(names, texts, strict=True)]
    notes[3] = passage(names[3], [0.2], texts=[texts[3]])
    snapshot = build(notes)
    question = asked("how does one open the gate of that Obsidian tower")
    foreign = search(question, snapshot, profile="hybrid")
    own = search(asked("wie heisst der Turm am Ufer, Obsidian"), snapshot, profile="hybrid")
    assert paths(foreign)[0] == names[3]
    assert paths(own)[0] == names[7]
    listed = search(asked("Obsidian Tor"), snapshot, profile="hybrid")
    assert paths(listed)[0] == names[7]
    for unread in (replace(question, vector=None), replace(question, vote=0.0)):
        assert paths(search(unread, snapshot, profile="hybrid"))[0] == names[7]
    sharing = (replace(question, vote=vote) for vote in (1.0, 0.5))
    whole, half = (
        gather(query, snapshot, signals=HYBRID, half_life_days=30).meaning.above
        for query in sharing
    )
    assert (half == whole / 2).all() and half.any()


def test_in_a_small_palace_missing_words_say_nothing_of_the_language(build, passage):
    texts = ["frost on the pipe", "sun", "wind"]
    snapshot = build([passage(f"palace/{n}.md", [0.1], texts=[t]) for n, t in enumerate(texts)])
    question = "why did nobody insulate that frost endangered gutter"
    assert find(question, snapshot).words.bearing > 0.8


def test_one_labelled_line_of_a_long_page_is_nobody_who_speaks(build, passage):
    page = ["obsidian: the app", *(f"about matter {n}" for n in range(19))]
    talk = ["obsidian: good morning", "anna: is it", "obsidian: it is", "anna: so it is"]
    pages = passage("palace/a.md", [0.1] * 20, texts=page)
    snapshot = build([pages, passage("palace/b.md", [0.1] * 4, texts=talk)])
    profile = Profile("speaking", {"speaker": 1.0})
    hits = search(asked("what of Obsidian", None), snapshot, profile=profile, limit=2).hits
    spoken = {hit.path: hit.contributions[0].value for hit in hits}
    assert spoken["palace/b.md"] == 1
    assert spoken["palace/a.md"] == pytest.approx(1 / 20 / SPOKEN)


def test_a_note_is_as_near_as_its_best_three_passages(build, passage):
    """What else a long page is about does not take it farther off."""
    short = passage("palace/a.md", [0.5, 0.5, 0.5], texts=["one", "two", "three"])
    far = [0.0] * 9
    long = passage("palace/b.md", [0.6, 0.6, 0.6, *far], texts=[f"{n}" for n in range(12)])
    snapshot = build([short, long])
    above = find("x", snapshot).meaning
    near, nearer = above.notes.tolist()
    assert nearer > near > 0
    assert nearer == pytest.approx(above.above[3:6].mean(), rel=1e-5)
