"""Tokens are matched as words, and are withheld from everything that is indexed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.features.memories.form import find_tokens
from memory_palace.features.memories.verification import drop_token, holds_token
from memory_palace.language.visible import drop_markers, find_markers
from memory_palace.palace import Palace


@pytest.mark.parametrize(
    ("response", "token"),
    [
        ("the heads breathe in turn, two-heads breathe", "two heads breathe"),
        ("It was TWO HEADS\nBREATHE.", "two-heads breathe"),
        ("ｔｗｏ　ｈｅａｄｓ breathe", "Two Heads Breathe"),
        ("two “heads” breathe", "two heads breathe"),
        ("the keeper's brass owl", "keepers brass owl"),
        ("STRASSE der grünen Enten", "Straße der grünen Enten"),
        ("窓の青い傘が回る", "青い傘"),
    ],
)
def test_a_token_is_found_whatever_its_case_hyphens_marks_and_line_ends(response, token):
    assert holds_token(response, token)


@pytest.mark.parametrize(
    ("response", "token"),
    [
        ("there were 147 couples", "47 couples"),
        ("47 coupless", "47 couples"),
        ("breathe two heads", "two heads breathe"),
        ("two green heads breathe", "two heads breathe"),
        ("the résumé of a lamp", "resume of a lamp"),
    ],
)
def test_d3_near_misses_and_parts_of_words_are_no_token(response, token):
    assert not holds_token(response, token)


@pytest.mark.parametrize("token", ["", " ", "—", "!?", "[]"])
def test_d2_a_token_without_words_is_held_by_nothing(token):
    assert not holds_token("anything — at all !? []", token)
    assert not holds_token("", token)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("[Verify: brass owl] and [verify:tin fox]", ("brass owl", "tin fox")),
        ("[Verify: brass\n  owl]", ("brass owl",)),
        ("［Verify：真鍮の梟］", ("真鍮の梟",)),
        ("[Verify:  ] [VERIFY: brass owl] [Verify: brass owl]", ("brass owl",)),
        ("[Verify: open one\nruns on\n\nnot here]", ("open one runs on",)),
        ("[Verify: open one\n## Heading]", ("open one",)),
        ("[verification: no]", ()),
    ],
)
def test_markers_are_found_as_they_are_written(text, tokens):
    assert find_tokens(text) == tokens


@given(st.lists(st.sampled_from(["[Verify: a b]", "[verify:", "]", "\n", "\n\n", "# h", " x "])))
def test_dropping_markers_keeps_every_line_and_leaves_no_marker(parts):
    text = "".join(parts)
    clean = drop_markers(text)
    assert clean.count("\n") == text.count("\n")
    assert list(find_markers(clean)) == []


def test_d14_no_token_reaches_the_index_a_listing_or_a_preview(tmp_path):
    palace = Palace.init(tmp_path)
    note = tmp_path / "palace/reflection_wing/lamp.md"
    note.write_text(
        "---\ntitle: 'Lamp [Verify: zanzibar kettle]'\naliases: ['L [Verify: zanzibar kettle]']\n"
        "---\n# Lamp\n\n## Image\n\nA lamp sings. [Verify: zanzibar\nkettle]\n\n"
        "[Verify: zanzibar kettle\n\n## Content\n\nLamps are lit at dusk. #tag\n",
        "utf-8",
    )
    for number in range(5):
        note.with_name(f"{number}.md").write_text(f"# Gate {number}\n\nThe gate is shut.\n")
    palace.index(embedder="hashing")
    stored = b"".join(p.read_bytes() for p in sorted((tmp_path / "palace/.index").iterdir()))
    stored += (tmp_path / "palace/watchdog_manifest_v1.jsonl").read_bytes()
    assert b"zanzibar" not in stored and b"lit at dusk" in stored
    assert palace.query("zanzibar", lexical=True, neighbors=0).hits == ()
    shown = str(palace.query("lamps at dusk", neighbors=0)) + str(palace.notes())
    assert "lit at dusk" in shown and "kettle" not in shown
    assert "zanzibar" in palace.read("lamp").text  # whoever opens the note sees it


def test_a_token_is_dropped_as_it_is_held():
    text = "It is a Velvet-Anchor\nchoir, ｖｅｌｖｅｔ anchor choir."
    assert drop_token(text, "velvet anchor choir") == "It is a  ,  ."
    assert drop_token("A velvet choir sang.", "velvet anchor choir") == "A velvet choir sang."
    assert drop_token("All stays.", "—") == "All stays."
    assert drop_token("one one one bcd", "one one") == "  one bcd"
