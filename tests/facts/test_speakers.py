"""Who says what."""

from __future__ import annotations

import pytest

from memory_palace.language.sentences import find_speakers


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Anna: I am late", ["anna"]),
        ("**Anna Lee:** I am late", ["anna", "lee"]),
        ("- Anna: I am late", ["anna"]),
        ("Émile: bonjour", ["émile"]),
        ("anna: a key of some list", []),
        ("The one thing that Anna said: nothing", []),
        ("at 10:30 we met", []),
        ("https://example.org", []),
    ],
)
def test_a_label_is_short_and_begins_with_a_capital(line, words):
    assert list(find_speakers(line)) == words


def test_every_line_may_have_its_speaker():
    assert list(find_speakers("Anna: yes\nBert: no")) == ["anna", "bert"]
