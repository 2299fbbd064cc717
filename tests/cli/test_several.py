"""``palace query --palaces``: several palaces, one answer."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from referencing import Registry, Resource
from running import run_main

from memory_palace.models import Hit, NoteDate, NoteRecord, QueryResult
from memory_palace.palace import Palace
from memory_palace.places import read_place
from memory_palace.retrieval.merging import merge_results

SCHEMAS = Path(__file__).parents[2] / "references" / "schemas"
NOTES = {
    "work": {
        "roof.md": "# Roof\n\nThe roof of the hut leaks above the stove. See [[roofer]].\n",
        "roofer.md": "---\ntags: [craft]\n---\n# Roofer\n\nThe roofer comes on Monday.\n",
        "rain.md": "# Rain\n\nIt rained for a week on the whole valley, and nobody went out.\n",
    },
    "home": {
        "stove.md": "# Stove\n\nThe stove smokes when the wind is from the east.\n",
        "bread.md": "# Bread\n\nFold the dough four times, and bake it in the stove for an hour.\n",
        "roof.md": "# Roof\n\nThe roof of the hut leaks above the stove. See [[roofer]].\n",
    },
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("several")
    for name, notes in NOTES.items():
        rooms = root / name / "palace" / "chambers"
        rooms.mkdir(parents=True)
        for file, text in notes.items():
            (rooms / file).write_text(text)
        Palace(root / name).index(embedder="hashing")
    (root / "bare" / "palace").mkdir(parents=True)
    (root / "elsewhere").mkdir()
    return root


@pytest.fixture
def ask(folders, monkeypatch, capsys):
    """Run a query outside of all palaces, where `work`, `home` and `bare` are registered."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folders / "config"))
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    monkeypatch.chdir(folders / "elsewhere")
    for name in ("work", "home", "bare"):
        run_main(capsys, "register", name, str(folders / name))
    return lambda *words: run_main(capsys, "query", *words)


def test_the_hits_of_all_palaces_stand_in_the_order_of_their_confidence(ask):
    status, out, _ = ask("smokes in the east", "--palaces", "work,home", "--json")
    hits = json.loads(out)["hits"]
    assert status == 0
    assert (hits[0]["palace"], hits[0]["title"]) == ("home", "Stove")
    assert {hit["palace"] for hit in hits} == {"work", "home"}
    assert all(one["confidence"] >= other["confidence"] for one, other in pairwise(hits))


def test_each_palace_alone_is_asked_as_without_the_option(ask, folders):
    line = ("roof stove", "--json", "--details", "--min-confidence", "0")
    several = json.loads(ask(*line, "--palaces", "home")[1])["hits"]
    alone = json.loads(ask(*line, "-C", str(folders / "home"))[1])["hits"]
    assert [hit.pop("palace") for hit in several] == ["home"] * len(several)
    assert several == alone


@pytest.mark.parametrize("form", ["text", "tsv", "markdown"])
def test_people_read_which_palace_a_hit_is_of_and_can_open_it(ask, folders, form):
    line = ("smokes east wind", "--palaces", "work,home", "--format", form)
    out = ask(*line)[1]
    assert "home: Stove" in out
    assert f"{folders / 'home' / 'palace' / 'chambers' / 'stove.md'}" in out


def test_one_object_a_line_says_its_palace(ask):
    out = ask("roof stove", "--palaces", "work,home", "--format", "jsonl")[1]
    assert {json.loads(line)["palace"] for line in out.splitlines()} == {"work", "home"}


def test_a_passage_that_both_palaces_hold_is_one_hit(ask):
    out = ask("roof of the hut leaks", "--palaces", "work,home", "--json", "--details")[1]
    first = json.loads(out)["hits"][0]
    assert (first["title"], first["same_passage"]) == ("Roof", 1)
    assert [hit["title"] for hit in json.loads(out)["hits"]].count("Roof") == 1


def test_a_palace_that_cannot_answer_is_one_line_and_the_others_answer(ask):
    status, out, err = ask("smokes in the east", "--palaces", "bare,home")
    assert status == 4
    assert "home: Stove" in out
    assert [line for line in err.splitlines() if line.startswith("bare: there is no index")]


def test_the_schema_has_what_is_said_of_each_palace(ask):
    documents = [json.loads(path.read_text("utf-8")) for path in SCHEMAS.glob("*.json")]
    resources = [
        (path.name, Resource.from_contents(document))
        for path, document in zip(SCHEMAS.glob("*.json"), documents, strict=True)
    ]
    schema = json.loads((SCHEMAS / "query.json").read_text("utf-8"))
    check = jsonschema.Draft202012Validator(schema, registry=Registry().with_resources(resources))
    for more in ([], ["--details"]):
        status, out, _ = ask("stove", "--palaces", "bare,home", "--json", *more)
        check.validate(record := json.loads(out))
        assert status == 4
        assert [each["palace"] for each in record["palaces"]] == ["home", "bare"]
        assert record["palaces"][1]["error"]["exit_code"] == 4


def test_where_no_palace_answers_the_first_failure_is_the_status(ask):
    status, out, err = ask("stove", "--palaces", "bare,nowhere")
    assert (status, out) == (4, "")
    assert "bare: there is no index" in err and "nowhere: 'nowhere' is neither" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--palaces", "work,home", "--since", "nonsense"], "nonsense"),
        (["--palaces", "work,,home"], "commas"),
        (["--palaces", "work,work"], "twice"),
    ],
)
def test_what_cannot_be_used_is_said_once(ask, words, said):
    status, out, err = ask("stove", *words)
    assert (status, out) == (2, "")
    assert err.count(said) == 1 and len(err.splitlines()) == 1


def test_a_filter_holds_in_each_palace(ask):
    status, out, err = ask("roof", "--palaces", "work,home", "--tag", "craft", "--json")
    assert status == 0 and "home: " in err  # it has no such tag
    assert [hit["title"] for hit in json.loads(out)["hits"]] == ["Roofer"]


@pytest.mark.parametrize("budget", [1, 40, 90, 400])
@pytest.mark.parametrize("full", [[], ["--full"]])
def test_a_budget_bounds_the_text_of_all_palaces(ask, budget, full):
    line = ("roof stove", "--palaces", "work,home", "--json", "--budget", str(budget), *full)
    hits = json.loads(ask(*line)[1])["hits"]
    assert 0 < sum(len(hit["text"].encode()) for hit in hits) <= budget


def test_a_hit_opens_in_its_own_palace(ask, folders, monkeypatch):
    script = folders / "editor.sh"
    script.write_text(f'#!/bin/sh\necho "$@" > {folders}/opened\n')
    script.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(script))
    status, *_ = ask("smokes in the east", "--palaces", "work,home", "--open", "1")
    assert status == 0
    assert str(folders / "home") in (folders / "opened").read_text()


def test_quoted_words_silence_the_palaces_that_do_not_hold_them(ask):
    hits = json.loads(ask('"rained for a week"', "--palaces", "work,home", "--json")[1])["hits"]
    assert {hit["palace"] for hit in hits} == {"work"}
    _, _, err = ask('"snowed for a week"', "--palaces", "work,home")
    assert err.count('no note holds "snowed for a week"') == 1


def test_several_palaces_are_asked_where_the_line_was_typed():
    assert read_place(["query", "roof", "--palaces", "a,b"]) is None
    assert read_place(["query", "roof", "--palaces=a,b"]) is None
    assert read_place(["query", "roof"]) == ""


def make_hit(number, confidence, role):
    name = f"{number}.md"
    record = NoteRecord(
        name, name, "note", None, (), (), (), (), NoteDate(0.0, "mtime"), False, False, ()
    )
    return Hit(name, name, 1.0, (), None, "", record, role=role, confidence=confidence)


@st.composite
def results(draw):
    found = {}
    for name in draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True)):
        sure = sorted(draw(st.lists(st.floats(0, 1), max_size=6)), reverse=True)
        hits = []
        for number, confidence in enumerate(sure):
            hits.append(make_hit(f"{number}", confidence, "core"))
            hits += [make_hit(f"{number}n", 0.0, "neighbor")] * draw(st.integers(0, 2))
        found[name] = QueryResult("?", "compound", "vector", "hashing", tuple(hits))
    return found


@given(results(), st.integers(1, 8))
def test_merging_keeps_each_palaces_order_and_leaves_out_only_what_is_less_sure(found, limit):
    merged = merge_results(found, limit=limit)
    core = [hit for hit in merged if hit.role == "core"]
    assert len(core) == min(limit, sum(h.role == "core" for r in found.values() for h in r))
    for name, result in found.items():
        own = [hit.path for hit in merged if hit.palace == name]
        assert own == [hit.path for hit in result][: len(own)]
        left = [hit.confidence for hit in result.hits[len(own) :] if hit.role == "core"]
        least = min((reach(found, hit) for hit in core), default=1.0)
        assert max(left, default=0.0) <= least


def reach(found, hit):
    """Return the highest confidence of a hit of an answer and of those below it."""
    own = list(found[hit.palace])
    places = [place for place, other in enumerate(own) if other.path == hit.path]
    return max(other.confidence for other in own[places[0] :] if other.role == "core")


@given(results())
def test_the_surest_hit_of_all_is_above_every_less_sure_palace(found):
    merged = merge_results(found, limit=99)
    surest = max((hit.confidence for r in found.values() for hit in r), default=None)
    if merged.hits:
        own = found[merged[0].palace]
        assert max(hit.confidence for hit in own) == surest
