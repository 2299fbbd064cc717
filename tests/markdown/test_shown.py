"""The text that people see has no marks that only programs read."""

import json

import pytest
from running import run_main

from memory_palace.features.agents.fencing import show_hits
from memory_palace.features.view.gather import read_text
from memory_palace.language.visible import shown_text
from memory_palace.palace import Palace

RAW = (
    "Frost: see [[The kiln|tools.kiln]], [[dendron://vault/tools.mast]], [[folder/Ash|the ash]] "
    'and [a page](https://example.org/x). {{fm.title}} <iframe src="https://example.org"></iframe>'
)
SHOWN = "Frost: see The kiln, tools.mast, the ash and a page."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (RAW, SHOWN),
        ("[[folder/Note#Heading]] [[Note#^a1]] [[#Here]]", "Note#Heading Note Here"),
        ("![[mast.png]] ![the mast](<a b.png> 'c')", "mast.png the mast"),
        ("`[[a]] {{b}} <i>` $$\\frac{{a}}{{b}}$$", "`[[a]] {{b}} <i>` $$\\frac{{a}}{{b}}$$"),
        ("```\n[[a]] <b>\n```", "```\n[[a]] <b>\n```"),
        ('one\n{{< ref "a.md" >}}<br\n/>two', "one\n\ntwo"),
        ("List<String> of <names>, 3 < 4, a[0][1], - [ ] todo", None),
        ("<!-- -->", ""),
    ],
)
def test_a_text_is_shown_without_addresses_braces_tags_and_brackets(text, shown):
    assert shown_text(text).strip() == (text if shown is None else shown)


def test_links_that_are_kept_have_the_note_first():
    text = "[[The kiln|tools.kiln]] [[a|b]] [c](d.md) <b>e</b> {{f}}"
    assert shown_text(text, keep_links=True) == "[[tools.kiln|The kiln]] [[a|b]] [c](d.md) e "


def test_answers_recall_tools_and_the_page_show_the_same_text(tmp_path, capsys):
    (tmp_path / "a.md").write_text(f"# Frost\n\n{RAW}\n")
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="none")
    printed = run_main(capsys, "-C", tmp_path, "query", "frost kiln", "--json")[1]
    texts = [
        json.loads(printed)["hits"][0]["text"],
        run_main(capsys, "-C", tmp_path, "query", "frost kiln")[1],
        show_hits(palace.query("frost kiln", neighbors=0), generation=1),
        palace.recall("what about the frost and the kiln", min_confidence=0).text,
    ]
    for text in texts:
        assert SHOWN in text and not any(mark in text for mark in ("[[", "{{", "<iframe", "://"))
    page = read_text(palace, "a.md")
    assert "[[tools.kiln|The kiln]]" in page and "{{" not in page and "<iframe" not in page
