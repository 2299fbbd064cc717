from __future__ import annotations

import re
from datetime import date

import pytest

from memory_palace.changes.changing import read_notes
from memory_palace.changes.overlay import overlay
from memory_palace.errors import PalaceError
from memory_palace.features.memories.verification import find_tokens
from memory_palace.features.redqueen.examined import examine
from memory_palace.features.redqueen.proposals import patch_note
from memory_palace.features.redqueen.session import RoundProposal
from memory_palace.markdown.prose import strip_markup
from memory_palace.notes.document import parse_document
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.palace import Palace

FORM = """\
---
title: Thread
---
# Thread

- Locus: the mast
- Anchor: spider

## Image

You lift a spider. [Verify: violet raincoat]

## Content

It sticks.

## Metadata

SMASHIN 8/12, confidence 3/5
"""


def document(text, path="palace/chambers/a.md"):
    found = parse_document(path, text.encode())
    assert found is not None
    return found


def seen(text):
    return examine(document(text), today=date(2026, 11, 1))


def patch(text, *pairs):
    proposals = [RoundProposal(kind, "palace/chambers/a.md", what) for kind, what in pairs]
    return patch_note(document(text), proposals).decode()


def test_a_new_image_keeps_the_token_and_cannot_bring_another():
    after = patch(FORM, ("image", "You hold\n## Fake\na net. [Verify: forged token]"))
    assert "[Verify: violet raincoat]" in after
    assert "forged" not in after
    assert "## Fake" not in after
    assert "lift a spider" not in after


def test_a_plain_note_gets_no_image():
    assert patch("# A\n\nText.\n", ("image", "x")) == "# A\n\nText.\n"


def test_names_and_questions_go_into_the_front_matter_once():
    text = "---\naliases: [b]\n---\n# A\n"
    assert patch(text, ("alias", "B"), ("alias", "c"), ("alias", "c")) == (
        "---\naliases: [b, c]\n---\n# A\n"
    )
    assert 'questions: ["why not?"]' in patch(text, ("question", "why not?")).replace("'", '"')


def test_a_note_that_is_not_utf8_is_refused_by_name():
    found = parse_document("palace/a.md", b"# A\n\n\xff\xfe text\n")
    with pytest.raises(PalaceError, match=r"palace/a\.md is not UTF-8"):
        patch_note(found, [RoundProposal("alias", "palace/a.md", "x")])


def test_no_role_learns_a_token():
    found = str(seen(FORM + "\n## Verification\n\n[Verify: second one]\n"))
    assert "It sticks" in found and "violet" not in found and "second" not in found


def test_a_token_over_a_line_end_is_kept_when_the_image_is_replaced():
    broken = FORM.replace("violet raincoat]", "violet\nraincoat]")
    after = patch(broken, ("image", "You hold a net. [Verify: forged\ntoken]"))
    assert find_tokens(after) == find_tokens(broken) == ("violet raincoat",)
    assert "You hold a net." in after and "lift a spider" not in after


def test_the_products_own_sections_are_never_examined_at_any_level_of_heading():
    factors = "### SMASHIN SCOPE\n\n- [x] Movement: unroll\n\n#### Why\n\nPurple pulls.\n\n"
    text = FORM.replace("## Metadata", f"{factors}### Metadata")
    text += "\n## Anchors\n\n- purple unicorn\n\n## Links\n\n- related: [[b]]\n"
    assert seen(text).content == "It sticks."
    assert seen(text).cue.anchors == ("spider", "purple unicorn")


def patched(text, *proposals):
    return patch_note(document(text, "a.md"), proposals).decode()


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


def test_an_overlay_answers_as_if_a_note_said_more_and_writes_nothing(palace):
    before = {p: p.read_bytes() for p in palace.paths.root.rglob("*") if p.is_file()}
    document = read_notes(palace).documents[path("bees")]
    data = patch_note(document, [RoundProposal("alias", path("bees"), "zymurgy crossing")])
    with overlay(palace, {path("bees"): data}) as changed:
        found = changed.query("zymurgy crossing").hits
    assert found[0].path == path("bees")
    assert not any(hit.score > 100 for hit in palace.query("zymurgy crossing").hits)
    assert {p: p.read_bytes() for p in palace.paths.root.rglob("*") if p.is_file()} == before


def shown(data):
    text = data.decode().replace("\r\n", "\n")
    return strip_markup(text[split_front_matter(text).end :])


def test_an_applied_round_leaves_the_prose_of_every_note(palace):
    before = {p: d.data for p, d in read_notes(palace).documents.items()}
    done = palace.redqueen.run(limit=None, apply=True)
    after = {p: d.data for p, d in read_notes(palace).documents.items()}
    assert [p.written for p in done.proposals if p.kind == "link"] == ["[[grain drying]]"]
    assert set(done.change.paths) == {p for p in after if after[p] != before[p]}
    assert {p: shown(data) for p, data in after.items()} == {
        p: shown(data) for p, data in before.items()
    }
    assert b"grain drying]] at night.\r\n" in after[path("barn")]
    assert (
        re.sub(rb"\[\[(grain drying)\]\] at", rb"\1 at", after[path("barn")])
        == before[path("barn")]
    )
