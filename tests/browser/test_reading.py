"""A note is read in its panel as its writer meant it, and leads where it says."""

import pytest
from browser.hostile_vault import LINKS
from browser.looking import show_note
from browser.watching import NARROW, expect
from making_plans import write_page

pytestmark = pytest.mark.browser

FORMS = """
# Forms

> [!warning]- Mind the gap
> It is **wide**.

- [ ] open
- [x] done
  1. nested

| a | b |
|---|--:|
| [[Other#Part two\\|the other]] | 1<br>2 |

First line
second line with ==light==, `code`, $x^2$, #tag/sub, C#7 and [^1].

$$
e = mc^2
$$

![[Other]] ![[sea.png|500]] ![a wave|80x60](https://example.org/wave.png)
[[Nowhere]] <b>bold</b><blink>, plain</blink> ^block

[^1]: The note at the foot.

```python
print("[[Other]]")
```
"""
OTHER = "# Other\n\n" + "Some words.\n\n" * 60 + "## Part *two*\n\nHere.\n"


def build(tmp_path, *texts, links=()):
    """Return a page of notes with these texts; the first has the links."""
    first, *others = ({"text": text} for text in texts)
    return write_page(tmp_path, {**first, "links": links}, *others, count=3)


def open_note(page, path):
    show_note(page, path)
    return page.locator("#note")


def read_forms(watch, tmp_path):
    file, paths = build(tmp_path, FORMS, OTHER, links=(("Other", 1),))
    page = watch.open(file)
    return page, open_note(page, paths[0])


def test_what_obsidian_adds_is_shown_as_it_is_meant(watch, tmp_path):
    _, note = read_forms(watch, tmp_path)
    expect(note.locator("details.callout > summary")).to_have_text("Mind the gap")
    assert note.locator("input.task").evaluate_all("all => all.map(b => b.checked)") == [
        False,
        True,
    ]
    assert note.locator("li li").inner_text() == "nested"
    assert note.locator("td").all_inner_texts() == ["the other", "1\n2"]
    assert note.locator("td.align-right").count() == 1
    assert note.locator("mark").inner_text() == "light"
    assert note.locator(".math").all_text_contents() == ["x^2", "e = mc^2"]
    assert note.locator("button.tag").all_inner_texts() == ["#tag/sub"]
    assert note.locator(".footnote-text").inner_text() == "1 The note at the foot."
    assert note.locator(".picture").all_inner_texts() == ["sea.png", "a wave"]
    assert note.locator(".nowhere").all_inner_texts() == ["Nowhere"]
    assert note.locator("a.embedded").inner_text() == "Other"
    assert note.locator("pre code").last.inner_text() == 'print("[[Other]]")'
    text = note.inner_text()
    assert note.locator("b").inner_text() == "bold"
    assert "bold, plain" in text
    assert "First line\nsecond line" in text
    assert "^block" not in text


def test_a_link_to_a_heading_goes_there_and_back_returns(watch, tmp_path):
    page, note = read_forms(watch, tmp_path)
    before = page.inner_text("#panel-title")
    note.get_by_text("the other").click()
    expect(page.locator("#panel-title")).not_to_have_text(before)
    expect(note.locator(":focus")).to_have_text("Part two")
    assert note.locator(":focus").evaluate("e => e.getBoundingClientRect().top < innerHeight")
    page.go_back()
    expect(page.locator("#panel-title")).to_have_text(before)
    note.locator("a.footnote").click()
    expect(note.locator(":focus")).to_contain_text("The note at the foot")


def test_a_link_to_a_file_leads_to_its_note(watch, tmp_path):
    text = "[a](my%20notes/Other.md) [b](My%20Notes/other.md#Part%20two) [[my notes/Other.md]]"
    file, paths = build(tmp_path, text, OTHER, links=(("my notes/Other", 1),))
    note = open_note(watch.open(file), paths[0])
    assert note.locator("a.walk").count() == 3
    assert note.locator(".nowhere").count() == 0


def test_only_three_schemes_lead_out_of_the_page(watch, tmp_path):
    links = [link for link in LINKS if "http:" not in link]  # which is a link where it stands bare
    good = "[a](https://example.org/a) <http://example.org> [m](mailto:a@example.org) https://b.example"
    bad = "\n\n".join(f"[bad {n}]({address}) <{address}>" for n, address in enumerate(links))
    definitions = "\n".join(f"[d{n}]: <{address}>" for n, address in enumerate(links))
    uses = " ".join(f"[d{n}]" for n in range(len(links)))
    file, paths = build(tmp_path, f"{good}\n\n{bad}\n\n{uses}\n\n{definitions}\n")
    note = open_note(watch.open(file), paths[0])
    addresses = note.locator("a").evaluate_all("all => all.map(a => [a.href, a.rel, a.target])")
    assert {(rel, target) for _, rel, target in addresses} == {
        ("noopener noreferrer nofollow", "_blank")
    }
    assert {address for address, *_ in addresses} == {
        "https://example.org/a",
        "http://example.org/",
        "https://b.example/",
        "mailto:a@example.org",
    }


def test_a_link_out_of_the_page_says_where_it_leads(watch, tmp_path):
    file, paths = build(tmp_path, "[the bank](https://bank.example.evil.example/login)")
    page = watch.open(file)
    open_note(page, paths[0]).locator("a").focus()
    expect(page.locator("#target")).to_have_text("Opens bank.example.evil.example")
    page.locator("#close").focus()
    expect(page.locator("#target")).to_be_hidden()


def test_a_long_note_comes_in_pieces_and_all_of_it_is_printed(watch, tmp_path):
    file, paths = build(tmp_path, "".join(f"Paragraph {n}.\n\n" for n in range(20_000)))
    page = watch.open(file)
    note = open_note(page, paths[0])
    first = note.locator("p").count()
    assert first < 10_000
    note.locator("button.more").click()
    assert note.locator("p").count() > first
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert note.locator("p").last.inner_text() == "Paragraph 19999."


def test_wide_things_scroll_in_the_panel_and_nothing_leaves_it(watch, tmp_path):
    wide = "|" + "|".join(["column"] * 40) + "|\n|" + "---|" * 40 + "\n"
    text = f"{'W' * 5000}\n\n\u202eturned {'x' * 300}\n\n{wide}\n```\n{'y' * 2000}\n```\n"
    file, paths = build(tmp_path, text)
    for size in (NARROW, (1280, 800)):
        page = watch.open(file, size)
        note = open_note(page, paths[0])
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(
            "(p => p.scrollWidth <= p.clientWidth)(document.getElementById('panel'))"
        )
        assert note.locator("pre").evaluate("e => e.tabIndex") == 0
        assert note.locator(".wide").evaluate("e => e.tabIndex") == 0


def test_the_plan_fills_its_place_again_when_a_note_is_closed(watch, tmp_path):
    file, paths = build(tmp_path, "# One\n")
    page = watch.open(file)
    open_note(page, paths[0])
    page.wait_for_timeout(200)
    page.locator("#close").click()
    page.wait_for_timeout(200)
    undrawn = """() => {
      const canvas = document.getElementById("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.filter((_, i) => i % 4 === 0 && !data[i] && !data[i + 1] && !data[i + 2]).length;
    }"""
    assert page.evaluate(undrawn) < 500


@pytest.mark.parametrize(
    ("title", "text", "shown", "first"),
    [
        (
            "{{date}} <b>Log</b>",
            "---\n<!-- x -->\n> [!note] Head\n\n[[a/B|see]] <i>it</i>",
            "Log",
            "see it",
        ),
        (
            "[[Sea]] of [ice](x)",
            "| a |\n|---|\n\n![[a.png]]\n\n- 1 \\* **2**",
            "Sea of ice",
            "1 * 2",
        ),
        ("<% tp.x %>", "```\ncode\n```\nTitle\n===\n<div>\n{{< x >}}Words", "00000", "Words"),
        ("Vec<T> _in_ Rust", "![a](b.png) [x][r] and `y`", "Vec<T> in Rust", "x and y"),
        ("Long", f"ab {'defgh ' * 60}", "Long", f"ab {'defgh ' * 26}…"),
    ],
)
def test_titles_and_first_lines_are_plain(watch, tmp_path, title, text, shown, first):
    file, paths = write_page(tmp_path, {"title": title, "text": text}, count=1)
    page = watch.open(file)
    show_note(page, paths[0])
    page.locator("#dates .room").click()
    assert page.locator("#rooms .notes a span").all_inner_texts() == [shown, first]
