"""Which terms become anchors, and how they are shown."""

import pytest
from asking_anchors import Write

from memory_palace.features.anchors.vocabulary import FEWEST, PASSAGES_EACH, is_usable, match_key
from memory_palace.palace import Palace


def displays(palace: Palace) -> set[str]:
    palace.anchors.build()
    return {anchor.display for anchor in palace.anchors.book().anchors}


@pytest.mark.parametrize(
    "text",
    [
        "Pasted image 20230101.png",
        "1f0c2e9a-77aa-4b1c-8d1e-000000000000",
        "https://example.org",
        "me@example.org",
        "{{title}}",
        "$x$",
        "Tuesday",
        "2024",
        "the of",
    ],
)
def test_files_markup_addresses_and_days_are_no_anchors(text: str) -> None:
    """FINDINGS C: the tail of the vocabulary was stems, picture names, "per" and "edu"."""
    assert not is_usable(text, match_key(text))


@pytest.mark.parametrize("text", ["Next.js", "TCP/IP", "R&R", "ノートコンポーザー", "Синтаксис"])
def test_names_of_things_are_anchors(text: str) -> None:
    assert is_usable(text, match_key(text))


def test_an_anchor_is_shown_as_people_mostly_write_it(palace: Palace, write: Write) -> None:
    for number in range(4):
        write(f"chambers/wren/n{number}.md", f"Day {number}: see [[Stevenson Screens]] again.\n")
    write("chambers/wren/other.md", "The [[stevenson screen]] stands alone.\n")
    palace.index()
    assert "Stevenson Screens" in displays(palace)


def test_words_are_no_anchors_but_names_titles_and_links_are(palace: Palace, write: Write) -> None:
    """A word that merely stands there copies what BM25 finds."""
    for number in range(6):
        write(f"chambers/wren/n{number}.md", f"Fog and rime again, {number}. Then Quirin came.\n")
    palace.index()
    found = {display.casefold() for display in displays(palace)}
    assert {"quirin", "radio plan", "tipping bucket"} <= found
    assert not {"fog", "rime", "fog rime", "again"} & found


def test_a_title_that_is_a_word_of_every_text_is_no_anchor(palace: Palace, write: Write) -> None:
    write("reflection_wing/time.md", "# Time\n\nIt passes.\n")
    for number in range(20):
        write(f"chambers/wren/n{number}.md", f"# Log {number}\n\nThis time it took {number}.\n")
    palace.index()
    assert "Time" not in displays(palace)


def test_a_small_palace_has_few_anchors(palace: Palace, write: Write) -> None:
    """FINDINGS C: 2,000 anchors for 173 notes."""
    for number in range(60):
        title = f"Quarter {chr(97 + number % 26) * 4}{number // 26}"
        write(f"reflection_wing/n{number}.md", f"# {title}\n\nText about {title}, {number}.\n")
    palace.index()
    passages = palace.anchors.build().passages
    assert len(displays(palace)) <= max(passages // PASSAGES_EACH, FEWEST) == FEWEST
