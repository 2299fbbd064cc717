"""Notes cannot run script, load anything, leave their panel or show what is private."""

from itertools import chain

import pytest
from browser.hostile_vault import CANARIES, COLD, HEAVY, LINKS, MARKUP
from browser.looking import (
    find_broken,
    find_forbidden,
    list_paths,
    read_boxes,
    show_note,
    unpack_file,
)
from browser.watching import NARROW, WIDE, build_view
from making_plans import write_page
from writing_notes import index_notes

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_no_note_runs_script_or_moves_the_frame_of_the_page(watch, hostile_view, size):
    page = watch.open(hostile_view, size)
    title, boxes, faults = page.title(), None, {}
    paths = list_paths(hostile_view)
    assert len(paths) > 100
    for path in paths:
        show_note(page, path)
        boxes = boxes or read_boxes(page)
        moved = [] if read_boxes(page) == boxes else ["the frame has moved"]
        if found := moved + find_forbidden(page) + find_broken(page):
            faults[path] = found
    assert faults == {}
    assert page.title().endswith(f" · {title}")  # that of the last note, and of the palace


def test_what_is_typed_into_search_is_text(watch, hostile_view):
    page = watch.open(hostile_view)
    for text in chain(MARKUP, LINKS):
        page.fill("#search", text.replace("\n", " "))
        page.wait_for_timeout(20)
        assert find_forbidden(page) == []
    assert find_broken(page) == []


def test_every_link_of_every_note_can_be_pressed(watch, hostile_view):
    page = watch.open(hostile_view)
    for number in range(len(LINKS)):
        show_note(page, f"links/links {number}.md")
        # Those that leave the page open another, which a reader may; all others stay in it.
        page.evaluate("""() => {
          for (const link of document.querySelectorAll("#note a:not([href^='http'], [href^='m'])"))
            link.click();
        }""")
    page.wait_for_timeout(100)


@pytest.mark.parametrize(
    "address",
    [
        "#note=",
        "#note=%",
        "#note=%00%ff",
        "#note=__proto__",
        "#note=<img src=x onerror=window.pwned=1>",
        "#note=../../etc/passwd",
        "#note=javascript:window.pwned=1",
        "#search",
        "#" + "x" * 100_000,
    ],
)
def test_an_address_that_somebody_sent_does_nothing(watch, hostile_view, address):
    visit = watch.visit(hosts=[hostile_view.as_uri()])
    page = visit.open(hostile_view.as_uri() + address)
    assert page.locator("#panel").is_hidden()
    assert find_forbidden(page) == []


def test_nothing_private_is_in_the_file(hostile_view):
    blocks = unpack_file(hostile_view)
    held = "\n".join([hostile_view.read_text("utf-8"), *blocks.values()]).lower()
    assert "see [[markup 0]] and [[only]]" in held
    assert [what for what, word in CANARIES.items() if word.lower() in held] == []


def test_cold_notes_are_in_the_file_where_they_are_asked_for(hostile, tmp_path):
    file = build_view(hostile, tmp_path / "cold.html", "--include-cold")
    held = "\n".join(unpack_file(file).values())
    assert [what for what, word in CANARIES.items() if word in held] == list(COLD)


def test_huge_and_deep_notes_are_shown_in_time_and_the_page_goes_on(watch, tmp_path):
    calm = "A note as people write it.\n"
    notes = [
        {"path": f"{name}.md", "title": name, "text": f"# {name}\n\n{text}"}
        for name, text in sorted({"calm": calm, **HEAVY}.items())
    ]
    page = watch.open(write_page(tmp_path, *notes, count=0)[0])
    show_note(page, "calm.md")
    boxes, faults = read_boxes(page), {}
    for name in HEAVY:
        show_note(page, f"{name}.md", timeout=10_000)
        moved = [] if read_boxes(page) == boxes else ["the frame has moved"]
        elements = page.evaluate("document.querySelectorAll('#note *').length")
        many = [f"{elements} elements"] if elements > 60_000 else []
        if found := moved + many + find_forbidden(page) + find_broken(page):
            faults[name] = found
    show_note(page, "calm.md")
    assert faults == {}
    assert page.inner_text("#note").strip() == calm.strip()


def test_a_note_of_ten_megabytes_goes_the_whole_way(watch, tmp_path):
    notes = {"brackets.md": f"# brackets\n\n{HEAVY['brackets']}\n"}
    root = index_notes(tmp_path / "heavy", notes, embedder="none").paths.root
    file = build_view(root, tmp_path / "heavy.html")
    assert file.stat().st_size < 400_000 + 5_000_000
    show_note(watch.open(file), "brackets.md")
