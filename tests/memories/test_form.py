"""Memory notes are read and written by hand and by command, and nothing else of them changes."""

import re
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.errors import PalaceError, UsageError
from memory_palace.features.memories.form import (
    Factor,
    Mark,
    Memory,
    Review,
    read_form,
    read_marks,
    read_memory,
    render_marks,
    render_memory,
    state_score,
)
from memory_palace.features.redqueen.session import examine
from memory_palace.notes.document import parse_document, replace_section

PATH = "palace/reflection_wing/memories/ring.md"
NOTE = """---
title: Copper ring
type: memory
aliases: [the ring]
---
# Copper ring

- Locus: under the rim
- Anchor: bitten coin, spider on tiptoe

## Image

You bite a copper coin and eight legs
dance. [Verify: bitten copper
coin]

## Content

A copper ring keeps 9 of 10 spiders away.

```text
## Image
```

## Links

- contrasts: [[thread in the funnel|the thread]]
- prerequisite: [[Rain gauges#Spiders]]

## SMASHIN SCOPE

- [x] Movement: dance (by words)
- [ ] Humor
- [X] **Emotion**: the bite (by llama3)

## Metadata

SMASHIN 2/12, created 2026-09-08, last retrieved 2026-10-01, confidence 4/5
"""


def parse(text, path=PATH):
    document = parse_document(path, text.encode())
    assert document is not None
    return document


def test_a_note_in_the_form_is_read_as_a_memory():
    memory = read_memory(parse(NOTE))
    assert memory.subject == "Copper ring" and memory.id == PATH
    assert memory.verify_token == "bitten copper coin"
    assert memory.content.startswith("A copper ring keeps 9 of 10") and "## Image" in memory.content
    assert memory.anchors == ("the ring", "bitten coin", "spider on tiptoe")
    assert memory.locus == "under the rim"
    assert memory.links.startswith("- contrasts: [[thread in the funnel|the thread]]\n- prereq")
    assert memory.marks == (
        Mark(Factor.MOVEMENT, True, "dance", "words"),
        Mark(Factor.HUMOR, False),
        Mark(Factor.EMOTION, True, "the bite", "llama3"),
    )
    assert memory.smashin_score == 2
    assert memory.confidence == 0.8 and memory.last_retrieved == date(2026, 10, 1)
    assert memory.domain == "reflection_wing/memories"


def test_what_the_library_hands_out_holds_no_token():
    document = parse(NOTE)
    text = f"{document.body}{document.sections}"
    assert "bitten copper" not in text and "erify" not in text
    assert document.body.count("\n") == NOTE.count("\n") - 5


def test_a_rendered_memory_reads_as_the_same_memory():
    memory = Memory(
        PATH, "Ring: a test", "You bite a coin.", "It keeps spiders away.", "bitten coin", 1,
        anchors=("coin", "spider"), locus="rim", created=date(2026, 11, 1),
        links="- related: [[thread]]",
        marks=(Mark(Factor.HUMOR, False, "", "words"), Mark(Factor.INTERACT, True, "you bite")),
    )  # fmt: skip
    again = read_memory(parse(render_memory(memory, today=date(2026, 11, 1))))
    assert again.image == "You bite a coin. [Verify: bitten coin]"
    for name in ("subject", "content", "verify_tokens", "anchors", "locus", "links", "marks",
                 "smashin_score", "confidence", "created"):  # fmt: skip
        assert getattr(again, name) == getattr(memory, name), name


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["Image", "Content", "SMASHIN SCOPE", "Metadata"])
def test_writing_what_is_there_changes_no_byte(end, mark, name):
    data = (mark + NOTE).replace("\n", end).encode()
    form = read_form(parse_document(PATH, data))
    assert replace_section(PATH, data, name, form.sections[name]) == data


def test_replacing_a_section_leaves_every_other_line_as_it_was():
    data = replace_section(PATH, NOTE.encode(), "image", "Another one. [Verify: green tin]")
    head, tail = NOTE.split("You bite")[0], NOTE.split("coin]\n")[1]
    assert data.decode() == f"{head}Another one. [Verify: green tin]\n{tail}"


def test_a_new_section_stands_before_the_metadata():
    text = NOTE.replace(NOTE[NOTE.index("## SMASHIN") : NOTE.index("## Metadata")], "")
    data = replace_section(PATH, text.encode(), "SMASHIN SCOPE", "- [x] Humor")
    assert data.decode() == text.replace(
        "## Metadata", "## SMASHIN SCOPE\n\n- [x] Humor\n\n## Metadata"
    )


def test_a_section_may_be_added_to_a_note_without_any_line_end():
    data = replace_section(PATH, b"# Ring", "Image", "A coin.")
    assert data == b"# Ring\n\n## Image\n\nA coin.\n"


@pytest.mark.parametrize("text", ["## Content\n\nlies", "# Top", "```\nopen", "<!-- open"])
def test_a_text_that_would_swallow_other_sections_is_refused(text):
    with pytest.raises(UsageError, match="would change other sections"):
        replace_section(PATH, NOTE.encode(), "Image", text)


def test_the_stated_score_is_the_only_thing_that_scoring_rewrites():
    data = state_score(PATH, NOTE.encode(), 11)
    assert data.decode() == NOTE.replace("SMASHIN 2/12", "SMASHIN 11/12")
    assert state_score(PATH, NOTE.encode(), 2) == NOTE.encode()


def test_a_note_that_is_not_utf8_is_not_edited():
    with pytest.raises(PalaceError, match="not UTF-8"):
        replace_section(PATH, b"## Image\n\xff\xfe\n", "Image", "x")


@given(
    st.lists(
        st.builds(
            Mark, st.sampled_from(Factor), st.booleans(),
            st.from_regex(r"[a-z]+( [a-z,']+){0,3}", fullmatch=True),
            st.sampled_from(["person", "words", "llama3.1"]),
        ),
        unique_by=lambda mark: mark.factor,
    )
)  # fmt: skip
def test_a_factor_map_survives_being_written_and_read(marks):
    ordered = sorted(marks, key=lambda mark: list(Factor).index(mark.factor))
    assert list(read_marks(render_marks(ordered))) == ordered


def written_forms():
    text = (Path(__file__).parent / "written_forms.md").read_text("utf-8")
    cases = re.findall(r"^## (.*?)\n\n```markdown\n(.*?)^```$", text, re.M | re.S)
    return [pytest.param(note, id=name) for name, note in cases]


@pytest.mark.parametrize("note", written_forms())
def test_every_written_form_reads_alike_for_both_who_read_memories(note):
    document = parse(f"---\ntype: memory\n---\n{note}")
    memory, seen = read_memory(document), examine(document, today=date(2026, 10, 3))
    assert memory.anchors == seen.cue.anchors
    assert set(memory.anchors) == {"bitten coin", "wet sleeve"}
    assert (memory.smashin_score, seen.smashin) == (8, 8)
    assert (memory.confidence, seen.confidence) == (0.8, 0.8)
    assert memory.last_retrieved == date(2026, 10, 1) and seen.idle_days == 2
    assert seen.content == "It keeps spiders away."


def test_reviews_in_the_log_count_before_what_the_note_states():
    reviewed = Review(PATH, datetime(2026, 10, 20, tzinfo=UTC), False, 0.4, 2)
    memory = read_memory(parse(NOTE), [reviewed])
    assert (memory.confidence, memory.last_retrieved) == (0.4, date(2026, 10, 20))
    seen = examine(parse(NOTE), [reviewed], today=date(2026, 10, 21))
    assert (seen.confidence, seen.idle_days) == (0.4, 1)
