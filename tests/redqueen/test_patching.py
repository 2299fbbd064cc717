from datetime import date

import pytest

from memory_palace.errors import PalaceError
from memory_palace.features.memories.form import find_tokens
from memory_palace.features.redqueen.rounds import patch_note
from memory_palace.features.redqueen.session import RoundProposal, examine
from memory_palace.notes.document import parse_document

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
