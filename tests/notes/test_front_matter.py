from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.notes.document import set_fields
from memory_palace.notes.frontmatter import split_front_matter, write_front_matter
from memory_palace.notes.note import split_line_range

texts = st.text(
    st.characters(categories=("L", "N", "P", "Zs"), exclude_characters="\u2028"), max_size=30
)
keys = st.from_regex(r"[a-z]{3,8}", fullmatch=True).filter(
    lambda key: key not in ("null", "true", "false")
)
fields = st.dictionaries(
    keys, st.one_of(texts, st.integers(), st.lists(texts, max_size=3)), max_size=5
)


def read(text):
    """Return the fields; a text that is a date is one to YAML."""
    values = split_front_matter(text).values
    return {key: str(value) if isinstance(value, date) else value for key, value in values.items()}


@given(fields)
def test_a_block_is_read_as_it_was_written(values):
    assert read(f"{write_front_matter(values)}text\n") == values


@given(fields, fields)
def test_only_the_fields_that_are_set_change(before, changed):
    note = f"{write_front_matter(before)}# Title\r\n".encode()
    after = set_fields("n.md", note, changed)
    text = after.decode()
    assert read(text.replace("\r\n", "\n")) == {**before, **changed}
    assert text.endswith("# Title\r\n")


def test_lines_can_stand_behind_a_name():
    assert split_line_range("a:b.md") == ("a:b.md", None, None)
    assert split_line_range("a:b.md:10") == ("a:b.md", 10, 10)
    assert split_line_range("a:10-20") == ("a", 10, 20)
    assert split_line_range(":10") == (":10", None, None)
