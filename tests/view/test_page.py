"""The page as one file."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from making_plans import make_plan

from memory_palace.features.view.page import content_policy, digest, render


class Elements(HTMLParser):
    """Every element with its attributes, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] in ("script", "style"):
            self.texts.append((self.found[-1][0], data))


def read_page(**changes: object) -> tuple[str, Elements]:
    page = render(replace(make_plan(20), **changes)).decode()  # type: ignore[arg-type]
    return page, Elements(page)


def test_the_policy_comes_first_and_names_the_script_and_the_style_that_are_there() -> None:
    page, elements = read_page()
    assert elements.found[2] == (
        "meta",
        {"http-equiv": "Content-Security-Policy", "content": content_policy(is_live=False)},
    )
    for tag in ("script", "style"):
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        assert [
            f"{tag}-src '{digest(text)}'" in content_policy(is_live=False) for text in inline
        ] == [True]


def test_nothing_is_loaded_and_nothing_is_inline_that_a_policy_refuses() -> None:
    _, elements = read_page()
    for tag, attributes in elements.found:
        assert not {
            name for name in attributes if name.startswith("on") or name in ("style", "src")
        }
        assert not (attributes.get("href") or "#").startswith(("http", "//")), tag


def test_the_title_of_a_palace_is_text_and_not_markup() -> None:
    page, elements = read_page(title='</title><script>alert(1)</script>{{data}}"')
    assert "<script>alert" not in page
    assert [attributes for tag, attributes in elements.found if tag == "script"][-1] == {}


def test_no_part_of_the_script_ends_its_element() -> None:
    page, _ = read_page()
    assert page[page.rindex("<script>") :].count("</script") == 1


def test_the_same_plan_gives_the_same_bytes() -> None:
    assert render(make_plan(50)) == render(make_plan(50))


def test_a_live_page_holds_no_texts_and_may_ask_its_server_only() -> None:
    page = render(make_plan(20), live="/t/").decode()
    assert 'id="packed-0"' in page
    assert 'id="packed-1"' not in page
    assert 'data-live="/t/"' in page
    assert "connect-src 'self'" in page
    assert "connect-src" not in render(make_plan(20)).decode()
