import pytest

from memory_palace.markdown.markup import drop_comments
from memory_palace.notes.document import split_sections
from memory_palace.notes.parsing import parse_note


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("a %%b%% c", "a  c"),
        ("a %%b\nc%% d", "a \n d"),
        ("%%\na\n\nb\n%%\nc", "\n\n\n\n\nc"),
        ("> %% a\n> b %%\n> c", "> \n\n> c"),
        ("a <!-- b --> c", "a  c"),
        ("<!--\na\n-->\nb", "\n\n\nb"),
        ("`%%a%%` b", "`%%a%%` b"),
        ("```\n%%a%%\n```", "```\n%%a%%\n```"),
        ("%%\n```\na\n%%\nb", "\n\n\n\nb"),
        (r"\%% a %% b", r"\%% a %% b"),
        ("5%% of it\n\nand 6%% of that", "5%% of it\n\nand 6%% of that"),
        ("%%a%% b %%c%%", " b "),
        ("%%%% a", " a"),
        ("a\r\n%%b\r\nc%%\r\nd", "a\r\n\n\r\nd"),
    ],
)
def test_comments_are_dropped_and_lines_stay(text, without):
    assert drop_comments(text) == (without, None)
    assert without.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "without", "line"),
    [
        ("a\n\n%% b\n\nc", "a\n\n\n\n", 2),
        ("a\n\n<!-- b\n\nc", "a\n\n\n\n", 2),
        ("a %%b%% c\n%% d", "a  c\n", 1),
    ],
)
def test_a_comment_that_begins_a_line_and_is_not_closed_runs_to_the_end(text, without, line):
    assert drop_comments(text) == (without, line)


def parse(text):
    def count(words):
        return len(words.split())

    return parse_note("palace/chambers/n.md", text.encode(), count_tokens=count, token_limit=200)


def test_a_comment_is_not_in_any_passage_nor_are_its_tags_links_and_headings():
    note = parse("# Shown\n\nkept %%private [[link]] #tag%% text\n\n%%\n# Hidden\n%%\n\nlast\n")
    assert [chunk.text for chunk in note.chunks] == ["# Shown\n\nkept  text\n\nlast"]
    assert (note.title, note.tags, note.links) == ("Shown", (), ())
    assert note.chunks[-1].last_line == 9


def test_a_comment_that_is_not_closed_is_reported_by_its_line_in_the_file():
    note = parse("---\ntitle: T\n---\nshown\n\n%% open\nlost\n")
    assert [(p.line, p.kind, p.is_failure) for p in note.problems] == [(6, "comment", False)]
    assert [chunk.text for chunk in note.chunks] == ["shown"]


def test_a_comment_is_in_no_section_of_a_card():
    text = "## Acceptance Checks\n\n- [x] done\n%%\n- [ ] perhaps\n\n## Hidden\n%%\n<!-- x -->end\n"
    assert split_sections(text) == {"": "", "Acceptance Checks": "- [x] done\n\n\n\n\n\nend"}
