"""Names, links and questions that a round proposes, and what it leaves alone."""

from __future__ import annotations

import pytest

from memory_palace.notes.document import Library, parse_document
from memory_palace.redqueen.proposing import propose

ABOUT = (
    "Grain drying takes the water out of what was harvested, before mould does its work. The hull "
    "of every kernel gives way slowly, so warm air has to pass for hours, and whoever hurries "
    "cracks the kernels. Stir twice a day, and measure at night when the hall is cool.\n"
)


def read(**texts):
    found = {}
    for stem, text in texts.items():
        path = f"palace/chambers/{stem.replace('__', '/').replace('_', ' ')}.md"
        document = parse_document(path, text.encode())
        assert document is not None
        found[path] = document
    return Library(found)


def proposed(**texts):
    return propose(read(**texts))


def links(text, **more):
    """Return what is proposed for a note in a vault where three notes link "grain drying"."""
    vault = {
        "grain_drying": f"# Grain drying\n\n{ABOUT}",
        "silo": "We begin with [[grain drying]] in August.\n",
        "market": "Prices follow [[grain drying]] and rain.\n",
        "diary_of_a_miller": "Nothing without [[grain drying]].\n",
        "asked": text,
    }
    made = proposed(**{**vault, **more})
    return [(p.line, p.text, p.written) for p in made if p.path.endswith("/asked.md")]


def test_a_mention_is_linked_where_people_link_the_words():
    assert links("The barn is used for grain drying in wet years.\n") == [
        (1, "grain drying", "[[grain drying]]")
    ]


def test_the_link_shows_the_words_of_the_text():
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
        "**The grain drying hall:** it is red.\n",
        "He read _The grain drying of Ohio_ twice.\n",
        "They call it “grain drying at home” there.\n",
        "Open Tools → grain drying → Start.\n",
        "- grain drying\n",
        "Smith, A. (2001). On grain drying. Farming, pp. 3-9.\n",
        "## References\n\n- Smith on grain drying in Ohio\n",
        "The [[grain drying]] hall. We like grain drying.\n",
        "# Barn\n\nSee [[grain drying]].\n\n## Later\n\nMore grain drying came.\n",
        "The wholegrain drying rack.\n",
        "## Anchors\n\n- the old grain drying hall\n",
    ],
)
def test_no_link_where_a_person_would_want_none(text):
    assert links(text) == []


def test_what_people_write_without_a_link_is_left_so():
    others = {f"note_{n}": f"Then grain drying was done in {n} halls.\n" for n in "abcdefgh"}
    assert links("The barn is used for grain drying in wet years.\n", **others) == []


def test_a_word_of_the_language_is_no_name():
    vault = {
        "time": f"# Time\n\n{ABOUT * 2}",
        "clock": "It shows the [[time]] well.\n",
        "train": "We lost [[time]] there.\n",
        "coffee": "There was time for coffee.\n",
    }
    assert proposed(**vault) == []


@pytest.mark.parametrize(
    ("text", "count"), [("List views well.\n", 0), ("A list view, well.\n", 1)]
)
def test_an_instruction_is_no_mention(text, count):
    vault = {
        "list_view": f"# List view\n\n{ABOUT}",
        "silo": "We draw a [[list view]] in August.\n",
        "asked": text,
    }
    assert len(proposed(**vault)) == count


def test_a_name_of_two_notes_is_given_to_neither():
    other = "---\naliases: [grain drying]\n---\n# Malting\n\n" + ABOUT
    assert links("The barn is used for grain drying in wet years.\n", malting=other) == []


@pytest.mark.parametrize("stem", ["2026-03-01", "index", "templates__card"])
def test_days_indexes_and_templates_get_no_links(stem):
    vault = {
        "grain_drying": f"# Grain drying\n\n{ABOUT}",
        "silo": "We begin with [[grain drying]] in August.\n",
        "market": "Prices follow [[grain drying]] and rain.\n",
        stem: "The barn is used for grain drying in wet years.\n",
    }
    assert proposed(**vault) == []


def test_a_vault_of_markdown_links_gets_one():
    vault = {
        "grain_drying": f"# Grain drying\n\n{ABOUT}",
        "silo": "We begin with [grain drying](grain%20drying.md) in August.\n",
        "market": "Prices follow [grain drying](grain%20drying.md) and rain.\n",
        "asked": "The barn is used for grain drying in wet years.\n",
    }
    (only,) = proposed(**vault)
    assert only.written == "[grain drying](grain%20drying.md)"


def names(**vault):
    return [(p.kind, p.path.rpartition("/")[2], p.text) for p in proposed(**vault)]


def test_letters_that_a_note_says_it_is_called_by():
    vault = {
        "failure_analysis": "# Failure mode effects analysis\n\nShort and dry.\n",
        "meeting": "We did a failure mode effects analysis (FMEA). The FMEA took a day.\n",
    }
    assert names(**vault) == [("acronym", "failure analysis.md", "FMEA")]


def test_letters_that_could_mean_two_notes_are_given_to_neither():
    vault = {
        "point_of_sale": "# Point of sale\n\nThe till.\n",
        "proof_of_stake": "# Proof of stake\n\nA consensus.\n",
        "shop": "At the point of sale (POS) we queue. The POS is slow.\n",
    }
    assert names(**vault) == []


def test_what_the_letters_of_a_title_stand_for():
    vault = {
        "UCAN": "# UCAN\n\nA token.\n",
        "auth": "We use user controlled authorization networks (UCAN) for that.\n",
    }
    assert names(**vault) == [("alias", "UCAN.md", "user controlled authorization networks")]


def test_a_name_that_three_notes_use_and_the_note_says():
    vault = {
        "manage_vaults": "# Manage vaults\n\nOpen the barn switcher below.\n",
        **{n: f"Go to the [[manage vaults|barn switcher]], {n}.\n" for n in ("ab", "cd", "ef")},
    }
    assert names(**vault) == [("alias", "manage vaults.md", "barn switcher")]


def test_forms_and_parts_of_a_name_are_no_other_names():
    vault = {
        "causality": "# Causality graphs\n\nA causal graph, causality graph, graphs.\n",
        **{n: f"A [[causality|causal graph]] is {n}.\n" for n in ("ab", "cd", "ef")},
    }
    assert names(**vault) == []


def test_a_question_by_which_a_note_links_to_another():
    vault = {
        "lease": "# Lease\n\nSix months before March.\n",
        "todo": "[[lease|When do we have to tell the landlord?]]\n\n[[lease|Is this it?]]\n",
    }
    assert names(**vault) == [("question", "lease.md", "When do we have to tell the landlord?")]
