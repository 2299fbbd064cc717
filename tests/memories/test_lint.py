"""Lint says what a person should mend in a memory, and what is only advice."""

from __future__ import annotations

from memory_palace.features.memories.form import read_form
from memory_palace.features.memories.verification import VisibleWords, lint_memory
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


def lint(text, *others):
    form = read_form(parse_document("palace/chambers/a.md", text.encode()))
    return lint_memory(form, VisibleWords({}), [form, *others])


def said(text):
    return [(flaw.message, flaw.is_error) for flaw in lint(text)]


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
