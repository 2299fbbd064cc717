"""A token that can be had without reading the image is named as such."""

import pytest

from memory_palace.features.memories.form import read_form
from memory_palace.features.memories.verification import VisibleWords, lint_tokens
from memory_palace.notes.document import parse_document

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
    corpus = VisibleWords(dict(enumerate_paths(texts)))
    return [str(flaw) for flaw in lint_tokens(form(marker), corpus, others)]


def enumerate_paths(texts):
    yield "palace/chambers/funnel.md", "The funnel\nA spider.\nA thread makes the bucket stick."
    for at, text in enumerate(texts):
        yield f"palace/chambers/{at}.md", text


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
