import json
import unicodedata

import pytest
from evaluation_data import DATA
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.language.visible import escape_hidden, visible

HELP = DATA / "multilingual-help" / "notes"


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


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f Scotland",
        "1\ufe0f\u20e3 \u00a9\ufe0f \U0001f1e9\U0001f1ea \U0001f3f3\ufe0f\u200d\U0001f308",
        "\U0001f9d1\U0001f3fd\u200d\U0001f91d\u200d\U0001f9d1",
        "葛\U000e0100城",
        "שלום\u200f, (עולם)\u200f!",
        "ภาษา\u200bไทย",
        "ᠮᠣᠩ\u180bᠭᠣᠯ",
        "শ্রদ্ধা র\u200d্যাব",
    ],
)
def test_what_a_script_or_an_emoji_needs_stays(text):
    assert visible(text) == text
    assert escape_hidden(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\ufe0f", "a<U+FE0F>"),
        ("\U0001f600\ufe0f\ufe01\U000e0121", "\U0001f600\ufe0f<U+FE01><U+E0121>"),
        ("x\U000e0100", "x<U+E0100>"),
        ("\U0001f3f4\U000e0061\U000e007f", "\U0001f3f4<U+E0061><U+E007F>"),
        ("ü\u200dé", "ü<U+200D>é"),
        ("left\u200fright", "left<U+200F>right"),
        ("a\ufff9b\ufffac\ufffb", "a<U+FFF9>b<U+FFFA>c<U+FFFB>"),
        ("中\u200b文", "中<U+200B>文"),
    ],
)
def test_what_only_hides_something_is_shown(text, shown):
    assert visible(text) == shown


NEEDED = "aא\u0645क中ท\U0001f469\U0001f3f41\u200b\u200c\u200d\u200e\ufe0f\U000e0067\U000e0100\u180b"


@given(st.text(st.sampled_from(NEEDED), max_size=12))
def test_shown_text_stays_as_it_is_whatever_stood_beside_it(text):
    shown = visible(text)
    assert visible(shown) == shown
    assert visible(escape_hidden(text)) == escape_hidden(text)


@pytest.mark.skipif(not HELP.is_dir(), reason="pages in eight languages are not here")
def test_pages_of_others_in_eight_languages_stay_as_they_are():
    pages = sorted(HELP.rglob("*.md"))
    assert len(pages) > 1000
    shown = [
        line
        for page in pages
        for line in page.read_text("utf-8").split("\n")
        if visible(line) != line and "\u200b" not in line
    ]
    assert shown == []
