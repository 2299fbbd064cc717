from datetime import UTC, datetime

import pytest

from memory_palace.notes.dating import date_in_front_matter
from memory_palace.notes.parsing import find_links, parse_note, rewrite_links


def parse(text, path="palace/chambers/n.md"):
    data = text if isinstance(text, bytes) else text.encode()
    return parse_note(path, data, count_tokens=lambda s: len(s.split()), token_limit=200)


def day(*parts):
    return datetime(*parts, tzinfo=UTC).timestamp()


def test_front_matter_says_what_a_note_is():
    note = parse(
        "---\ntitle: T\ntype: decision\npriority: HIGH\ntags: [a, '#b']\naliases: one, two\n"
        "entities:\n- Ilse\nevergreen: true\ncreated: 2026-01-01\ndate: 2026-02-03\n---\n"
        "# Other\n\ntext #c and `#d` [[x]]\n"
    )
    assert (note.title, note.type, note.priority) == ("T", "decision", "high")
    assert note.tags == ("a", "b", "c") and note.aliases == ("one", "two")
    assert note.entities == ("Ilse",) and note.is_evergreen
    assert note.date.timestamp == day(2026, 2, 3) and note.body_first_line == 13
    assert [link.line for link in note.links] == [15]


@pytest.mark.parametrize("value", ["5", "[high]", "urgent", "true"])
def test_an_odd_priority_is_ignored_and_never_fatal(value):
    assert parse(f"---\npriority: {value}\n---\nx\n").priority is None


def test_a_rule_at_the_top_is_no_front_matter():
    note = parse("---\n\nA note that opens with a rule.\n")
    assert note.problems == () and "opens with a rule" in note.body


def test_private_spans_keep_the_line_numbers():
    note = parse("a <private>b\nc\n</private> d\ne [[x]]\n<PRIVATE>never closed\n[[y]]\n")
    assert [link.line for link in note.links] == [4]
    assert "b" not in note.body.replace("[[x]]", "") and "never" not in note.body
    assert [p.line for p in note.problems] == [1, 5]


LINKS = [
    ("[[a]]", [("a", None, None, False)]),
    ("[[a|b c]]", [("a", None, "b c", False)]),
    ("[[a#h]]", [("a", "h", None, False)]),
    ("[[x/a.md#h|b]]", [("x/a", "h", "b", False)]),
    ("![[a]]", [("a", None, None, True)]),
    ("| [[a\\|b]] |", [("a", None, "b", False)]),
    ("[text](x/a%20b.md#h)", [("x/a b", "h", None, False)]),
    ("[text](https://example.org/a.md)", []),
    ("[[]] [[ ]] [[a", [("", None, None, False)]),
]


@pytest.mark.parametrize(("text", "expected"), LINKS)
def test_links_in_all_forms_outside_code(text, expected):
    found = [(k.target, k.heading, k.alias, k.is_embed) for k in find_links(text)]
    assert [link for link in found if link[0] or not expected] == [
        link for link in expected if link[0]
    ]


def test_dates_are_taken_in_order_and_garbage_is_passed_over():
    matter = {"updated": "soon", "modified": [1], "date": "2026-03-04T05:06:07+02:00"}
    assert date_in_front_matter(matter).timestamp == day(2026, 3, 4, 3, 6, 7)
    assert date_in_front_matter({"date": "9999-99-99"}) is None


def rename(target, is_wiki):
    return ("new" if is_wiki else "new.md") if target == "x/old" else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[x/old]] [[x/old.md#h|t]] [[other]]", "[[new]] [[new#h|t]] [[other]]"),
        ("| [[x/old\\|t]] |", "| [[new\\|t]] |"),
        ("`[[x/old]]` [[x/old]]", "`[[x/old]]` [[new]]"),
        ("``a\n[[x/old]]`` [[x/old]]", "``a\n[[x/old]]`` [[new]]"),
        ("<!-- [[x/old]] --> [[x/old]]", "<!-- [[x/old]] --> [[new]]"),
        ("\\[[x/old]]", "\\[[x/old]]"),
        ('[a](x/old.md#h "t")', '[a](new.md#h "t")'),
        ("[a](<x/old.md>)", "[a](<new.md>)"),
        ("[a](x/%6Fld.md)", "[a](new.md)"),
        ("[a][l] [l]\r\n\r\n[l]: x/old.md\r\n", "[a][l] [l]\r\n\r\n[l]: new.md\r\n"),
        ("---\nup:\n\n    - [[x/old]]\n---\n\ntext", "---\nup:\n\n    - [[new]]\n---\n\ntext"),
    ],
)
def test_only_the_name_of_the_note_is_written_anew(text, expected):
    assert rewrite_links(text, rename) == expected


def test_links_say_which_line_they_are_on():
    found = find_links("a\n[b\nc](d.md)\n[[e]] [f][g]\n\n[g]: h.md", first_line=10)
    assert [(link.target, link.line) for link in found] == [("d", 11), ("e", 13), ("h", 13)]
