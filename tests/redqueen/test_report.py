"""What a round reports of notes that people wrote, and what it leaves out."""

import pytest

from memory_palace.features.redqueen.askings import (
    KINDS,
    Asking,
    ask_search,
    choose_askings,
    collect_askings,
)
from memory_palace.features.redqueen.rounds import run
from memory_palace.features.redqueen.session import Strategy
from memory_palace.notes.document import Library, parse_document
from memory_palace.palace import Palace

from .conftest import memory


def library(**notes):
    texts = {f"{name}.md": text for name, text in notes.items()}
    documents = {path: parse_document(path, text.encode()) for path, text in texts.items()}
    return Library(dict(sorted(documents.items())))


def askings(**notes):
    return [
        (a.kind, a.question, a.path, a.said_in, a.line) for a in collect_askings(library(**notes))
    ]


@pytest.fixture
def orchard_palace(tmp_path):
    notes = {
        "frost": "# Frost\n\nBlossom dies below minus two degrees. We light lanterns.\n",
        "smoke": "# Smoke\n\nSmudge pots keep the bees calm.\n",
        "wool": "# Smudge pots\n\nClay, filled with wet straw.\n",
        "log": "# Log\n\nIn April the [[frost|white killer]] came, so we filled the "
        "[[smoke|smudge pots]]. Sheep stood by.\n",
    }
    palace = Palace.init(tmp_path, here=True)
    for name, text in notes.items():
        (tmp_path / f"{name}.md").write_text(text)
    palace.index(embedder="hashing")
    return palace


@pytest.mark.parametrize("text", ["learn more", "how we think", "do not", "frost"])
def test_a_link_text_that_names_nothing_asks_nothing(text):
    assert askings(frost="# Frost\n\nIt bites.\n", log=f"See [[frost|{text}]].\n") == []


def test_what_notes_call_each_other_is_asked_with_its_place():
    found = askings(
        frost="# Frost\n\nIt bites.\n",
        log="---\ntitle: Log\n---\n\n# Log\n\nThe [[frost|white killer]] came.\n",
    )
    assert found == [("link", "white killer", "frost.md", "log.md", 7)]


def test_a_broken_link_asks_for_the_only_note_of_that_title():
    notes = {"plugins-daily": "# Daily notes\n\nOne a day.\n"}
    notes["log"] = "# Log\n\nWrite in the [[Daily notes|journal of days]].\n"
    assert askings(**notes)[0][:3] == ("link", "journal of days", "plugins-daily.md")


def test_words_that_are_used_of_two_notes_ask_for_neither():
    notes = {"a": "# A\n\nOne.\n", "b": "# B\n\nTwo.\n"}
    notes["log"] = "# Log\n\nSee [[a|the old way]] and [[b|the old way]].\n"
    assert askings(**notes) == []


def test_the_products_own_sections_ask_nothing():
    """A round asked "Anchor: Movement pulls unroll, Color purple" and rewrote that section."""
    body = "# A\n\n- Anchor: [[b|purple pulls]]\n\n## Image\n\nSee [[b|the great gong]].\n\n"
    own = "SMASHIN SCOPE", "Metadata", "Links", "Anchors", "Verification"
    for level in ("##", "###"):
        body += "".join(f"{level} {n}\n\nMovement [[b|pulls {n} unroll]].\n\n" for n in own)
    body += "## Later\n\nThey [[b|pull and unroll]].\n"
    assert [a[:2] for a in askings(a=body, b="# B\n\nText.\n")] == [("link", "pull and unroll")]


def test_the_field_questions_and_the_golden_set_are_asked():
    notes = library(frost="---\nquestions: [when do we light lanterns?]\n---\n# Frost\n\nLate.\n")
    found = collect_askings(notes, {"what kills the blossom?": ["Frost", "gone"]})
    assert [(a.kind, a.question, a.path) for a in found] == [
        ("golden", "what kills the blossom?", "frost.md"),
        ("question", "when do we light lanterns?", "frost.md"),
    ]


def test_the_note_whose_words_are_asked_is_left_out_of_the_answer(orchard_palace):
    asking = Asking("white killer in April", "link", "frost.md", "Frost", "log.md", 3)
    (asked,) = ask_search(orchard_palace, [asking])
    assert "log.md" not in asked.found


def test_the_report_names_what_is_not_found_and_what_has_the_name_of_another(orchard_palace):
    done = run(orchard_palace)
    assert [c.path for c in done.confused] == ["smoke.md"]
    lines = list(done.lines())
    assert 'Smoke is linked as "smudge pots" (log.md:3), which is Smudge pots' in lines[1]
    assert done.known_questions == done.questions == 2


def test_strategies_ask_as_they_say():
    titles = {"a.md": "Frost lanterns", "b.md": "Bees", "c.md": "Cider"}
    memories = {
        path: memory(path, "x", subject=title, confidence=n / 10)
        for n, (path, title) in enumerate(titles.items())
    }
    made = [
        Asking("golden one", "golden", "c.md", "Cider"),
        *(
            Asking(f"{kind} of {path}", kind, path, title)
            for path, title in titles.items()
            for kind in ("question", "link")
        ),
        Asking("bees by night", "question", "c.md", "Cider"),
    ]
    made.sort(key=lambda asking: KINDS.index(asking.kind))

    def choose(strategy, count=20):
        return [a.question for a in choose_askings(made, memories, strategy, count, seed=1)]

    assert choose(Strategy.WEAK_SPOTS)[:5] == [
        "golden one",
        "question of a.md",
        "question of b.md",
        "question of c.md",
        "link of a.md",
    ]
    assert choose(Strategy.DEPTH_FIRST, 3) == ["golden one", "question of a.md", "link of a.md"]
    assert sorted(choose(Strategy.RANDOM)) == sorted(a.question for a in made)
    assert choose(Strategy.RANDOM) != choose(Strategy.WEAK_SPOTS)
