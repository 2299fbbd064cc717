"""Everything is reached by keyboard alone, and where one is can always be seen."""

import pytest
from browser.looking import read_focus
from browser.watching import NARROW, WIDE, expect

pytestmark = pytest.mark.browser
MANY = 400
"""Presses of Tab after which a page of the sample palace has come round."""

_REACHABLE = """
() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
  .filter((element) => element.tabIndex >= 0 && !element.disabled)
  .filter((element) => element.checkVisibility({ visibilityProperty: true }))
  .filter((element) => !element.closest("dialog:not([open]), [inert], [hidden]"))
  .map((element) => element.id || `${element.localName}: ${element.textContent.slice(0, 40)}`)
"""


def focus_of(page):
    """Return what has the focus; fail where it is lost, not marked or not seen."""
    focus = read_focus(page)
    assert focus is not None, "the focus is lost"
    assert focus["ringed"], f"nothing marks {focus}"
    assert focus["seen"], f"out of sight: {focus}"
    return focus


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    return focus_of(page)


def tab_to(page, focused, most=MANY):
    """Press Tab until an element has the focus; ``focused`` selects it then."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.locator(focused).count():
            return focus_of(page)
    raise AssertionError(f"Tab never comes to {focused}")


def tab_round(page):
    """Return what has the focus while Tab is pressed to the end of the page and once round."""
    rounds, faults = [[]], []
    while len(rounds) < 3 and len(rounds[-1]) < MANY:
        page.keyboard.press("Tab")
        focus = read_focus(page)
        if focus is None:
            rounds.append([])
            continue
        if not focus["ringed"]:
            faults.append(f"nothing marks {focus['name']} {focus['text']}")
        if not focus["seen"]:
            faults.append(f"out of sight: {focus['name']} {focus['text']}")
        rounds[-1].append(focus["name"])
    assert faults == []
    return rounds[1]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("is_open", [False, True], ids=["plan", "panel"])
def test_tab_comes_to_everything_and_is_always_seen(watch, sample_view, size, is_open):
    page = watch.open(sample_view, size)
    if is_open:
        page.keyboard.press("/")
        page.keyboard.type("broker")
        press(page, "ArrowDown", "Enter")
        expect(page.locator("#panel")).to_be_visible()
        page.evaluate("document.activeElement.blur()")
    reachable = page.evaluate(_REACHABLE)
    assert len(tab_round(page)) >= len(reachable), reachable


def test_a_person_without_a_mouse_walks_through_the_palace(watch, sample_view):
    page = watch.open(sample_view)
    panel, title = page.locator("#panel"), page.locator("#panel-title")
    assert press(page, "/")["name"] == "#search"
    page.keyboard.type("broker")
    expect(page.locator("#results [role=option]").first).to_be_visible()
    press(page, "ArrowDown", "Enter")
    expect(panel).to_be_visible()
    first = title.inner_text()
    link = page.locator("#note a[href^='#note='], #links a, #backlinks a, #near a").first
    expect(link).to_be_attached()
    for _ in range(MANY):
        focus = press(page, "Tab")
        if link.evaluate("(link) => link === document.activeElement"):
            break
    press(page, "Enter")
    expect(title).not_to_have_text(first)
    focus_of(page)
    page.go_back()
    expect(title).to_have_text(first)
    focus_of(page)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert focus["name"]
    focus_of(page)


def test_the_plan_is_walked_with_arrows(watch, sample_view):
    page = watch.open(sample_view)
    tab_to(page, "#canvas:focus")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    focus_of(page)
    for key in ("+", "+", "-", "0"):
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    focus_of(page)


def test_rooms_are_a_list_that_leads_to_notes(watch, sample_view):
    page = watch.open(sample_view)
    press(page, "Tab")
    assert press(page, "Enter") is not None
    tab_to(page, "#rooms :focus", most=8)


def test_the_timeline_is_moved_with_keys(watch, sample_view):
    page = watch.open(sample_view)
    tab_to(page, "#timeline input:focus")
    before = page.inner_html("#timeline")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        press(page, key)
    assert page.inner_html("#timeline") != before


def test_help_opens_names_every_key_and_gives_the_focus_back(watch, sample_view):
    page = watch.open(sample_view)
    tab_to(page, "#canvas:focus")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    text = page.inner_text("#help").replace("\N{MINUS SIGN}", "-")
    assert [key for key in "/ Enter Escape + - 0 ?".split() if key not in text] == []
    focus_of(page)
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    assert focus_of(page)["name"] == "#canvas"


def test_keys_of_one_letter_do_nothing_while_one_types(watch, sample_view):
    page = watch.open(sample_view)
    page.keyboard.press("/")
    page.keyboard.type("?0+-[]")
    assert page.input_value("#search") == "?0+-[]"
    expect(page.locator("#help")).to_be_hidden()
