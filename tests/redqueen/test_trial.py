"""The check by retrieval, and what an applied round leaves of a note's prose."""

from __future__ import annotations

import re

import pytest

from memory_palace.changes.changing import read_notes
from memory_palace.changes.overlay import overlay
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.document import parse_document
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.palace import Palace
from memory_palace.redqueen.askings import Asking
from memory_palace.redqueen.patching import patch_note
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.trial import try_proposals

DRYING = (
    "Drying grain takes the water out of what was harvested, before mould does its work. The hull "
    "of every kernel gives way slowly, so warm air has to pass for hours, and whoever hurries "
    "cracks the kernels. Stir twice a day, and measure at night when the hall is cool."
)
NOTES = {
    "grain drying": f"# Grain drying\n\n{DRYING}\n",
    "silo": "The silo is filled in August. We begin with [[grain drying]], kernels and warm air.\n",
    "market": "Prices follow the weather. They follow [[grain drying]] and its mould.\n",
    "winter": "Snow lay on the roof until March. Nobody came but [[grain drying]] people.\n",
    "barn": "---\ntags: [b]\n# kept\n---\n\nThe barn is red.\r\n\r\nWarm air dries the harvested "
    "kernels, so it is used for grain drying at night.\r\n",
    "bees": "# Bees\n\nThe hives stand behind the wall and hum.\n",
    "till": "# Point of purchase\n\nWhere customers pay for what they take home.\n",
}


@pytest.fixture
def palace(tmp_path):
    rooms = tmp_path / "palace" / "chambers"
    rooms.mkdir(parents=True)
    for stem, text in NOTES.items():
        (rooms / f"{stem}.md").write_bytes(text.encode())
    made = Palace(tmp_path)
    made.index(embedder="hashing")
    return made


def path(stem):
    return f"palace/chambers/{stem}.md"


def attempt(palace, *proposals, askings=()):
    return try_proposals(palace, read_notes(palace), proposals, askings)


def test_an_overlay_answers_as_if_a_note_said_more_and_writes_nothing(palace):
    before = {p: p.read_bytes() for p in palace.paths.root.rglob("*") if p.is_file()}
    document = read_notes(palace).documents[path("bees")]
    data = patch_note(document, [RoundProposal("alias", path("bees"), "zymurgy crossing")])
    with overlay(palace, {path("bees"): data}) as changed:
        found = changed.query("zymurgy crossing").hits
    assert found[0].path == path("bees")
    assert not any(hit.score > 100 for hit in palace.query("zymurgy crossing").hits)
    assert {p: p.read_bytes() for p in palace.paths.root.rglob("*") if p.is_file()} == before


def test_a_name_is_kept_that_brings_its_note_first(palace):
    fits = RoundProposal("acronym", path("till"), "POP")
    assert attempt(palace, fits) == [fits]


def test_a_name_is_refused_that_another_note_has(palace):
    assert attempt(palace, RoundProposal("acronym", path("till"), "Bees")) == []


def test_a_name_is_refused_that_its_note_says_nothing_of(palace):
    assert attempt(palace, RoundProposal("alias", path("bees"), "warm air for kernels")) == []


def test_a_question_is_refused_that_finds_its_note_first_already(palace):
    asked = "Why do the hives hum behind the wall?"
    assert attempt(palace, RoundProposal("question", path("bees"), asked)) == []


def test_a_link_is_kept_where_the_words_around_it_lead_to_its_target(palace):
    line = (
        NOTES["barn"]
        .replace("\r", "")
        .split("\n")
        .index("Warm air dries the harvested kernels, so it is used for grain drying at night.")
    )
    fits, strays = (
        RoundProposal("link", path("barn"), "grain drying", line + 1, target, written="[[x]]")
        for target in (path("grain drying"), path("till"))
    )
    assert attempt(palace, fits, strays) == [fits]


def test_what_takes_a_note_from_the_first_five_is_refused(palace, tmp_path):
    for number in range(6):
        (tmp_path / "palace" / "chambers" / f"hum {number}.md").write_text(
            f"# Hum {number}\n\nSome note of the year {number}.\n"
        )
    palace.index()
    names = [RoundProposal("acronym", path(f"hum {n}"), "hives stand wall") for n in range(6)]
    asking = Asking("hives stand wall", (path("bees"),), "golden")
    assert len(attempt(palace, *names)) == 1
    assert attempt(palace, *names, askings=[asking]) == []


def shown(data):
    text = data.decode().replace("\r\n", "\n")
    return strip_markup(text[split_front_matter(text).end :])


def test_an_applied_round_leaves_the_prose_of_every_note(palace):
    before = {p: d.data for p, d in read_notes(palace).documents.items()}
    done = palace.redqueen.run(limit=None, apply=True)
    after = {p: d.data for p, d in read_notes(palace).documents.items()}
    assert [p.written for p in done.proposals if p.kind == "link"] == ["[[grain drying]]"]
    assert set(done.outcome.paths) == {p for p in after if after[p] != before[p]}
    assert {p: shown(data) for p, data in after.items()} == {
        p: shown(data) for p, data in before.items()
    }
    assert b"grain drying]] at night.\r\n" in after[path("barn")]
    assert (
        re.sub(rb"\[\[(grain drying)\]\] at", rb"\1 at", after[path("barn")])
        == before[path("barn")]
    )


def patched(text, *proposals):
    document = parse_document("a.md", text.encode())
    assert document is not None
    return patch_note(document, proposals).decode()


def link(text, line, written="[[b]]"):
    return RoundProposal("link", "a.md", text, line, "b.md", written=written)


def test_a_link_goes_into_its_line_and_no_other_byte_changes():
    text = "\ufeffHum and hum.\r\nThe hum, `hum`.\n\n---\nlast hum"
    assert patched(text, link("Hum", 1)) == text.replace("Hum", "[[b]]")
    assert patched(text, link("hum", 5)) == text.replace("last hum", "last [[b]]")
    assert patched(text, link("hum", 3)) == patched(text, link("hum", 99)) == text


def test_a_note_gets_links_and_names_at_once():
    text = "---\n# mine\ndate: 2026-01-02\n---\n\nThe hum.\n"
    names = RoundProposal("alias", "a.md", "buzz")
    assert patched(text, link("hum", 6), names) == (
        "---\n# mine\ndate: 2026-01-02\naliases: [buzz]\n---\n\nThe [[b]].\n"
    )
