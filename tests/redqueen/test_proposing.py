"""The links that a round proposes, and what it leaves alone."""

from __future__ import annotations

import pytest

from memory_palace.features.redqueen.proposals import propose
from memory_palace.notes.document import Library, parse_document


def read(**texts):
    found = {}
    for stem, text in texts.items():
        path = f"palace/chambers/{stem.replace('_', ' ')}.md"
        document = parse_document(path, text.encode())
        assert document is not None
        found[path] = document
    return Library(found)


def links(text, **more):
    """Return what is proposed for a note in a vault where three notes link "grain drying"."""
    vault = {
        "grain_drying": "# Grain drying\n\nIt takes the water out.\n",
        "silo": "We begin with [[grain drying]] in August.\n",
        "market": "Prices follow [[grain drying]] and rain.\n",
        "diary_of_a_miller": "Nothing without [[grain drying]].\n",
        "asked": text,
    }
    made = propose(read(**{**vault, **more}))
    return [(p.line, p.text, p.written) for p in made if p.path.endswith("/asked.md")]


def test_a_mention_is_linked_and_the_link_shows_the_words_of_the_text():
    assert links("The barn is used for grain drying in wet years.\n") == [
        (1, "grain drying", "[[grain drying]]")
    ]
    text = "---\ntitle: Barn\n---\n\nGrain drying is what the barn is for.\n"
    assert links(text) == [(5, "Grain drying", "[[grain drying|Grain drying]]")]


@pytest.mark.parametrize(
    "text",
    [
        "# Grain drying\n\nThe barn.\n",
        "Run `grain drying` now.\n",
        "```\ngrain drying\n```\n",
        "> grain drying is dull, he said.\n",
        "| grain drying | 1 |\n|---|---|\n| grain drying | 2 |\n",
        "See https://example.org/grain drying and (https://example.org/grain-drying).\n",
        "Of [the grain drying of old](https://example.org) they speak.\n",
        "# Barn\n\nSee [[grain drying]].\n\n## Later\n\nMore grain drying came.\n",
        "The wholegrain drying rack.\n",
        "The grain drying-rack and grain Drying.\n",
        "## Anchors\n\n- the old grain drying hall\n",
        "---\npinned: true\n---\n\nThe barn is used for grain drying.\n",
    ],
)
def test_no_link_where_a_person_would_want_none(text):
    assert links(text) == []


def test_what_people_write_without_a_link_is_left_so():
    others = {f"note_{n}": f"Then grain drying was done in {n} halls.\n" for n in "abcdefgh"}
    assert links("The barn is used for grain drying in wet years.\n", **others) == []


def test_a_single_word_is_a_name_where_it_is_written_as_none_is():
    vault = {"time": "# Time\n\nIt flies.\n", "GRIB2": "# GRIB2\n\nWeather.\n"}
    made = propose(read(**vault, asked="Time for coffee, and for GRIB2 in grib2 files.\n"))
    assert [(p.text, p.written) for p in made] == [("GRIB2", "[[GRIB2]]")]


def test_a_name_of_two_notes_is_given_to_neither():
    other = "---\naliases: [grain drying]\n---\n# Malting\n\nIt sprouts.\n"
    assert links("The barn is used for grain drying in wet years.\n", malting=other) == []


def test_a_vault_of_markdown_links_gets_one():
    vault = {
        "grain_drying": "# Grain drying\n\nIt takes the water out.\n",
        "silo": "We begin with [grain drying](grain%20drying.md) in August.\n",
        "market": "Prices follow [grain drying](grain%20drying.md) and rain.\n",
        "asked": "The barn is used for grain drying in wet years.\n",
    }
    (only,) = propose(read(**vault))
    assert only.written == "[grain drying](grain%20drying.md)"
