"""Quoted words must stand in the passage, and a tag narrows a question."""

import json
import os

import pytest
from writing_notes import write_notes

from memory_palace.cli.app import main
from memory_palace.palace import Palace
from memory_palace.retrieval.quotes import find_quoted

NOTES = {
    "order.md": "# Order\n\nThe gauge was\nre-levelled by *the* [old keeper](https://a.b/c) "
    "in June.\n",
    "shuffled.md": "The old keeper re-levelled the gauge, by June. " * 9,
    "long.md": "\n\n".join(f"## Part {n}\n\n" + f"Filler {n} words here. " * 30 for n in range(9))
    + "\n\n## Last\n\nA very rare plum tree stands there.\n",
    "accents.md": "Der Café-Tisch am Seeufer war leer.",
    "japanese.md": "ハルデ谷の霧は朝に\n濃くなる。",
    "wiki.md": "We went to [[order|the broken gauge]] at noon.",
    "hidden.md": "Words. <private>secret plum cake</private> %% secret pear cake %%",
    "named.md": "---\ntitle: Quarterly Frost Report\ntags: [reports/frost]\n---\nNothing else.",
    "tagged.md": "Snow fell. #Reports/snow #winter",
    "winter.md": "Snow and more snow, and winter, and reports. " * 3,
}


@pytest.fixture(scope="module")
def palace(tmp_path_factory: pytest.TempPathFactory) -> Palace:
    palace = Palace.init(tmp_path_factory.mktemp("quotes"))
    write_notes(palace.paths.notes / "chambers", NOTES)
    palace.index(embedder="hashing")
    return palace


def found(palace: Palace, text: str, **options: object) -> list[str]:
    hits = palace.query(text, neighbors=0, limit=10, **options)
    return [hit.path.rpartition("/")[2] for hit in hits]


BOTH = pytest.mark.parametrize("lexical", [False, True])


@BOTH
@pytest.mark.parametrize(
    ("quote", "name"),
    [
        ("gauge was re-levelled by the", "order.md"),
        ("GAUGE   was re levelled", "order.md"),
        ("by the old keeper in June", "order.md"),
        ("a very rare plum", "long.md"),
        ("cafe tisch am", "accents.md"),
        ("朝に濃く", "japanese.md"),
        ("to the broken gauge at noon", "wiki.md"),
        ("quarterly frost report", "named.md"),
    ],
)
def test_quoted_words_must_stand_in_that_order(palace, quote, name, lexical):
    result = palace.query(f'when "{quote}" gauge snow', neighbors=0, lexical=lexical)
    assert [hit.path.rpartition("/")[2] for hit in result] == [name]
    assert result.unmatched_quotes == ()


@BOTH
def test_the_passage_with_the_quote_answers(palace, lexical):
    (hit,) = palace.query('"rare plum tree" words', lexical=lexical, neighbors=0)
    assert hit.chunk.first_line <= NOTES["long.md"].count("\n") <= hit.chunk.last_line + 1


@BOTH
def test_a_quote_that_no_note_holds_is_said_and_its_words_are_searched(palace, lexical, capsys):
    result = palace.query('"keeper the old gauge"', lexical=lexical)
    assert result.unmatched_quotes == ("keeper the old gauge",) and result.hits
    main(["-C", str(palace.paths.root), "query", '"keeper the old gauge"', "--json"])
    out, err = capsys.readouterr()
    assert json.loads(out)["unmatched_quotes"] == ["keeper the old gauge"]
    assert 'no note holds "keeper the old gauge"' in err


def test_of_two_quotes_both_count_or_the_one_that_is_held(palace):
    assert found(palace, '"the gauge was" "in June"') == ["order.md"]
    result = palace.query('"the gauge was" "purple rain"', neighbors=0)
    assert [hit.title for hit in result] == ["Order"]
    assert result.unmatched_quotes == ("purple rain",)


def test_what_is_private_is_no_quote(palace):
    for quote in ("secret plum cake", "secret pear cake"):
        assert palace.query(f'"{quote}"').unmatched_quotes == (quote,)


@pytest.mark.parametrize("become", ["link", "pipe", "folder", "gone"])
def test_what_is_no_note_any_more_holds_no_quote(tmp_path, become):
    """A link that leads out of the palace would say what stands elsewhere, a pipe would wait."""
    outside = tmp_path / "outside.md"
    outside.write_text("The plum jam is in the cellar.", "utf-8")
    palace = Palace.init(tmp_path / "palace")
    note = palace.paths.notes / "chambers" / "jam.md"
    note.write_text("The plum jam is in a jar, and in the cellar is none.", "utf-8")
    palace.index(embedder="hashing")
    assert palace.query('"plum jam is in a jar"').unmatched_quotes == ()
    note.unlink()
    make = {"link": lambda: note.symlink_to(outside), "pipe": lambda: os.mkfifo(note)}
    make |= {"folder": note.mkdir, "gone": lambda: None}
    make[become]()
    quote = "plum jam is in the cellar"
    assert palace.query(f'"{quote}"').unmatched_quotes == (quote,)


def test_marks_of_inches_and_apostrophes_quote_nothing():
    assert find_quoted("a 5\" pipe isn't 'one two' of mine") == []
    assert find_quoted('“one two” „drei vier“ «cinq six» 「七八」 "nine"') == [
        "one two", "drei vier", "cinq six", "七八", "nine",
    ]  # fmt: skip


@BOTH
def test_a_tag_in_a_question_narrows_it_to_the_tagged(palace, lexical):
    assert set(found(palace, "#reports", lexical=lexical)) == {"named.md", "tagged.md"}
    assert found(palace, "snow #reports/SNOW", lexical=lexical) == ["tagged.md"]
    assert found(palace, "snow #winter", lexical=lexical) == ["tagged.md"]
    assert palace.query("snow #winter", lexical=lexical).text == "snow #winter"


@BOTH
def test_a_tag_that_no_note_has_is_a_word(palace, lexical):
    assert found(palace, "#snow", lexical=lexical)[0] in {"winter.md", "tagged.md"}
