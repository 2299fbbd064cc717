"""What a store's filters let pass is what those of the files do, however notes are named."""

import shutil
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store.pushing import Store

from memory_palace.errors import UsageError
from memory_palace.features.store.reader import StoreReader
from memory_palace.palace import Palace

NOW = 1_794_700_000.0
FOLDERS = [
    "grand_hall",
    "chambers/Über uns",
    normalize("NFD", "chambers/Über uns/Gäste"),
    "chambers/100%_done",
    "chambers/100x_done",
    "chambers/100",
    "chambers/back\\slash",
    'chambers/it\'s "so"',
    "project_rooms/Straße",
    "project_rooms/STRASSE/{x}",
    "palace/chambers/100",
    "loose",
    "archive_basement/2025/chambers/Über uns",
    "archive_basement/2025/loose",
]
TAGS = ["hut", "Hut/Roof", "hut_roof", "hu", "straße", normalize("NFD", "é/è"), "it's", "50%", "氷"]
TYPES = ["project", "Project", "STRASSE", "straße", "o'note", "50%_"]
DAYS = ["2025-12-31", "2026-05-01", "2026-05-17", "2026-11-01"]
MOMENTS = st.sampled_from([1_767_139_200.0, 1_777_593_600.0, 1_779_000_000.5, 1_793_491_200.0])
SPELLINGS = [str, str.swapcase, str.casefold, lambda name: normalize("NFD", name)]


@st.composite
def notes(draw):
    """Write a note: where it is, and its text."""
    lines = [f"tags: {draw(st.lists(st.sampled_from(TAGS), max_size=2, unique=True))!r}"]
    for key, values in (
        ("type", TYPES),
        ("priority", ["high", "low"]),
        ("date", DAYS),
        ("created", DAYS),
        ("private", ["true"]),
    ):
        value = draw(st.sampled_from([None, None, *values]))
        lines += (
            [] if value is None else [f"{key}: {value!r}" if key == "type" else f"{key}: {value}"]
        )
    body = draw(
        st.sampled_from(["", "Snow fell.", "It was in May 2026.", "On 2025-12-31 it froze."])
    )
    # No store knows where private notes are: their folders are unknown there.
    folder = "hidden" if "private: true" in lines else draw(st.sampled_from(FOLDERS))
    return folder, "\n".join(["---", *lines, "---", body, ""])


@st.composite
def names(draw, known):
    """Spell a name, or a part of one, as somebody might."""
    name = draw(st.sampled_from(known))
    parts = name.split("/")
    name = "/".join(parts[: draw(st.integers(1, len(parts)))])
    return draw(st.sampled_from(SPELLINGS))(name)


@st.composite
def conditions(draw):
    """Ask for one to three things."""
    folders = st.one_of(names(FOLDERS), names([f"palace/{name}" for name in FOLDERS]))
    kinds = {
        "type": names(TYPES),
        "priority": st.sampled_from(["high", "LOW", "medium"]),
        "room": st.sampled_from(["chambers", "CHAMBERS", "project_rooms", "archive_basement"]),
        "folder": st.lists(folders, min_size=1, max_size=2),
        "tags": st.lists(names(TAGS), min_size=1, max_size=2),
        "when": st.sampled_from(["2025-12-31", "May 2026", "last May"]),
        "since": MOMENTS,
        "until": MOMENTS,
        "as_of": MOMENTS,
    }
    chosen = draw(st.lists(st.sampled_from([*kinds]), min_size=1, max_size=3, unique=True))
    return {kind: draw(kinds[kind]) for kind in chosen}


@pytest.fixture(scope="module")
def store(shared, tmp_path_factory):
    store = Store(shared, Palace.init(tmp_path_factory.mktemp("filters")))
    store.push()
    reader = StoreReader(store.address)
    yield store, reader
    reader.__exit__()
    store.connection.close()


def ask(query, text, asked, *, include_cold):
    try:
        found = query(text, include_cold=include_cold, limit=99, **{"as_of": NOW, **asked})
    except UsageError as error:
        return str(error).partition(";")[0]
    return [(hit.path, pytest.approx(hit.score, rel=0.01, abs=0.01)) for hit in found]


@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    st.lists(notes(), min_size=1, max_size=12),
    st.lists(st.tuples(conditions(), st.booleans()), min_size=12, max_size=12),
)
def test_the_same_notes_pass(store, written, asked):
    pushed, reader = store
    palace = pushed.palace
    for folder in palace.paths.notes.iterdir():
        if folder.is_dir() and folder.name != ".index":
            shutil.rmtree(folder)
    for number, (folder, text) in enumerate([*written, ("grand_hall", "Snow lay.\n")]):
        path = palace.paths.notes / folder / f"{number} note.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    pushed.push()
    for each, include_cold in asked:
        for text in ("", "where did snow fall"):
            how = {"include_cold": include_cold}
            found = ask(palace.query, text, each, **how)
            assert ask(reader.query, text, each, **how) == found


def test_a_tag_of_the_archive_alone_is_a_word_unless_the_archive_is_asked(store):
    pushed, reader = store
    for folder, tag in (("grand_hall", "snow"), ("archive_basement/2025", "ice")):
        path = pushed.palace.paths.notes / folder / "a note.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\ntags: [{tag}]\n---\nThe ice is thick, and the snow.\n", "utf-8")
    pushed.push()
    for include_cold, expected in ((False, "grand_hall"), (True, "archive_basement/2025")):
        how = {"include_cold": include_cold, "limit": 9, "as_of": NOW}
        found = pushed.palace.query("thick #ice", **how)
        again = reader.query("thick #ice", **how)
        assert [hit.path for hit in again] == [hit.path for hit in found]
        assert f"palace/{expected}/a note.md" in [hit.path for hit in again]
