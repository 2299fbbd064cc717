from __future__ import annotations

from datetime import date

import pytest

from memory_palace.errors import PalaceError
from memory_palace.mnemonics.verification_tokens import find_tokens
from memory_palace.notes.document import parse_document
from memory_palace.redqueen.evolver import patch_note
from memory_palace.redqueen.examined import examine
from memory_palace.redqueen.round_values import Evolution

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


def patch(text, **what):
    return patch_note(document(text), Evolution("palace/chambers/a.md", **what)).decode()


def test_the_anchor_item_of_the_form_is_extended_and_nothing_else():
    after = patch(FORM, anchors=("wet sleeve",))
    assert after == FORM.replace("- Anchor: spider", "- Anchor: spider, wet sleeve")


def test_a_plain_note_gets_a_section_at_its_end():
    assert patch("# A\n\nText.\n", anchors=("one two", "three")) == (
        "# A\n\nText.\n\n## Anchors\n\n- one two\n- three\n"
    )


def test_a_section_of_anchors_is_extended_in_place():
    first = "# A\n\nText.\n\n## Anchors\n\n- one\n\n## Links\n\n- [[b]]\n"
    assert patch(first, anchors=("two",)) == first.replace("- one\n", "- one\n- two\n")


@pytest.mark.parametrize(
    "text",
    ["# A\n\nText.", "Text.\n", "# A\n\nText.\n\n\n", FORM, "---\ntitle: A\n---\nText.\n", "x"],
)
def test_what_is_written_is_read_back_and_never_written_twice(text):
    once = patch(text, anchors=("one two", "three"))
    assert set(seen(once).cue.anchors) >= {"one two", "three"}
    assert patch(once, anchors=("One two", "three")) == once
    for line in text.splitlines():
        assert line.replace("spider", "") in once.replace("spider", "")


def test_line_ends_stay_what_they_were():
    after = patch("# A\r\n\r\nText.\r\n", anchors=("one",))
    assert after.count("\n") == after.count("\r\n") == 7


def test_a_heading_in_a_fence_is_no_section():
    text = "# A\n\n```\n## Anchors\n- not one\n```\n\nText.\n"
    assert patch(text, anchors=("one",)).endswith("Text.\n\n## Anchors\n\n- one\n")


def test_an_image_prompt_is_a_comment_and_no_image():
    after = patch(FORM, image_prompt="make the spider huge --> <!-- ## x")
    assert "[Verify: violet raincoat]\n\n<!-- image prompt: make the spider huge" in after
    assert seen(after).cue.image == seen(FORM).cue.image
    assert after.count("-->") == 1


def test_a_new_image_keeps_the_token_and_cannot_bring_another():
    after = patch(FORM, image="You hold\n## Fake\na net. [Verify: forged token]")
    assert "[Verify: violet raincoat]" in after
    assert "forged" not in after
    assert "## Fake" not in after
    assert "lift a spider" not in after


def test_a_plain_note_gets_no_image():
    assert patch("# A\n\nText.\n", image_prompt="draw", image="x") == "# A\n\nText.\n"


def test_aliases_go_into_the_front_matter_once():
    after = patch("---\naliases: [b]\n---\n# A\n", aliases=("B", "c"))
    assert after == "---\naliases: [b, c]\n---\n# A\n"


def test_a_note_that_is_not_utf8_is_refused_by_name():
    found = parse_document("palace/a.md", b"# A\n\n\xff\xfe text\n")
    with pytest.raises(PalaceError, match=r"palace/a\.md is not UTF-8"):
        patch_note(found, Evolution("palace/a.md", anchors=("x",)))


def test_no_role_learns_a_token():
    found = str(seen(FORM + "\n## Verification\n\n[Verify: second one]\n"))
    assert "It sticks" in found and "violet" not in found and "second" not in found


def test_a_token_over_a_line_end_is_kept_when_the_image_is_replaced():
    broken = FORM.replace("violet raincoat]", "violet\nraincoat]")
    after = patch(broken, image="You hold a net. [Verify: forged\ntoken]")
    assert find_tokens(after) == find_tokens(broken) == ("violet raincoat",)
    assert "You hold a net." in after and "lift a spider" not in after


def test_the_sections_of_the_form_are_neither_asked_about_nor_evolved():
    factors = "## SMASHIN SCOPE\n\n- [x] Movement: unroll\n\n## Metadata"
    text = FORM.replace("## Metadata", factors) + "\n## Anchors\n\n- purple unicorn\n"
    assert seen(text).content == "It sticks."
    assert seen(text).cue.anchors == ("spider", "purple unicorn")
