"""Lint says what a person should mend in a memory and its token, and what is only advice."""

from __future__ import annotations

import pytest

from memory_palace.features.memories.form import read_form
from memory_palace.features.memories.verification import VisibleWords, lint_memory, lint_tokens
from memory_palace.notes.document import parse_document

SOUND = f"""---
type: memory
---
# The funnel

- Anchor: stuck bucket

## Image

{"A spider in a raincoat hums on the bucket. " * 8}[Verify: velvet anchor choir]

## Content

{"A thread makes the bucket stick at half and then no rain is shown. " * 5}

## Metadata

confidence 3/5
"""


def said(text):
    form = read_form(parse_document("palace/chambers/a.md", text.encode()))
    return [(flaw.message, flaw.is_error) for flaw in lint_memory(form, VisibleWords({}), [form])]


def test_a_sound_memory_has_no_flaw():
    assert said(SOUND) == []


def test_missing_sections_and_impossible_figures_are_errors():
    found = said(SOUND.replace("## Content", "## Text").replace("3/5", "9/5, SMASHIN 14/12"))
    assert [is_error for _, is_error in found] == [True, True, True]
    assert "section Content" in found[0][0] and "out of range" in found[1][0]


def test_a_score_that_its_marks_do_not_bear_out_is_an_error():
    marks = "## SMASHIN SCOPE\n\n- [x] Color: red\n- [ ] Humor\n\n## Metadata\n\nSMASHIN 5/12, "
    ((message, is_error),) = said(SOUND.replace("## Metadata\n\n", marks))
    assert is_error and "5/12 is stated, 1 are marked" in message


def test_sizes_tokens_and_anchors_are_advice():
    text = SOUND.replace("[Verify: velvet anchor choir]", "").replace("- Anchor: stuck bucket", "")
    found = said(text.replace("A spider in a raincoat hums on the bucket. " * 8, "A spider."))
    assert [is_error for _, is_error in found] == [False, False, False]
    assert "9 characters of image" in found[0][0] and "no token" in found[2][0]


NOTE = """---
title: The funnel
type: memory
---
## Image

A spider. {}

## Content

A thread makes the bucket stick.
"""


def form(marker, path="palace/chambers/funnel.md"):
    return read_form(parse_document(path, NOTE.format(marker).encode()))


def messages(marker, *, texts=(), others=()):
    corpus = {f"palace/chambers/{at}.md": text for at, text in enumerate(texts)}
    corpus["palace/chambers/funnel.md"] = "The funnel\nA spider.\nA thread makes the bucket stick."
    return [str(flaw) for flaw in lint_tokens(form(marker), VisibleWords(corpus), others)]


def test_a_sound_token_has_no_flaw():
    assert messages("[Verify: violet raincoat seesaw]") == []


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("[Verify:  ]", "is blank"),
        ("[Verify: —]", "is blank"),
        ("[Verify: violet raincoat", "is not closed"),
        ("[Verify: the seesaw]", "fewer than 2 meaningful words"),
        ("[Verify: stick the bucket]", "consists of words of its own memory"),
        ("[Verify: bucket stick]", "stands in the text of palace/chambers/funnel.md"),
    ],
)
def test_d4_blank_open_short_and_guessable_tokens_are_errors(marker, said):
    found = messages(marker)
    assert len(found) == 1 and said in found[0]
    assert found[0].startswith("palace/chambers/funnel.md:7: ")


def test_a_token_that_another_note_says_or_another_memory_has_is_an_error():
    twin = form("[Verify: Violet raincoat]", path="palace/chambers/twin.md")
    found = messages(
        "[Verify: violet raincoat seesaw]", texts=["A violet raincoat-seesaw."], others=[twin]
    )
    assert "also the token of palace/chambers/twin.md" in found[0]
    assert "stands in the text of palace/chambers/0.md" in found[1]


def test_d14_no_message_gives_a_token_away():
    shown = messages("[Verify: violet raincoat seesaw]", texts=["violet raincoat seesaw"])
    assert shown and not any("seesaw" in message for message in shown)
