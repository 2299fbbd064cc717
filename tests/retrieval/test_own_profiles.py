"""Profiles of an extension, and the profile of the settings."""

import json

import pytest
from running import run_well
from writing_notes import write_notes

from memory_palace import signals
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.palace import Palace
from memory_palace.retrieval.signals import PROFILES, get_profile
from memory_palace.signals import SHIPPED, Extension, ProfileSettings, register

OWN = {
    "words": ProfileSettings(weights={"lexical": 2.0, "titled": 0.5}),
    "dated": ProfileSettings("hybrid", {"temporal": 9, "statement": 0, "recency": 0.25}),
    "facts": ProfileSettings("structured", {"logic": 30.0}, cap=0.1, preserve_rank=True),
    "free": ProfileSettings("structured", capped=()),
    "literal": ProfileSettings("compound", gated=()),
    "near": ProfileSettings(weights={"dense": 1.0, "anchoring": 1.0}),
    "bare": ProfileSettings("raw", {"semantic": 0}),
    "idle": ProfileSettings("raw", gated=("recency",)),
}
NOTES = {
    "hut.md": "# The hut\n\nAnna keeps the barometer in the kitchen of the hut.\n",
    "mast.md": "# The mast\n\nThe antenna mast fell in the storm. Anna mended it.\n",
    "bread.md": "# Bread\n\nKnead the dough, and let it rise under a cloth.\n",
}


@pytest.fixture(scope="module", autouse=True)
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("own")
    (root / ".palace").mkdir()
    (root / ".palace" / "palace.yaml").write_text("profile: words\n")
    write_notes(root, NOTES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "_registered", dict(signals._registered))
        register(Extension("own", profiles=OWN))
        Palace(root).index(embedder="hashing")
        yield root


def test_the_profiles_that_ship_are_those_that_settings_know():
    assert tuple(PROFILES) == SHIPPED


def test_a_profile_begins_with_nothing_or_with_what_it_extends():
    hybrid = PROFILES["hybrid"].weights
    assert dict(get_profile("words").weights) == {"lexical": 2.0, "titled": 0.5}
    dated = get_profile("dated").weights
    changed = {name: weight for name, weight in dated.items() if hybrid.get(name) != weight}
    assert changed == {"temporal": 9, "recency": 0.25}
    assert hybrid.keys() - dated.keys() == {"statement"}


def test_metadata_is_gated_unless_a_profile_says_otherwise():
    assert get_profile("dated").gated == {"recency"}
    assert not get_profile("literal").gated


def test_caps_and_rank_preservation_are_inherited_and_replaced():
    shipped, facts = get_profile("structured"), get_profile("facts")
    assert (facts.cap, facts.preserves_rank) == (0.1, True)
    assert facts.capped == shipped.capped & shipped.weights.keys()
    assert not get_profile("free").capped


def test_a_profile_that_is_left_without_weights_is_named():
    with pytest.raises(UsageError, match="bare"):
        get_profile("bare")


def test_what_is_gated_or_capped_has_a_weight():
    with pytest.raises(UsageError, match="idle gates or caps recency"):
        get_profile("idle")


def test_an_unknown_profile_lists_those_of_extensions(root):
    with pytest.raises(UsageError, match=r"did you mean 'words'\? The .* words, dated"):
        Palace(root).query("hut", profile="wordz")


@pytest.mark.parametrize("name", ["words", "dated", "literal"])
def test_what_details_show_of_an_own_profile_adds_up(root, name):
    asked = ("query", "who mended the antenna mast?", "--profile", name, "--details", "--json")
    answer = json.loads(run_well("-C", root, *asked)[0])
    assert answer["profile"] == name and answer["hits"]
    for hit in answer["hits"]:
        parts = hit["parts"]
        assert {part["signal"] for part in parts} <= set(get_profile(name).weights)
        assert sum(round(part["contribution"] * 1e6) for part in parts) == round(hit["score"] * 1e6)


def test_the_settings_choose_the_profile_of_a_question_that_names_none(root):
    found = Palace(root).query("antenna mast")
    assert (found.profile, found[0].path) == ("words", "mast.md")
    assert {part.signal for part in found[0].contributions} == {"lexical", "titled"}
    assert Palace(root).query("antenna mast", profile="hybrid").profile == "hybrid"
    assert Palace(root).query("", since="2020-01-01").profile == "compound"


def test_an_own_profile_says_what_index_it_needs(root):
    with pytest.raises(WrongEmbedderError, match="facts needs an index with structure"):
        Palace(root).query("who mended the mast?", profile="facts")


def test_without_vectors_a_profile_of_vectors_gives_way_and_one_of_words_does_not(root):
    palace = Palace(root)
    assert palace.query("antenna", profile="near", lexical=True).profile == "hybrid"
    assert palace.query("antenna", profile="words", lexical=True).profile == "words"
