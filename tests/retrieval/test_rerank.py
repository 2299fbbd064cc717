import json
import math
from pathlib import Path

import pytest
from fake_cross_encoder import install, write_model

from memory_palace.errors import MissingPartError, UsageError
from memory_palace.palace import Palace
from memory_palace.retrieval.reranking import RERANKED, WEIGHT, choose_label, open_cross_encoder
from tests.running import run_main

QUESTION = "where is the brass key of the boathouse"
LITTLE = "where is the of key"
NOTES = 70


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    """Return seventy notes that tell ever less of the question; one has its little words too."""
    palace = Palace.init(tmp_path_factory.mktemp("palace"), here=True)
    for number in range(NOTES):
        told = ["brass", "key", "boathouse"][: 1 + (NOTES - number) * 3 // NOTES]
        text = " ".join(told * (1 + (NOTES - number) // 3)) + f" entry{number}"
        if number == 34:
            text += ", where the door is, of all things"
        (palace.paths.root / f"note{number:02}.md").write_text(f"# N{number:02}\n\n{text}.\n")
    palace.index(embedder="hashing")
    return palace


@pytest.fixture
def model(tmp_path, monkeypatch):
    """Return a model that knows those little words, and one that many notes have."""
    install(monkeypatch)
    return write_model(tmp_path / "overlap", LITTLE)


def names(result):
    return [hit.title for hit in result]


def value_of(hit):
    return next(part.value for part in hit.contributions if part.signal == "rerank")


def test_a_note_that_the_model_prefers_comes_first_from_below_the_limit(palace, model):
    plain = names(palace.query(QUESTION, limit=NOTES, neighbors=0))
    assert 20 < plain.index("N34") < RERANKED
    for options in ({}, {"per_note": False}, {"lexical": True}):
        again = palace.query(QUESTION, rerank=model, limit=3, neighbors=0, **options)
        assert again[0].title == "N34" and len(again) == 3


def test_only_the_best_fifty_are_looked_at_unless_more_are_asked_for(palace, model):
    plain = names(palace.query(QUESTION, limit=NOTES, neighbors=0))
    assert len(plain) > RERANKED + 5
    few = palace.query(QUESTION, rerank=model, limit=RERANKED, neighbors=0)
    assert sorted(names(few)) == sorted(plain[:RERANKED])
    every = palace.query(QUESTION, rerank=model, limit=NOTES, neighbors=0)
    assert sorted(names(every)) == sorted(plain)
    assert all(hit.contributions[-1].signal == "rerank" for hit in every)


@pytest.mark.parametrize("profile", ["hybrid", "compound", "raw", "bm25", "structured"])
def test_the_order_is_the_models_and_parts_add_up(palace, model, profile):
    if profile == "structured":
        palace.index(structure=True)
    result = palace.query(QUESTION, rerank=model, limit=20, profile=profile, neighbors=2)
    core = [hit for hit in result if hit.role == "core"]
    values = [value_of(hit) for hit in core]
    assert values == sorted(values, reverse=True) and len(set(values)) > 1
    scores = [hit.score for hit in core]
    assert scores == sorted(scores, reverse=True)
    for hit in core:
        assert math.isclose(
            hit.score, sum(part.contribution for part in hit.contributions), abs_tol=1e-6
        )
        (own,) = (part for part in hit.contributions if part.signal == "rerank")
        assert own.weight == WEIGHT and own.contribution == own.value * WEIGHT


def test_what_the_model_finds_equal_stays_in_order(palace, model, tmp_path):
    blind = write_model(tmp_path / "blind", "nothing")
    plain = names(palace.query(QUESTION, limit=10, neighbors=0))
    assert names(palace.query(QUESTION, rerank=blind, limit=10, neighbors=0)) == plain


def test_two_labels_give_the_odds_of_the_one_that_is_called_relevant(palace, model, tmp_path):
    two = write_model(tmp_path / "two", LITTLE, "irrelevant relevant")
    one = palace.query(QUESTION, rerank=model, limit=9, neighbors=0)
    both = palace.query(QUESTION, rerank=two, limit=9, neighbors=0)
    assert [(h.title, value_of(h)) for h in one] == [(h.title, value_of(h)) for h in both]


@pytest.mark.parametrize(
    "labels",
    [("LABEL_0", "LABEL_1"), ("entailment", "neutral", "contradiction"), ("true", "relevant")],
)
def test_a_model_whose_labels_say_nothing_of_relevance_is_refused(labels):
    with pytest.raises(MissingPartError, match=f"it has {len(labels)} labels"):
        choose_label(labels, "m")


def test_a_listing_has_nothing_to_rerank_by(palace, model):
    with pytest.raises(UsageError, match="no question"):
        palace.query("", rerank=model, since="2000-01-01")


def test_a_query_that_finds_nothing_is_no_error(palace, model):
    assert not palace.query("brass", rerank=model, until="1990-01-01")


def test_a_model_is_kept_while_its_files_stay(model):
    first = open_cross_encoder(model)
    assert open_cross_encoder(model) is first
    (Path(model) / "words.txt").write_text("key\nrelevance\n")
    again = open_cross_encoder(model)
    assert again is not first and again.labels == ("relevance",)


@pytest.fixture
def ask(palace, capsys):
    def run(*options):
        given = ("--root", str(palace.paths.root), "query", QUESTION, *options)
        status, out, err = run_main(capsys, *given)
        return int(status), out, err

    return run


def test_the_command_shows_the_part_of_the_model(ask, model):
    status, out, _ = ask("--rerank", model, "--details", "--min-confidence", "0")
    assert status == 0
    first = out.split("\n\n")[0]
    assert "N34" in first and "rerank " in first and " x 1000000.000000 = " in first
    shown = json.loads(ask("--rerank", model, "--json", "--details")[1])
    assert shown["hits"][0]["parts"][-1]["signal"] == "rerank"


@pytest.mark.parametrize(
    ("name", "said", "expected"),
    [
        ("ms-marco-minilm", "run `palace models fetch ms-marco-minilm`", 9),
        ("nobody/nothing", "run `palace models fetch nobody/nothing`", 9),
        ("", "there is no folder ''", 2),
        ("~nobody-at-all/x", "there is no folder", 2),
        ("x" * 5000, "there is no folder", 2),
        ("a\0b", "there is no folder", 2),
    ],
)
def test_a_model_that_is_not_here_is_one_line_with_the_next_command(
    ask, tmp_path, monkeypatch, name, said, expected
):
    monkeypatch.setenv("PALACE_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    status, out, err = ask("--rerank", name)
    assert (status, out) == (expected, "")
    assert said in err and err.count("\n") == 1 and err.startswith("palace: ")


def test_a_damaged_model_is_one_line(ask, model):
    (Path(model) / "words.txt").unlink()
    status, out, err = ask("--rerank", model)
    assert (status, out, err.count("\n")) == (9, "", 1)
    assert model in err


def test_without_the_extra_one_line_names_it(ask, tmp_path, monkeypatch):
    monkeypatch.setattr("memory_palace.embedding.st_models.find_spec", lambda name: None)
    status, out, err = ask("--rerank", str(tmp_path))
    assert (status, out, err.count("\n")) == (9, "", 1)
    assert "sentence-transformers" in err and "[st]" in err
