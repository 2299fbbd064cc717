"""Conditions, settings and whole passages at a store are those of the files."""

import re

import pytest
from running import run_main
from store.pushing import Store, push_and_read, write_notes

from memory_palace.errors import ConfigError, UsageError
from memory_palace.features.store.reader import StoreReader
from memory_palace.features.store.rows import read_settings
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.retrieval.excerpts import show_whole

ASKED = "2026-11-14"
WHEN = ["November 2026", "2026-11-02", "since October 2026", "2025", "last week", "in winter"]


@pytest.fixture
def stored(sample, database):
    """The sample palace as a store that can be asked."""
    with push_and_read(database, sample) as reader:
        yield reader


def paths_of(found):
    return [(hit.path, hit.role, pytest.approx(hit.score, rel=0.01, abs=0.01)) for hit in found]


def ask(reader, text, *, limit=10, whole=False, **how):
    return reader.ask(Query(text, limit=limit, **how), whole=whole)


def test_a_linked_note_of_another_room_is_no_hit(sample, stored):
    for room in ("project_rooms", "chambers", "Grand_Hall"):
        how = {"room": room, "as_of": ASKED, "neighbors": 3}
        found = sample.query("batteries in the cold", limit=10, **how)
        assert paths_of(ask(stored, "batteries in the cold", **how)) == paths_of(found)
        assert all(f"/{room.lower()}/" in hit.path for hit in found)


def test_a_time_leaves_the_same_notes(sample, stored):
    for when in WHEN:
        inside = f'batteries when:"{when}"'
        for text, how in (("batteries", {"when": when}), ("", {"when": when}), (inside, {})):
            found = sample.query(text, limit=30, as_of=ASKED, **how)
            again = ask(stored, text, limit=30, as_of=ASKED, **how)
            assert paths_of(again) == paths_of(found)
            assert again.times == found.times


def test_a_time_that_few_notes_name_is_looked_for_before_words_are(tmp_path, database):
    """Notes that say more of batteries would fill all places of the candidates."""
    (tmp_path / "palace").mkdir()
    many = {f"n{place}": f"# N{place}\n\nbatteries, batteries {place}\n" for place in range(450)}
    write_notes(tmp_path, **many, old="# Old\n\nOn May 5, 2011 the stove and batteries came.\n")
    palace = Palace(tmp_path)
    palace.index(embedder="none")
    with push_and_read(database, palace) as reader:
        for text, how in (("batteries when:2011-05", {}), ("batteries", {"when": "May 2011"})):
            assert [hit.title for hit in ask(reader, text, **how)] == ["Old"]


SETTINGS = """
half_life_days: 2000
locale: en-GB
profile: compound
"""


def test_the_settings_of_a_palace_are_those_of_its_store(sample, database):
    sample.paths.settings.write_text(SETTINGS, "utf-8")
    palace = Palace(sample.paths.root)
    store = Store(database, palace)
    store.push()
    assert not store.push().is_new
    with StoreReader(store.address) as reader:
        asked = ("batteries in the cold", {}), ("mast", {"profile": "raw"})
        listed = "", {"type": "project", "profile": "compound"}
        for text, how in (listed, *asked, ("batteries", {"when": "since 3/4/2026"})):
            found = palace.query(text, limit=10, as_of=ASKED, **how)
            again = ask(reader, text, as_of=ASKED, **how)
            assert paths_of(again) == paths_of(found)
            assert (again.profile, again.times) == (found.profile, found.times)
        assert found.times[0].first.month == 4
        with pytest.raises(UsageError, match="no profile"):
            ask(reader, "mast", profile="nobodys")
    sample.paths.settings.unlink()
    store.palace = Palace(sample.paths.root)
    assert store.push().is_new
    with StoreReader(store.address) as reader:
        assert ask(reader, "mast", as_of=ASKED).profile == "hybrid"
    store.connection.close()


def test_what_a_store_says_of_settings_is_checked():
    found = read_settings({"embedder": "llm:theirs", "max_note_bytes": -1}, "store")
    assert found.embedder is None
    with pytest.raises(ConfigError, match=r"^store:"):
        read_settings({"half_life_days": "soon"}, "store")


def test_whole_passages_are_read_from_a_store(sample, database):
    sample.index(embedder="hashing", structure=True)
    with push_and_read(database, sample) as reader:
        found = sample.query("batteries in the cold", as_of=ASKED)
        again = ask(reader, "batteries in the cold", limit=5, as_of=ASKED, whole=True)
        assert paths_of(again) == paths_of(found)
        whole = show_whole(found.hits, sample.snapshot(), sample.paths)
        texts = [hit.text for hit in whole]
        assert [hit.text for hit in again] == texts
        assert max(map(len, texts)) > max(len(hit.text) for hit in found)
        for profile in ("structured", "anchors"):
            with pytest.raises(UsageError, match=f"^the profile {profile} .* --profile hybrid$"):
                ask(reader, "stove", profile=profile)


@pytest.fixture
def command(sample, database, monkeypatch, capsys, tmp_path):
    """Run a command where the sample palace is registered as a folder and as a store."""
    store = Store(database, sample)
    store.push()
    store.connection.close()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    address = f"{store.address.url}#{store.address.palace}"
    for name, place in (
        ("own", [str(tmp_path)]),
        ("team", ["--store", address]),
        ("gone", ["--store", "postgresql:///nowhere?host=/nowhere#gone"]),
    ):
        assert run_main(capsys, "config", "register", name, *place)[0] == 0
    return lambda *line: run_main(capsys, "query", *line)


def test_the_command_shows_a_store_as_it_shows_a_folder(command, tmp_path):
    for line in (["--full"], ["--full", "--budget", "900"], ["-k", "2", "--details"], ["#no"]):
        asked = ["batteries", "in the cold", "--as-of", ASKED, *line]
        here = command(*asked, "-C", str(tmp_path))
        there = command(*asked, "--store", "team")
        said = here[0], here[1].replace(f"{tmp_path}/", ""), here[2]
        if "--details" in line:  # scores differ in the third digit
            figure = re.compile(r" *\d+\.\d+")
            said, there = ([figure.sub(" N", str(one)) for one in each] for each in (said, there))
        assert there == said
    status, _, err = command("batteries", "--store", "team", "--in", "project_rom")
    assert status == 2 and "did you mean" in err
    status, _, err = command("batteries", "--store", "team", "--room", "archive_basement")
    assert status == 2 and "--include-cold" in err
