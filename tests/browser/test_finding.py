"""Search while one types, and the list of rooms."""

import pytest
from browser.watching import NARROW, expect
from making_plans import write_page

pytestmark = pytest.mark.browser


def build(tmp_path, *notes, count=20):
    """Return a page whose first notes have these titles, aliases, first lines and tags."""
    changes = [dict(zip(("title", "aliases", "text", "tags"), n, strict=True)) for n in notes]
    return write_page(tmp_path, *changes, count=count)[0]


def find(page, query):
    page.fill("#search", query)
    return page.locator("#results .name").all_inner_texts()


def test_beginnings_come_before_middles_and_titles_before_other_names(watch, tmp_path):
    page = watch.open(
        build(
            tmp_path,
            ("Moving", (), "Art is long.", ()),
            ("Smart", (), "x", ()),
            ("Other", ("The art of it",), "x", ()),
            ("Modern art today", (), "x", ()),
            ("Art", (), "x", ()),
            ("Artisans", (), "x", ()),
        )
    )
    wanted = ["Art", "Artisans", "Modern art today", "Other", "Smart", "Moving"]
    assert [name for name in find(page, "art") if name in wanted] == wanted
    assert find(page, "art today") == ["Modern art today"]
    assert find(page, "today art") == ["Modern art today"]


def test_case_accents_and_scripts_do_not_hide_a_note(watch, tmp_path):
    page = watch.open(
        build(
            tmp_path,
            ("Über die Straße", (), "x", ()),
            ("全文検索の方法", (), "x", ()),
            ("Ёлка зимой", (), "x", ()),
            ("Café", (), "x", ("plants/trees",)),
        )
    )
    for query, title in {
        "uber strasse": "Über die Straße",
        "ÜBER": "Über die Straße",
        "検索": "全文検索の方法",
        "елка": "Ёлка зимой",
        "cafe\u0301": "Café",
        "#plants": "Café",
    }.items():
        assert find(page, query) == [title], query
    assert find(page, "zzz") == []
    expect(page.locator("#status")).to_have_text("No note matches zzz")


def test_the_field_and_its_list_are_a_combobox(watch, tmp_path):
    page = watch.open(build(tmp_path))
    field, options = page.locator("#search"), page.locator("#results [role=option]")
    expect(field).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("/")
    page.keyboard.type("a")
    expect(field).to_have_attribute("aria-expanded", "true")
    assert options.count() > 2
    for key, place in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", -1)):
        page.keyboard.press(key)
        option = options.nth(place)
        expect(option).to_have_attribute("aria-selected", "true")
        expect(field).to_have_attribute("aria-activedescendant", option.get_attribute("id"))
        assert page.locator("#results [aria-selected=true]").count() == 1
    page.keyboard.press("Escape")
    expect(field).to_have_attribute("aria-expanded", "false")
    assert field.input_value() == "a"
    page.keyboard.press("Escape")
    assert field.input_value() == ""


def test_a_note_found_opens_and_closing_it_comes_back_to_the_search(watch, tmp_path):
    page = watch.open(build(tmp_path, ("Red fox", (), "x", ())))
    page.keyboard.press("/")
    page.keyboard.type("red f")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-title")).to_have_text("Red fox")
    expect(page.locator("#panel-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_focused()


def test_a_tag_in_a_note_is_searched_for(watch, tmp_path):
    page = watch.open(build(tmp_path, ("One", (), "See #wood.", ()), ("Two", (), "x", ("wood",))))
    find(page, "One")
    page.keyboard.press("Enter")
    page.locator("#note button.tag").click()
    assert page.locator("#results .name").all_inner_texts() == ["Two"]


def test_a_room_lists_its_notes_a_few_hundred_at_a_time(watch, tmp_path):
    page = watch.open(build(tmp_path, count=1_000))
    room = page.locator("#rooms button.room").first
    room.click()
    links = page.locator("#rooms .notes a")
    assert links.count() == 200
    page.locator("#rooms button.more").click()
    assert links.count() == 400
    links.nth(3).click()
    name = links.nth(3).locator(".name").inner_text()
    expect(page.locator("#panel-title")).to_have_text(name)
    expect(links.nth(3)).to_have_attribute("aria-current", "true")
    page.locator("#all-rooms").click()
    expect(room).to_be_focused()


def test_the_plan_of_many_notes_follows_a_search_once_typing_pauses(watch, tmp_path):
    page = watch.open(build(tmp_path, count=3_000))
    picture = "document.getElementById('canvas').toDataURL()"
    before = page.evaluate(picture)
    made = page.evaluate(
        """() => {
          const field = document.getElementById("search");
          field.focus();
          field.value = "amber";
          field.dispatchEvent(new Event("input"));
          return document.querySelectorAll("#results [role=option]").length;
        }"""
    )
    assert made == 50
    page.wait_for_function(f"(before) => {picture} !== before", arg=before)
    expect(page.locator("#results [role=option]")).to_have_count(50)
    page.fill("#search", "")
    page.wait_for_function(f"(before) => {picture} === before", arg=before)
    page.fill("#search", "amber")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#results [role=option]").nth(49)).to_have_attribute(
        "aria-selected", "true"
    )


def test_a_phone_shows_rooms_then_notes_then_a_note_and_goes_back(watch, tmp_path):
    page = watch.open(build(tmp_path, ("Red fox", (), "# Fox\n\nIt *barks*.", ())), NARROW)
    page.locator("#rooms .room").first.click()
    row = page.locator("#rooms .notes a", has_text="Red fox")
    expect(row.locator(".first")).to_have_text("It barks.")
    row.click()
    expect(page.locator("#note")).to_be_in_viewport()
    expect(page.locator("#rooms")).to_be_hidden()
    page.go_back()
    expect(page.locator("#panel")).to_be_hidden()
    expect(row).to_be_focused()
    page.locator("#back").click()
    expect(page.locator("#rooms .room").first).to_be_focused()
    page.fill("#search", "red fox")
    page.locator("#results [role=option]").first.click()
    expect(page.locator("#results")).to_be_hidden()
    page.locator("#back").click()
    expect(page.locator("#results .name")).to_have_text(["Red fox"])
    page.locator("#back").click()
    expect(page.locator("#search")).to_have_value("")
    expect(page.locator("#canvas")).to_be_hidden()
    page.locator("#plan-button").click()
    expect(page.locator("#canvas")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(
    ("title", "text", "shown"),
    [
        ("A [[b|word]] <b>bold</b>", "", "A word bold"),
        ("{{date}} Day", "---\n\n![[sea.png]]\n\nPlain *words*.", "Day\nPlain words."),
        ("T", "> [!note] Head\n> Said\n\n<div>", "T\nSaid"),
        ("T", "| a |\n|---|\n\n- [[a]], [b](c.md)\n- See [[d/e#f]]", "T\nSee e › f"),
        ("T", "```js\nx\n```\n<br>\n- [x](y.md)", "T\nx"),
        ("<% tp.date %>C# of a_b_c", "{% if x %}\nSay {{< ref >}} so.", "C# of a_b_c\nSay so."),
    ],
)
def test_lists_show_words_without_marks(watch, tmp_path, title, text, shown):
    page = watch.open(build(tmp_path, (title, (), f"# {title}\n\n{text}", ()), count=3), NARROW)
    page.locator("#rooms .room").first.click()
    expect(page.locator('#rooms a[data-note="0"]')).to_be_visible()
    assert page.locator('#rooms a[data-note="0"]').inner_text() == shown
