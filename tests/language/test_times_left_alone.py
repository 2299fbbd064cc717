"""What other people's pages taught: numbers and words that name no time."""

from __future__ import annotations

from datetime import date

import pytest

from memory_palace.language.time.reading import find_times

TODAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    "text",
    [
        "Translucency was dropped in version 1.4.16 of the app",
        "Transparenz fehlt ab Version 1.4.16 unter Windows",
        "Views of maps require Sample 1.10. The module must be on",
        "Les cartes demandent Sample 1.12. Le module aussi",
        "A pattern is a set of characters that describes text",
        "Do not copy the folder. This may lead to lost notes",
        "Taking part in six months of exercise improves the heart",
        "Refunds are given within 7 days of purchase",
        "The style is shown within a few minutes",
        "The last option of the list, on the 3rd page",
        "solo el 3er elemento de la lista",
        "ne garde que le 3e élément",
        "Hier ein Beispiel für die Syntax",
        "in die aktuelle Datei und die folgenden Felder",
        "Where newly created notes are placed",
        "The rise and fall of empires",
        "They fell almost 2000 years ago",
        "images/rhizome-dec-6.jpg",
        "COVID-19 may have been the reason",
        "Screenshot at 4.08.41 PM.png",
        "_Revision 2.3. Posted by the group_",
        "the sutra (4.2.33) says so",
        "Texts have been around for decades. This also means that they last",
        "I would not last a day there",
        "It was 1/10 the price of the other",
        "they immigrated when I was around 3. They left",
        "an essay on http://sample.today/",
        "It can be done in a day",
        "you may end up with a quote",
        "the sat problem solver",
        "Go to the gym each Monday",
        "Autumn's address",
        "capability systems such as KeyKOS, W7 and E",
        "runs for up to 1950 hours",
    ],
)
def test_no_time_is_read(text: str) -> None:
    assert not [item.text for item in find_times(text, TODAY) if item.certainty >= 0.5]


@pytest.mark.parametrize(
    "text, day",
    [
        ("taken by John on December 1,2023", date(2023, 12, 1)),
        ("yesterday's notes", date(2026, 11, 21)),
        ("Anruf am 7.4.", date(2026, 4, 7)),
        ("Rechnung vom 1.4.16", date(2016, 4, 1)),
        ("who called on the 3rd?", date(2026, 11, 3)),
        ("was habe ich gestern notiert", date(2026, 11, 21)),
    ],
)
def test_what_looks_like_it_is(text: str, day: date) -> None:
    [item] = [item for item in find_times(text, TODAY) if item.certainty >= 0.5]
    assert (item.windows[0].first, item.windows[0].last) == (day, day)


@pytest.mark.parametrize(
    "text, first, last",
    [
        ("last week's notes", date(2026, 11, 9), date(2026, 11, 15)),
        ("last year's visits", date(2025, 1, 1), date(2025, 12, 31)),
        ("rainfall Jan-Mar 2026", date(2026, 1, 1), date(2026, 3, 31)),
        ("March–May", date(2026, 3, 1), date(2026, 5, 31)),
    ],
)
def test_spans_of_short_words_are_read(text: str, first: date, last: date) -> None:
    [item] = [item for item in find_times(text, TODAY) if item.certainty >= 0.5]
    assert (item.windows[0].first, item.windows[0].last) == (first, last)
