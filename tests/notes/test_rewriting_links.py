import pytest

from memory_palace.notes.parsing import find_links, rewrite_links


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
