import re

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.markdown.markup import Markup
from memory_palace.notes.chunking import Cutter, chunk_body


def count(text: str) -> int:
    """Words of at most six characters: additive over white space, like WordPiece."""
    return sum(-(-len(word) // 6) for word in text.split())


def chunk(body: str, *, limit: int = 100, title: str = "Title", first_line: int = 1):
    return chunk_body(Cutter(count, limit, title), Markup(body), first_line=first_line)


def words(number: int, word: str = "word") -> str:
    return " ".join(f"{word}{i}" for i in range(number))


def test_a_tiny_note_stays_one_chunk():
    (only,) = chunk("# Hello\n\n## One\n\na\n\n## Two\n\nb\n")
    assert (only.first_line, only.last_line) == (1, 9)
    assert only.heading_path == ("Hello",)


def test_second_level_headings_split_and_carry_their_path():
    body = f"# Top\n\n## One\n\n{words(60)}\n\n### Deep\n\nx\n\n## Two\n\n{words(60)}\n"
    first, second = chunk(body, limit=200)
    assert first.heading_path[:2] == ("Top", "One") and second.heading_path == ("Top", "Two")
    assert (first.first_line, first.last_line) == (1, 9)
    assert (second.first_line, second.last_line) == (11, 13)


def test_headings_inside_fences_are_text():
    body = f"## Real\n\n```md\n## not a heading\n```\n\n{words(60)}\n\n## Next\n\n{words(60)}\n"
    first, second = chunk(body, limit=200)
    assert "## not a heading" in first.text and first.heading_path == ("Real",)
    assert second.heading_path == ("Next",)


def test_the_title_is_context_and_is_not_said_twice():
    first, second = chunk(f"# Title\n\n{words(60)}\n\n## Two\n\n{words(60)}\n", limit=200)
    assert first.embed_text.startswith("# Title\n")
    assert second.embed_text.startswith("Title\n## Two\n")


def test_a_long_paragraph_is_cut_between_sentences():
    body = " ".join(f"Sentence number {i} ends here." for i in range(100))
    chunks = chunk(body)
    assert len(chunks) > 3
    assert all(c.text.rstrip().endswith(".") for c in chunks)
    assert {(c.first_line, c.last_line) for c in chunks} == {(1, 1)}


def test_one_line_of_62000_characters_is_all_there():
    for line in ("x" * 62_000, "ab " * 20_667, "水" * 62_000):
        chunks = chunk(line, title="")
        assert re.sub(r"\s", "", "".join(c.text for c in chunks)) == re.sub(r"\s", "", line)
        assert max(count(c.embed_text) for c in chunks) <= 134


def test_a_table_is_cut_between_its_rows():
    body = "\n".join(f"| cell {i} | {words(5)} |" for i in range(60))
    chunks = chunk(body)
    assert len(chunks) > 3
    assert all(c.text.startswith("| cell") and c.text.endswith("|") for c in chunks)


def test_line_numbers_start_where_the_body_does():
    (only,) = chunk("\n\ntext\n", first_line=5)
    assert (only.first_line, only.last_line) == (7, 7)


def test_a_title_longer_than_the_limit_leaves_room_for_the_text():
    (only,) = chunk("some text", title=words(500))
    assert "some text" in only.embed_text and count(only.embed_text) <= 100


markdown = st.lists(
    st.one_of(
        st.sampled_from(
            ["", "", "# One", "## Two", "### Three", "```", "~~~~", "- item", "| a | b |"]
        ),
        st.text(alphabet="abc .!?#`水\t", max_size=200),
        st.integers(1, 400).map(words),
    ),
    max_size=40,
).map("\n".join)


@given(markdown, st.integers(20, 300))
@settings(max_examples=150, deadline=None)
def test_every_character_is_in_a_chunk_and_no_chunk_is_too_long(body, limit):
    chunks = chunk(body, limit=limit)
    kept = "".join(c.text for c in chunks)
    assert sorted(re.sub(r"\s", "", kept)) == sorted(re.sub(r"\s", "", body))
    lines = body.split("\n")
    for c in chunks:
        assert count(c.embed_text) <= limit
        inside = "\n".join(lines[c.first_line - 1 : c.last_line])
        assert all(line.strip() in inside for line in c.text.split("\n"))
    firsts = [c.first_line for c in chunks]
    assert firsts == sorted(firsts)
