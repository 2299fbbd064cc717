"""Whatever stands in names, notes, questions and filters is text at a store, and never SQL."""

import json

import pytest
from hostile_notes import HOSTILE, WORDS, write_hostile_notes
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from running import run_main
from store.pushing import Store

from memory_palace.errors import PalaceError
from memory_palace.features.store.reader import StoreReader
from memory_palace.palace import Palace

SQL = (
    "x'; DROP SCHEMA memory_palace CASCADE; --",
    'x"; DROP TABLE memory_palace.note; --',
    "x') OR 1=1 --",
    "'; UPDATE memory_palace.member SET may_write = true; SELECT '",
    "x' UNION SELECT name FROM memory_palace.palace --",
    "%s %(palace)s %(x)s %% {} {0} $1 $$ :name ?",
    "\\'; SELECT pg_sleep(60); --",
    "x\\",
    "{a,b}",
    '{"a"}',
    "NULL",
    "E'\\x27'",
    "/* x",
    "ſtraße ﬁ İ",
    "_%",
)
NOW = 1_794_700_000.0


def picture(admin):
    """Return what is made in the database, and the rows of all palaces but the first."""
    made = admin.execute(
        "SELECT relname, relkind::text, relrowsecurity, relforcerowsecurity, relacl::text "
        "FROM pg_class WHERE relnamespace = 'memory_palace'::regnamespace ORDER BY 1"
    ).fetchall()
    rules = admin.execute(
        "SELECT polrelid::regclass::text, polname, pg_get_expr(polqual, polrelid) FROM pg_policy "
        "ORDER BY 1, 2"
    ).fetchall()
    members = admin.execute("SELECT palace, role::text, may_write FROM memory_palace.member")
    return made, rules, members.fetchall(), admin.execute("SELECT rolname FROM pg_roles").fetchall()


@pytest.fixture(scope="module")
def hostile(shared, tmp_path_factory):
    """A palace whose notes are all hostile, pushed; the server as it was before."""
    root = tmp_path_factory.mktemp("hostile")
    write_hostile_notes(root)
    for place, text in enumerate(SQL):
        folder = root / text.replace("/", "∕")
        folder.mkdir()
        front = json.dumps({"title": text, "type": text, "tags": [text, "sql"], "aliases": [text]})
        body = f"---\n{front}\n---\n# {text}\n\nWombat{place} [[{text}]] [[{text}|{text}]] {text}\n"
        (folder / f"{text.replace('/', '∕')}.md").write_text(body, "utf-8")
    (root / "nul.md").write_bytes(b"# Axolotl\n\nAn axolotl \0 and \xff\xfe and \xed\xa0\x80.\n")
    (root / "large.md").write_text(
        "# Narwhal\n\n" + "A narwhal's tooth is long. " * 200_000, "utf-8"
    )
    palace = Palace(root)
    palace.index(embedder="hashing")
    store = Store(shared, palace)
    with shared.server.connect(shared.name) as admin:
        before = picture(admin)
    store.push()
    assert store.verify() == []
    store.connection.close()
    with StoreReader(store.address) as reader:
        yield palace, reader, store
        with shared.server.connect(shared.name) as admin:
            assert picture(admin) == before


def test_hostile_notes_are_found_as_in_the_files(hostile):
    palace, reader, _ = hostile
    assert len(WORDS) == len(HOSTILE)
    for word in (*WORDS[::3], "axolotl", "narwhal", "wombat3"):
        found = palace.query(word, as_of=NOW, limit=3)
        again = reader.query(word, as_of=NOW, limit=3)
        assert [hit.path for hit in again] == [hit.path for hit in found], word
        assert again.hits, word


@pytest.mark.parametrize("text", SQL)
def test_a_question_and_a_filter_are_text(hostile, text):
    palace, reader, _ = hostile
    asked = {"type": text, "as_of": NOW, "limit": 20}
    found, again = palace.query(text, **asked), reader.query(text, **asked)
    assert [hit.path for hit in again] == [hit.path for hit in found]
    assert len(again.hits) == 1
    which = {"folder": text.replace("/", "∕"), "tags": "sql"}
    assert reader.query(f'"wombat" [[{text}]]', as_of=NOW, **which).hits is not None


texts = st.text(st.characters(codec=None), max_size=40) | st.sampled_from(SQL)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts, st.dictionaries(st.sampled_from(["type", "tags", "folder"]), texts, max_size=1))
@example("wombat \udcff \0", {})
def test_any_text_is_asked_and_any_is_a_filter(hostile, question, conditions):
    palace, reader, _ = hostile
    answers = []
    for ask in (palace.query, reader.query):
        try:
            found = ask(question, as_of=NOW, limit=5, **conditions)
            answers.append([hit.path for hit in found])
        except PalaceError as error:
            assert len(str(error).splitlines()) == 1
            answers.append(type(error))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("text", [*SQL[::2], "\x1b[31m", "\udcff", "a\0b", "", "x" * 5000])
def test_names_of_palaces_roles_and_stores_are_text(hostile, text, capsys):
    url = hostile[1].address.url
    for line in (
        ("query", "wombat", "--store", f"{url}#{text}" if text else "-"),
        ("config", "store", "grant", text, "--store", f"{url}#hut"),
        ("config", "store", "status", "--store", f"{url}&sesame={text}"),
    ):
        status, out, err = run_main(capsys, *line)
        assert status in (1, 2, 3, 4, 10) and out == "", (line, out, err)
        assert "Traceback" not in err and "\x1b" not in err
        assert len(err.splitlines()) <= 2, err
