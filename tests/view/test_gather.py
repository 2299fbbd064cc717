"""What a plan holds of a palace, and what it never does."""

import json
from dataclasses import asdict

import pytest
from writing_notes import index_notes

from memory_palace.features.view.gather import gather, read_text
from memory_palace.palace import Palace

TOKEN = "AKIA" + "Q7RZ2KJX5LMN3PWT"


def everything(plan):
    """Return a plan as text, to look for what must not be in it."""
    return json.dumps(asdict(plan), default=str)


def by_path(plan):
    return {note.path: note for note in plan.notes}


def test_a_note_comes_with_its_text_its_links_and_its_dates(tmp_path):
    palace = index_notes(
        tmp_path,
        {
            "Trees/Oak.md": "---\ndate: 2026-02-03\naliases: [Quercus]\n"
            "tags: [wood]\n---\n# Old oak\n\nIt stands by the [[Elm|elm]] and by [[Nothing]].\n",
            "Trees/Elm.md": "The elm is younger than the [[Quercus]].\n",
            "Root.md": "See [the oak](Trees/Oak.md).\n",
        },
    )
    plan = gather(palace)
    notes = by_path(plan)
    oak, elm = notes["Trees/Oak.md"], notes["Trees/Elm.md"]
    assert (oak.title, oak.aliases, oak.tags) == (
        "Old oak",
        ("Quercus",),
        ("wood",),
    )
    assert oak.text == "# Old oak\n\nIt stands by the [[Elm|elm]] and by [[Nothing]]."
    assert (oak.day, elm.day) == (20487, None)
    at = [note.path for note in plan.notes]
    assert oak.links == (("Elm", at.index("Trees/Elm.md")),)
    assert elm.links == (("Quercus", at.index("Trees/Oak.md")),)
    assert [to for _, to in notes["Root.md"].links] == [at.index("Trees/Oak.md")]
    assert at == sorted(at)
    assert {plan.rooms[note.room].name for note in plan.notes} == {"Trees", ""}
    assert plan.title == tmp_path.name


def test_links_are_those_of_the_graph(tmp_path):
    notes = {
        f"{'AB'[n % 2]}/n{n}.md": f"---\naliases: [other {n}]\n---\n"
        f"[[n{n * 7 % 20}]] [[other {n * 3 % 20}|x]] [[A/n{n}]] [[n{n}]] [[gone]] [[same]] "
        f"[there](../A/n{n // 2 * 2}.md)\n"
        for n in range(20)
    } | {"A/same.md": "One.\n", "B/same.md": "Other.\n", "C/x.md": "[[same]] ![[n3]]\n"}
    palace = index_notes(tmp_path, notes)
    plan = gather(palace)
    found = {(n.path, text, plan.notes[to].path) for n in plan.notes for text, to in n.links}
    edges = palace.graph().edges
    assert found == {(e.source, e.text, e.targets[0]) for e in edges if e.state == "resolved"}
    assert len(found) > 50


def test_nothing_of_a_private_note_is_on_the_plan(tmp_path):
    palace = index_notes(
        tmp_path,
        {
            "Diary.md": "---\nprivate: true\naliases: [Hortensia]\n---\nWe met [[Friend]] again.\n",
            "Friend.md": "A friend from [[Hortensia]].\n",
            "Other.md": "Sees [[Diary]].\n",
        },
    )
    plan = gather(palace)
    assert [note.path for note in plan.notes] == ["Friend.md", "Other.md"]
    assert not any(note.links for note in plan.notes)
    assert "Diary.md" not in everything(plan)
    assert "met" not in everything(plan)
    assert read_text(palace, "Diary.md") is None


def test_a_note_that_became_private_since_it_was_indexed_is_left_out(tmp_path):
    palace = index_notes(tmp_path, {"a.md": "Plain words.\n", "b.md": "See [[a]].\n"})
    (tmp_path / "a.md").write_text("---\nprivate: true\n---\nPlain words.\n", "utf-8")
    plan = gather(palace)
    assert [note.path for note in plan.notes] == ["b.md"]
    assert plan.notes[0].links == ()
    assert read_text(palace, "a.md") is None


@pytest.mark.parametrize("is_indexed", [False, True])
def test_no_room_is_called_by_a_note_that_became_private(tmp_path, is_indexed):
    kinds = ("oak elm ash [[00]]", "wheel axle brake [[01]]", "violin cello flute [[02]]")
    notes = {f"{n:02}.md": f"# {chr(65 + n) * 7}\n\n{kinds[n % 3]}\n" for n in range(26)}
    palace = index_notes(tmp_path, notes)
    named = [room.name for room in gather(palace).rooms]
    assert len(named) == 3
    for path, text in notes.items():
        if any(name.casefold() in text.casefold() for name in named):
            (tmp_path / path).write_text(f"---\nprivate: true\n---\n{text}", "utf-8")
    if is_indexed:
        palace.index()
    found = everything(gather(palace)).casefold()
    assert [name for name in named if name.casefold() in found] == []


def test_private_spans_secrets_comments_and_tokens_are_blank(tmp_path):
    palace = index_notes(
        tmp_path,
        {
            "a.md": "One line.\n\n<private>her number</private>\n\n%% a remark %%\n\n"
            f"key {TOKEN}\n\n<!-- hidden -->\n\nLast line.\n"
        },
    )
    text = gather(palace).notes[0].text
    assert text.split() == "One line. Last line.".split()
    assert text.count("\n") == 10, "lines stay where they are"
    assert read_text(palace, "a.md") == text


COLD = {
    "Now/a.md": "Warm words about [[old thing]] and [[b]].\n",
    "Now/b.md": "More of it.\n",
    "archive_basement/2020/old thing.md": "Frosty words about [[b]].\n",
}


def test_cold_notes_are_a_locked_room_without_names(tmp_path):
    palace = index_notes(tmp_path, COLD)
    plan = gather(palace)
    cold = [room for room in plan.rooms if room.is_cold]
    assert [(room.notes, room.locked) for room in cold] == [(0, 1)]
    assert [note.path for note in plan.notes] == ["Now/a.md", "Now/b.md"]
    assert "Frosty" not in everything(plan)
    assert "old thing.md" not in everything(plan)
    assert [to for to, _ in plan.notes[0].links] == ["b"]


def test_cold_notes_are_shown_to_whoever_asks_and_everything_else_stays(tmp_path):
    palace = index_notes(tmp_path, COLD)
    hot, whole = gather(palace), gather(palace, include_cold=True)
    old = by_path(whole)["archive_basement/2020/old thing.md"]
    assert old.is_cold
    assert [(room.notes, room.locked) for room in whole.rooms if room.is_cold] == [(1, 0)]
    assert [to for to, _ in by_path(whole)["Now/a.md"].links] == ["old thing", "b"]
    assert {n.path: n.box for n in hot.notes}.items() <= {
        n.path: n.box for n in whole.notes
    }.items()
    assert read_text(palace, old.path) == "Frosty words about [[b]]."


def test_the_nearest_in_meaning_are_named_and_none_without_vectors(tmp_path):
    notes = {
        "tea.md": "Green tea steeps in hot water.\n",
        "pot.md": "Tea steeps in a pot of hot water.\n",
        "car.md": "The engine of a car needs oil.\n",
        "bus.md": "A bus has an engine and oil too.\n",
    }
    plan = gather(index_notes(tmp_path / "with", notes))
    at = {note.path: number for number, note in enumerate(plan.notes)}
    assert by_path(plan)["tea.md"].near[0] == at["pot.md"]
    assert by_path(plan)["car.md"].near[0] == at["bus.md"]
    assert at["tea.md"] not in by_path(plan)["tea.md"].near
    plan = gather(index_notes(tmp_path / "without", notes, embedder="none"))
    assert [note.near for note in plan.notes] == [()] * 4


def test_the_seven_rooms_are_the_rooms_of_a_classic_palace(tmp_path):
    palace = Palace.init(tmp_path)
    palace.new("A hall", room="grand_hall")
    palace.new("A project", room="project_rooms")
    palace.index(embedder="hashing")
    assert {room.name for room in gather(palace).rooms} == {"grand_hall", "project_rooms"}
