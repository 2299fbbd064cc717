"""The profile ``hierarchical`` looks into the folders that a question is about."""

from __future__ import annotations

import pytest

from memory_palace.models import Filters
from memory_palace.palace import Palace

TOPICS = {
    "rain": "gauge funnel bucket drizzle millimetres",
    "radio": "antenna packet gateway airtime frequency",
    "power": "battery panel charge volt regulator",
    "choir": "tenor alto rehearsal score breath",
    "bread": "starter flour oven crust loaf",
}


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    made = Palace.init(tmp_path_factory.mktemp("hierarchical"))
    for topic, words in TOPICS.items():
        folder = made.paths.root / f"palace/chambers/{topic}"
        folder.mkdir()
        for at, word in enumerate(words.split()):
            rest = words.replace(word, "")
            text = f"# {word} {at}\n\nThe {word} of the station, beside {rest}.\n"
            (folder / f"{word}.md").write_text(text)
    made.index(embedder="hashing")
    return made


def paths(palace, text, **options):
    return [hit.path for hit in palace.query(text, profile="hierarchical", **options).hits]


@pytest.mark.parametrize("lexical", [False, True])
def test_hits_come_from_the_folder_that_the_words_point_to(palace, lexical):
    found = paths(palace, "funnel and bucket with drizzle", lexical=lexical, neighbors=0)
    assert found and all("/rain/" in path for path in found)


def test_a_question_that_points_nowhere_is_asked_everywhere(palace):
    found = paths(palace, "the station", limit=25, neighbors=0, lexical=True)
    assert {path.split("/")[2] for path in found} == set(TOPICS)


def test_filters_hold_before_folders_are_chosen(palace):
    assert paths(palace, "funnel bucket", filters=Filters(room="archive_basement")) == []


def test_a_budget_bounds_the_text(palace):
    hits = palace.query("funnel bucket", profile="hierarchical", budget_bytes=60).hits
    assert hits and sum(len(hit.text.encode()) for hit in hits) <= 60
    assert sum(len(hit.snippet.encode()) for hit in hits) <= 60
