import pytest
from growing import assert_linear

from memory_palace.markdown.markup import Markup
from memory_palace.notes.chunking import Cutter, chunk_body
from memory_palace.notes.parsing import parse_note


def count(text):
    return len(text.split())


def parse(text):
    return parse_note("palace/chambers/n.md", text.encode(), count_tokens=count, token_limit=200)


@pytest.mark.parametrize(
    ("start", "unit", "end"),
    [("# a", " ", "b"), ("## a", " ", "b"), ("", "](a.md", ""), ("", "<private ", "")],
)
def test_a_hostile_line_takes_no_quadratic_time(start, unit, end):
    assert_linear(lambda size: parse(start + unit * (size // len(unit)) + end), 8_000)


@pytest.mark.parametrize("value", ["[" * 60_000, "{a: " * 15_000, "- " * 30_000, "? " * 30_000])
def test_deeply_nested_front_matter_is_named_and_does_not_end_the_process(value):
    note = parse(f"---\na:\n {value}\n---\ntext\n")
    assert [p.kind for p in note.problems] == ["front matter"] and "text" in note.body


@pytest.mark.parametrize(
    "value",
    [
        *('!!int ""', "!!bool x", "!!timestamp x", '!!float ""', "2026-99-99", "1" * 5000, "*x"),
        *("0x" + "f" * 5000, "&a [*a]", "&a {b: [*a]}"),
    ],
)
def test_a_value_that_yaml_cannot_build_is_named(value):
    note = parse(f"---\na: {value}\n---\ntext\n")
    assert [p.kind for p in note.problems] == ["front matter"] and "text" in note.body


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: x\nprivate: true\n\nnever closed\n",
        "---\n# a comment\nprivate: true\n",
        "---\nprivate: true\nlong: " + "x" * 70_000 + "\n---\ntext\n",
        "---\nPrivate: true\n---\ntext\n",
        '---\n"private" : yes\nbad: [\n---\ntext\n',
    ],
)
def test_what_says_private_is_private_however_broken_the_block_is(text):
    note = parse(text)
    assert note.is_private and note.chunks == () and note.body == ""


def test_private_tags_may_have_attributes():
    assert "hidden" not in parse("a <private reason='x'>hidden</private > b").body


def test_an_anchor_in_a_link_is_no_tag():
    assert parse("[[#here]] [x](#there) (#tag) #other\n").tags == ("tag", "other")


def test_a_fence_below_a_paragraph_is_not_cut_when_it_fits():
    prose = " ".join(f"w{i}" for i in range(30))
    fence = "\n".join(["```", *(f"line {i}" for i in range(15)), "```"])
    chunks = chunk_body(Cutter(count, 100, ""), Markup(f"{prose}\n{fence}\n{prose}"), first_line=1)
    assert any(fence in chunk.text for chunk in chunks)


def test_a_heading_is_never_parted_from_what_it_heads():
    prose = " ".join(f"w{i}" for i in range(40))
    body = f"# One\n\n## Two\n\n{prose}\n\n## Three\n\n{prose}\n\n{prose}"
    chunks = chunk_body(Cutter(count, 100, ""), Markup(body), first_line=1)
    assert [chunk.text.split("\n")[0] for chunk in chunks] == ["# One", "## Three", prose]
    assert [chunk.heading_path for chunk in chunks] == [("One", "Two")] + 2 * [("One", "Three")]
