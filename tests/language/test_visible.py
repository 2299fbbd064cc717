from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.language.visible import escape_hidden, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("red \x1b[31m", "red <U+001B>[31m"),
        ("a\rb\x00", "a<U+000D>b<U+0000>"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("pass\u200bword", "pass<U+200B>word"),
        ("pass\u200dword", "pass<U+200D>word"),
        ("\ufeffx\u2066y\u2069", "<U+FEFF>x<U+2066>y<U+2069>"),
        ("tag\U000e0041", "tag<U+E0041>"),
        ("lone \ud800", "lone <U+D800>"),
        ("line\u2028end", "line<U+2028>end"),
    ],
)
def test_what_a_terminal_would_obey_or_hide_is_shown(text, shown):
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\ttext, Grüße, Здравствуй, שלום, 東京",
        "e\u0301 combining",
        "\U0001f469\u200d\U0001f4bb \u2764\ufe0f\u200d\U0001f525",
        "می\u200cخواهم",
        "क्\u200dष",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert visible(text) == text


@given(st.text())
def test_shown_text_can_be_printed_and_is_stable(text):
    shown = visible(text)
    assert visible(shown) == shown
    shown.encode()
    kept = {c for c in shown if unicodedata.category(c) in ("Cc", "Cs")}
    assert kept <= {"\n", "\t"}
    directions = {
        c
        for c in shown
        if unicodedata.bidirectional(c)
        in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    }
    assert directions == set()


@given(st.text(st.characters(), max_size=40))
def test_json_means_the_same_and_holds_nothing_that_a_terminal_obeys(text):
    shown = escape_hidden(json.dumps({text: text}, ensure_ascii=False))
    assert json.loads(shown) == {text: text}
    assert visible(shown) == shown
    shown.encode()


def test_c1_controls_and_lone_surrogates_are_escaped_in_json():
    shown = escape_hidden(json.dumps("\x9b31m \u202e \ud800 \U000e0041", ensure_ascii=False))
    assert shown == '"\\u009b31m \\u202e \\ud800 \\udb40\\udc41"'
