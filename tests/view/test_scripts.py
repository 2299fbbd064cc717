"""How the scripts of the page are kept: small, and without a way to turn text into markup."""

import re
from importlib.resources import files

import pytest

PAGE = files("memory_palace.features.view") / "page"
SCRIPTS = {
    name: (PAGE / name).read_text("utf-8")
    for name in sorted(file.name for file in PAGE.iterdir())
    if name.endswith(".js")
}
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|createContextualFragment"
    r"|DOMParser|\beval\(|new Function|srcdoc|\.onclick|setAttribute\(\"on|import\("
)
OUTWARD = re.compile(
    r"localStorage|sessionStorage|document\.cookie|XMLHttpRequest|WebSocket|sendBeacon"
)


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_turns_text_into_markup_or_leaves_anything_behind(name):
    assert MARKUP.findall(SCRIPTS[name]) == []
    assert OUTWARD.findall(SCRIPTS[name]) == []


@pytest.mark.parametrize("name", sorted(SCRIPTS.keys() - {"live.js"}))
def test_only_the_live_page_asks_a_server(name):
    assert "fetch(" not in SCRIPTS[name]


def test_every_script_and_every_style_is_part_of_the_page():
    from memory_palace.features.view import page

    kept = {file.name for file in PAGE.iterdir()}
    named = {name for name in (*page.SCRIPTS, *page.STYLES) if "/" not in name}
    assert kept - {"index.html"} == named
