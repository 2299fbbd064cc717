import pytest
from growing import assert_linear

from memory_palace.markdown.markup import Markup, drop_comments, strip_markup


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# A `b` c", [(1, "A `b` c")]),
        ("Title\n=====", [(1, "Title")]),
        ("In two\nlines\n---", [(2, "In two lines")]),
        ("| a |\n|---|", []),
        ("# Title <!-- id: 3 -->", [(1, "Title")]),
        ("<!--\n# hidden\n-->\n# shown", [(1, "shown")]),
        ("1. item\n\n    ```\n    # code\n    ```\n", []),
    ],
)
def test_headings_are_those_of_commonmark(text, headings):
    assert [(found.level, found.text) for found in Markup(text).headings] == headings


def test_a_heading_in_a_quote_or_an_item_heads_no_section():
    markup = Markup("> # quoted\n\n- # item\n\n# Top\n")
    assert [found.is_nested for found in markup.headings] == [True, True, False]
    assert markup.title == "Top"


def test_a_section_ends_at_the_next_heading_of_its_level_or_above():
    markup = Markup("Intro\n=====\n\nPlan\n----\n\na\n\n### deeper\n\nb\n\n# Top\n\nc")
    assert markup.find_section("plan")[1:] == (5, 12)
    assert markup.find_section("deeper") is None and Markup("").find_section("plan") is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("`<!--` a\nb", "       a\nb"),
        ("<!-- ` --> a `b`", "           a    "),
        ("<!--> a", "      a"),
        ("<!-- a\nb --> c", "      \n      c"),
        ("`` a ` b `` c", "            c"),
        ("` a", "` a"),
        ("`a\nb` c", "  \n   c"),
        ("`a\n\nb` c", "`a\n\nb` c"),
        ("a <!-- never closed\n\nb", "a <!-- never closed\n\nb"),
        ("<!-- never closed\n\nb", "                 \n\n "),
        ("```\na\n```", "   \n \n   "),
        ("~~~ py\n```\n~~~\nb", "      \n   \n   \nb"),
        ("\\[a]", "  a]"),
        ("a\n\n    code\n\nb", "a\n\n        \n\nb"),
    ],
)
def test_code_comments_and_escapes_are_blank(text, plain):
    assert Markup(text).plain == plain


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("[[a#h|b]] ![[c]]", [("wiki", "a#h|b"), ("wiki", "c")]),
        ("\\[[no]] \\[[[yes]]", [("wiki", "yes")]),
        ("`[[no]]` [[yes]]", [("wiki", "yes")]),
        ("[t][l] [l][] [l]\n\n[L]: a.md 'title'", [("reference", "a.md")] * 3),
        ("[t][l]\n\n[l]: <a b.md>", [("reference", "a b.md")]),
        ("[![i](p.png)](q.md)", [("inline", "p.png"), ("inline", "q.md")]),
        ("<div>\n[[inside of HTML]]\n</div>", [("wiki", "inside of HTML")]),
    ],
)
def test_links_are_those_of_commonmark_and_wiki_links(text, links):
    found = Markup(text).links
    assert [(link.form, text[link.target_start : link.target_end]) for link in found] == links


def test_a_part_of_a_note_may_begin_inside_of_a_list():
    text = "    - item\n\n      [[link]]\n"
    assert Markup(text).links == [] and len(Markup(text, is_part=True).links) == 1


HOSTILE = "[ [[ <!-- ` ]( [](a [a](< ![ [[a| \\[ [a][b] ((( [x]((( ``` ![[ ]] # > - 1. <a".split()
HOSTILE += ["===", "a\n===", "<div", "- x", "> -", "~~~", '[a]: b "', "[a]:", "<!-- x", '[a](b "']
HOSTILE += ["[[a", "$$a", "*", "\n", " \n", "%%", "a %%", "%%`", "<!--%%", "> %%\n", "\n \t>"]


@pytest.mark.parametrize("unit", HOSTILE)
@pytest.mark.parametrize("end", ["", " ", "\n", "\n\n"])
def test_time_grows_with_the_text_whatever_is_in_it(unit, end):
    def read(repeats):
        text = f"{unit}{end}" * repeats
        markup = Markup(text)
        assert markup.plain and markup.links is not None and markup.headings is not None
        assert strip_markup(text) is not None and drop_comments(text)

    assert_linear(read, 2_000)
