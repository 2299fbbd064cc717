"""The languages of the settings decide what words an index holds, and touch no vector."""

import pytest
from writing_notes import write_notes

from memory_palace.errors import WrongEmbedderError
from memory_palace.features.asking.screen import find_marks
from memory_palace.index.commit import has_same_vectors
from memory_palace.palace import Palace

NOTES = {
    "haus.md": "# Bau\n\nDie Häuser am Hang sind verkauft.\n",
    "garten.md": "# Garten\n\nDer Zaun ist neu, das Tor noch alt.\n",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / ".palace").mkdir()
    write_notes(tmp_path, NOTES)
    Palace(tmp_path).index(embedder="hashing")
    return tmp_path


def name_languages(folder, listed):
    (folder / ".palace" / "palace.yaml").write_text(f"languages: {listed}\n")
    return Palace(folder)


def test_a_form_that_only_german_knows_is_found_and_marked(folder):
    asked = "dem Hause"
    before = Palace(folder).query(asked, lexical=True)
    assert not any(
        part.value for hit in before for part in hit.contributions if part.signal == "lexical"
    )
    palace = name_languages(folder, "[de]")
    palace.index()
    found = palace.query(asked, lexical=True)
    assert found.hits[0].path == "haus.md"
    assert "Häuser" in found.hits[0].text
    text = NOTES["haus.md"]
    assert [text[a:b] for a, b in find_marks(text, asked, found.languages)] == ["Häuser"]
    assert not palace.query('"Häuser am Hang"', lexical=True).unmatched_quotes
    assert palace.doctor().findings == ()


def test_other_languages_are_said_and_the_index_made_again_without_a_vector(folder):
    palace = name_languages(folder, "[en, de]")
    with pytest.raises(WrongEmbedderError, match=r"other languages.*`palace index`"):
        palace.query("Haus")
    report = palace.index()
    assert (report.embedded, report.reused) == (0, 2)
    assert palace.snapshot().languages == ("de", "en")
    again = name_languages(folder, "[de, en]")
    assert again.query("Haus").hits
    assert again.index().reused == 0


def test_an_index_of_an_older_tokenizer_has_the_same_vectors():
    assert has_same_vectors("hashing|sections-6|words-1|plain-4", "hashing|sections-6|words-4+de|x")
    assert not has_same_vectors("hashing|sections-5|words-1|x", "hashing|sections-6|words-1|x")


def test_a_locale_reads_days_of_names_anew_and_those_of_a_filter(folder):
    (folder / "4-3-2026 Dach.md").write_text("Das Dach ist dicht.\n", "utf-8")
    (folder / "Lauf.md").write_text("We ran on 4/3/2026 in rain.\n", "utf-8")
    palace = Palace(folder)
    palace.index()
    for locale, month in (("en-GB", "2026-03"), ("en-US", "2026-04")):
        (folder / ".palace" / "palace.yaml").write_text(f"locale: {locale}\n")
        palace = Palace(folder)
        report = palace.index()
        assert report.embedded == 0
        for when in (month, "4/3/2026"):
            assert [hit.path for hit in palace.query("Dach", when=when)] == ["4-3-2026 Dach.md"]
        [named] = palace.query("who ran in the rain", when=month, limit=1, neighbors=0)
        assert named.path == "Lauf.md"
        other = "2026-04" if month == "2026-03" else "2026-03"
        assert not palace.query("who ran in the rain", when=other, neighbors=0).hits
