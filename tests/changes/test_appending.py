import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.config import Config
from memory_palace.errors import CheckFailedError, PalaceError, UsageError
from memory_palace.notes.document import append_text
from memory_palace.palace import Palace

PATH = "palace/chambers/Rain.md"
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"
LOG = "# Rain\n\n## Log\n\n- one\n\n### Deep\n\nx\n\n## End\n\nlast\n"


def append(data, text, under=None):
    return append_text(PATH, data.encode(), text, under=under).data.decode()


@pytest.fixture
def palace(tmp_path):
    palace = Palace.init(tmp_path)
    palace.new("Rain", room="chambers")
    palace.index(embedder="hashing")
    return palace


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "new\n"),
        ("old", "old\n\nnew\n"),
        ("old\n", "old\n\nnew\n"),
        ("old\n\n\n", "old\n\nnew\n\n\n"),
        ("old\r\nmore", "old\r\nmore\r\n\r\nnew\r\n"),
        ("old\r", "old\r\rnew\r"),
        ("---\na: 1\n---\n", "---\na: 1\n---\nnew\n"),
        ("---\na: 1\n---", "---\na: 1\n---\nnew\n"),
    ],
)
def test_text_is_added_at_the_end_and_every_other_byte_stays(before, after):
    assert append(before, "new") == after


@pytest.mark.parametrize("item", ["- two", "2. two", "| two |"])
def test_an_item_follows_an_item_and_a_row_a_row_without_a_blank_line(item):
    before = item.replace("two", "one").replace("2", "1")
    assert append(before, item) == f"{before}\n{item}\n"
    assert append("prose", item) == f"prose\n\n{item}\n"


def test_a_section_ends_at_the_next_heading_of_its_level():
    assert append(LOG, "new", "log") == LOG.replace("x\n", "x\n\nnew\n")
    assert append(LOG, "new", "### Deep") == LOG.replace("x\n", "x\n\nnew\n")
    assert append(LOG, "new", "Rain") == LOG + "\nnew\n"
    assert append("## A\n## B\n", "new", "A") == "## A\n\nnew\n\n## B\n"


def test_a_missing_section_is_made_at_the_end_or_before_the_metadata():
    assert append("# T\n", "new", "Log") == "# T\n\n## Log\n\nnew\n"
    done = append_text(PATH, b"# T\n\n## Metadata\n\nx\n", "new", under="Log")
    assert done.data.decode() == "# T\n\n## Log\n\nnew\n\n## Metadata\n\nx\n"
    assert (done.line, done.last_line, done.made) == (5, 5, "Log")


def test_a_byte_order_mark_stays_and_other_encodings_are_refused():
    before = "\ufeff# Größe\r\n".encode()
    assert append_text(PATH, before, "süß").data == before + "\r\nsüß\r\n".encode()
    for codec in ("utf-16", "cp1252"):
        with pytest.raises(PalaceError, match="save it as UTF-8"):
            append_text(PATH, "# Größe\n".encode(codec), "süß")


@pytest.mark.parametrize("opened", ["```\ncode", "<!-- hidden", "%% hidden", "<private>\nmine"])
def test_nothing_is_added_where_it_would_be_hidden_and_nothing_that_hides_the_rest(opened):
    with pytest.raises(UsageError, match="not closed"):
        append(f"# T\n\n{opened}\n", "new")
    with pytest.raises(UsageError, match="close it"):
        append("# T\n", opened)


@pytest.mark.parametrize(
    ("before", "text", "under"),
    [
        ("---\na: 1\n", "x\n---", None),
        ("", "---\nprivate: true\n---", None),
        (LOG, "## Other", "Log"),
        (LOG, "# Other", "Deep"),
        (LOG, "Other\n---", "Log"),
        ("---\nprivate: true\n---\n", "x", None),
        ("x", " \n ", None),
        ("x", "y", "##"),
    ],
)
def test_what_would_change_other_text_is_refused(before, text, under):
    with pytest.raises(UsageError):
        append(before, text, under)


LINES = st.lists(
    st.sampled_from(["# A", "## A", "### B", "- x", "text", "", "```", "---", "> q", "<!--"]),
    max_size=12,
)


@settings(max_examples=60)
@given(LINES, LINES, st.sampled_from([None, "A", "B", "C"]), st.sampled_from(["\n", "\r\n"]))
def test_adding_only_ever_inserts(before, text, under, end):
    data = end.join(before).encode()
    try:
        done = append_text(PATH, data, "\n".join(text), under=under)
    except UsageError:
        return
    start = next((i for i, (a, b) in enumerate(zip(data, done.data, strict=False)) if a != b), 0)
    kept = {len(data)} | {i for i in range(len(data) + 1) if done.data.startswith(data[:i])}
    assert any(done.data.endswith(data[i:]) for i in kept), (start, data, done.data)
    written = done.data.decode().splitlines()[done.line - 1 : done.last_line]
    assert written == "\n".join(text).strip("\n").split("\n")


@pytest.mark.parametrize("name", ["Rain", PATH, "chambers/Rain.md", "rain", f"{PATH}:1-3"])
def test_a_note_is_found_as_answers_name_it_and_the_text_at_once(palace, name):
    done = palace.append(name, "It drifts in frost.")
    assert (done.path, done.line, done.is_indexed) == (PATH, 7, True)
    (hit,) = palace.query("drifts in frost", lexical=True)
    assert hit.path == PATH
    palace.append(name, "Nobody voted for the green door.")
    assert "green door" in palace.query("green door", lexical=True)[0].text


def test_many_notes_without_an_index_are_not_indexed_by_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr("memory_palace.changes.changing.MOST_UNINDEXED", 0)
    palace = Palace.init(tmp_path)
    palace.new("Rain", room="chambers")
    done = palace.append("Rain", "It drifts.")
    assert not done.is_indexed and "palace index" in done.remark


def test_archived_notes_and_files_outside_are_left_alone(palace, tmp_path):
    cold = palace.paths.notes / "archive_basement" / "Old.md"
    cold.write_text("# Old\n")
    (tmp_path / "Out.md").write_text("# Out\n")
    palace.index()
    for name in ("Old", "palace/archive_basement/Old.md"):
        with pytest.raises(UsageError, match="is archived"):
            palace.append(name, "x")
    for name in ("Out.md", "../Out.md", str(tmp_path / "Out.md"), "palace/../Out.md", ".", "nix"):
        with pytest.raises(UsageError):
            palace.append(name, "x")
    assert cold.read_text() == "# Old\n"
    assert (tmp_path / "Out.md").read_text() == "# Out\n"


def test_lines_with_secrets_are_not_written(palace):
    done = palace.append("chambers/Rain.md", f"one\n{SECRET}\nthree")
    text = (palace.paths.root / PATH).read_text()
    assert SECRET not in text and "one" in text and "three" in text
    assert [problem.line for problem in done.withheld] == [2]
    with pytest.raises(CheckFailedError, match="line 1"):
        palace.append("Rain", SECRET)


def test_a_note_does_not_grow_beyond_what_is_indexed(palace, tmp_path):
    small = Palace(tmp_path, config=Config(max_note_bytes=200, embedder="hashing"))
    with pytest.raises(UsageError, match="max_note_bytes"):
        small.append(PATH, "It drifts in frost. " * 10)
