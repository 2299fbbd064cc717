"""What programs write down of when a note is from, in shapes that no vault of theirs here has."""

from datetime import UTC, date, datetime, timedelta

import pytest

from memory_palace.errors import PalaceError
from memory_palace.notes.document import set_fields
from memory_palace.notes.parsing import parse_note

DAY = date(2022, 6, 13)
DIGEST = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

SHAPES = {
    "obsidian: with its weekday": ("2022/06-June/2022-06-13-Monday.md", "- rain\n"),
    "obsidian: in words": ("Monday, June 13th 2022.md", "- rain\n"),
    "obsidian: clipped": ("Roof.md", "---\npublished: 2011-05-03\ncreated: 2022-06-13\n---\n"),
    "dendron: as text": ("hub.roof.md", "---\ncreated: '1655109426539'\n---\n"),
    "logseq: a page property": (
        "pages/Roof.md",
        "title:: Roof\ndate:: [[Jun 13th, 2022]]\ntags:: home\n\n- rain\n",
    ),
    "logseq: in the first block": (
        "pages/Roof.md",
        "- title:: Roof\n  created-at:: 1655109426539\n- rain\n",
    ),
    "hugo: toml": (
        "content/posts/roof.md",
        "+++\ntitle = 'Roof'\ndate = 2022-06-13T04:14:54-08:00\n[params]\n  by = 'A'\n+++\nRain.\n",
    ),
    "hugo: json": (
        "content/posts/roof.md",
        '{\n   "date": "2022-06-13T04:14:54-08:00",\n   "params": {\n      "a": 1\n   },\n'
        '   "title": "Roof"\n}\nRain.\n',
    ),
    "jekyll: with a zone": ("roof.md", "---\ndate: 2022-06-13 00:10:00 +0200\n---\n"),
    "zettlr: an id": ("roof.md", "---\nid: 20220613083706\n---\n"),
    "zettlr: an id as text": ("roof.md", '---\nid: "20220613083706"\n---\n'),
    "a year of two digits": ("Roof.md", "---\ndate: 6/13/22\n---\n"),
    "notion: day first": (f"Roof {DIGEST}.md", "# Roof\n\nDate: 13/06/2022 08:37\n\nRain.\n"),
    "notion: a page that is called by a day": (f"June 13, 2022 {DIGEST}.md", "# June 13, 2022\n"),
}

NONE = {
    "an ISBN": ("9783161484100.md", "---\ncreated: 9783161484100\nisbn: 9783161484100\n---\n"),
    "a phone number": (
        "call 2025551234.md",
        "---\ndate: 2025551234\ncreated: +1 202 555 1234\n---\n",
    ),
    "an epoch in a name": ("1655109426539.md", "Rain.\n"),
    "a version": ("v2022.06.13.md", "---\nversion: 2022.06.13\ndate: v1.2.2022\n---\n"),
    "seconds of 1973": ("Roof.md", "---\ncreated: 0100000000\n---\n"),
    "a digest": ("Roof 20220613f1e2d3c4b5a69788796a5b4c.md", "# Roof\n"),
    "an identifier": ("20220613-1e2d-4c4b-8a69-788796a5b4c3.md", "# Roof\n"),
    "an id of no moment": ("Roof.md", "---\nid: 20220613996101\n---\n"),
    "two readings": (f"Roof {DIGEST}.md", "# Roof\n\nDate: 06/05/2022\n\nRain.\n"),
    "two readings of a name": ("06-05-2022.md", "Rain.\n"),
    "a part of a build": ("2022.06.13.2 notes.md", "Rain.\n"),
    "the day of a book": ("Book.md", "# Book\n\nAuthor: A\nPublished: June 13, 2022\n\nRain.\n"),
    "a line in the middle": ("Roof.md", "# Roof\n\nRain fell.\nDate: 2022-06-13\n"),
    "a property of a block": ("pages/Roof.md", "- rain fell\n  created-at:: 1655109426539\n"),
    "a placeholder": ("Roof.md", "---\ncreated: '{{date}}'\ndate: <% tp.date.now() %>\n---\n"),
}


def parse(path, text, **options):
    return parse_note(path, text.encode(), count_tokens=len, token_limit=10_000, **options)


@pytest.mark.parametrize(("path", "text"), SHAPES.values(), ids=SHAPES)
def test_a_note_is_of_the_day_that_its_program_wrote(path, text):
    found = parse(path, text).date
    assert found is not None and found.day == str(DAY)


@pytest.mark.parametrize(("path", "text"), NONE.values(), ids=NONE)
def test_a_number_of_something_else_is_no_day(path, text):
    assert parse(path, text).date is None


def test_an_epoch_that_is_still_to_come_by_years_is_none():
    soon, late = (datetime.now(UTC) + timedelta(days=days) for days in (30, 3_000))
    told = [
        parse("Roof.md", f"---\ndue: 1\ndate: {int(m.timestamp())}\n---\n").date
        for m in (soon, late)
    ]
    assert told[0].day == str(soon.date()) and told[1] is None


def test_two_readings_of_a_day_are_said_and_settled_by_the_locale():
    text = "# Roof\n\nDate: 06/05/2022\n\nRain.\n"
    assert [
        "Date '06/05/2022' may be two days" in p.message for p in parse("Roof.md", text).problems
    ] == [True]
    for locale, day in (("en-GB", "2022-05-06"), ("en-US", "2022-06-05")):
        note = parse("Roof.md", text, locale=locale)
        assert note.date.day == day and not note.problems


def test_toml_and_json_are_fields_and_no_text():
    toml = parse("roof.md", SHAPES["hugo: toml"][1])
    json = parse("roof.md", SHAPES["hugo: json"][1])
    assert (toml.title, toml.body, toml.body_first_line) == ("Roof", "Rain.\n", 7)
    assert (json.title, json.body, json.body_first_line) == ("Roof", "Rain.\n", 8)
    assert parse("roof.md", "+++\nprivate = true\n+++\nRain.\n").is_private


@pytest.mark.parametrize(
    "text",
    ['{"a": 1}\nRain.\n', '{"title": 1\n\nRain.\n', "+++\ntitle = 'Roof'\n\nRain.\n", "{{x}}\n"],
)
def test_other_braces_and_pluses_stay_text(text):
    assert parse("roof.md", text).body == text


@pytest.mark.parametrize(
    "text", ["+++\ntitle = Roof\n+++\nRain.\n", f"+++\na = {'[' * 9_000}\n+++\n"]
)
def test_toml_that_cannot_be_read_stays_text_and_is_named(text):
    note = parse("roof.md", text)
    assert note.body == text and note.problems[0].line == 1
    closed = parse("roof.md", text.replace("\n", "\nprivate = true\n", 1))
    assert closed.is_private


def test_front_matter_that_is_no_yaml_is_not_edited():
    with pytest.raises(PalaceError, match="no YAML"):
        set_fields("roof.md", SHAPES["hugo: toml"][1].encode(), {"type": "note"})
