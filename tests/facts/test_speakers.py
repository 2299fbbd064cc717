"""Who says what."""

import pytest

from memory_palace.language.sentences import find_speakers, find_units, split_speakers
from memory_palace.models import Filters, ParsedQuery
from memory_palace.notes.parsing import parse_note
from memory_palace.palace import Palace
from memory_palace.retrieval.evidence import gather
from memory_palace.retrieval.signals import speaker


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Anna: I am late", ["anna"]),
        ("**Anna Lee:** I am late", ["anna", "lee"]),
        ("- Anna: I am late", ["anna"]),
        ("anna: a key of some list", []),
        ("The one thing that Anna said: nothing", []),
        ("at 10:30 we met", []),
        ("[10:30] Meeting: the plan", []),
        ("https://example.org", []),
    ],
)
def test_a_label_is_short_and_begins_with_a_capital(line, words):
    assert list(find_speakers(line)) == words


@pytest.mark.parametrize(
    ("form", "first", "second"),
    [
        ("{}: {}", "elise", "bo"),
        ("**{}:** {}", "elise", "bo"),
        ("{}: {}", "安娜", "小明"),
        ("{}：{}", "安娜", "小明"),
        ("[12:40] {}: {}", "Anna", "Bo"),
        ("**[12:40] {}:** {}", "Anna", "Bo"),
        ("{} (12:40): {}", "Anna", "Bo"),
        ("12:40 {}: {}", "Anna", "Bo Ek"),
        ("1/5/24, 12:40 - {}: {}", "Tim", "Amy"),
        ("01/05/2024, 12:40 - {}: {}", "Anna Lee", "Bo"),
        ("1/5/24, 12:40\u202fPM - {}: {}", "anna", "bo"),
        ("[01.05.24, 12:40:11] {}: {}", "Anna", "Bo"),
        ("{}  12:40 PM\n{}", "Anna", "Bo"),
        ("{}, [01.05.2024 12:40]\n{}", "Anna", "Bo"),
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_those_who_take_turns_speak_however_they_are_labelled(form, first, second, gap):
    said = ("are you coming?", "yes", "good", "see you")
    lines = [form.format(*turn) for turn in zip((first, second) * 2, said, strict=True)]
    text = gap.join(lines)
    who = [first.casefold(), second.casefold()] * 2
    assert list(find_speakers(text)) == " ".join(who).split()
    assert [unit.speaker for unit in find_units(text)] == who
    assert [(name, part.strip()) for name, part in split_speakers(text)] == [
        *zip(who, said, strict=True)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "todo: call Bo\nnote: is he in?\nidea: ask again\n",
        "todo: call Bo\nnote: he is out\n" * 2,
        "q: who is it?\na: nobody\n" * 2,
        "pros: cheap\ncons: slow\n" * 2,
        "- name: lamp\n  price: 12\n" * 2,
        "12:40:11 error: disk full\n12:41:02 info: started\n" * 2,
        "例：你好\n注意：再见\n" * 2,
    ],
)
def test_keys_that_recur_are_nobody(text):
    assert list(find_speakers(text)) == []


def test_keys_of_code_are_nobody(tmp_path):
    keys = "ask: who?\nask: he\ntell: she\n" * 2
    Palace.init(tmp_path, here=True)
    (tmp_path / "code.md").write_text(f"# Code\n\n```yaml\n{keys}```\n")
    (tmp_path / "talk.md").write_text(f"# Talk\n\n{keys}")
    palace = Palace(tmp_path)
    palace.index(embedder="none")
    assert palace.snapshot().speakers == {"ask", "tell"}


@pytest.mark.parametrize(
    ("first", "second", "named", "meant"),
    [
        ("Muhhamed", "Fahim", "Muhammad", ["first.md"]),
        ("muhhamed", "fahim", "fahmi", ["second.md"]),
        ("Tim", "John", "Jhon's", ["second.md"]),
        ("Tim", "John", "Tmi", ["first.md"]),
        ("Tim", "John", "marathon", []),
        ("Jon", "John", "John", ["second.md"]),
        ("卡罗琳", "安娜", "卡罗琳", ["first.md"]),
    ],
)
def test_a_name_that_nobody_has_is_the_speakers_who_is_spelt_most_like_it(
    tmp_path, first, second, named, meant
):
    palace = Palace.init(tmp_path, here=True)
    for who, note in ((first, "first.md"), (second, "second.md")):
        turns = (f"{who}: did you paint?", "Zoë: yes, white", f"{who}: fine", "Zoë: white fades")
        (tmp_path / note).write_text("\n\n".join(turns), encoding="utf-8")
    palace.index(embedder="none")
    query = ParsedQuery(f"what did {named} say of paint?", 0.0, Filters())
    asked = gather(query, palace.snapshot(), signals={"speaker"}, half_life_days=30)
    spoken = asked.rows[speaker(asked, asked.rows) > 0]
    assert [asked.snapshot.paths[note] for note in asked.note_of[spoken]] == meant


@pytest.mark.parametrize(
    "form",
    [
        "[12:40] {}: {}",
        "**[12:40] {}:** {}",
        "01/05/2024, 12:40 - {}: {}",
        "{}  12:40 PM\n{}",
        "{}, [01.05.2024 12:40]\n{}",
    ],
)
def test_the_times_of_turns_are_shown_and_neither_words_nor_meaning(form):
    turns = [("Anna", "are you in?"), ("Bo", "yes"), ("Anna", "at 10:30"), ("Bo", "fine")]
    body = "\n\n".join(form.format(*turn) for turn in turns) + "\n\n[12:40] Lunch: soup"
    note = parse_note("n.md", body.encode(), count_tokens=len, token_limit=10_000)
    plain = "\n\n".join(f"{who}: {said}" for who, said in turns) + "\n\n[12:40] Lunch: soup"
    assert [chunk.text for chunk in note.chunks] == [body]
    assert [chunk.embed_text for chunk in note.chunks] == [plain]


def test_the_times_of_those_who_take_no_turns_stay():
    body = "[12:40] Anna: are you in?\n\n[12:41] Bo: yes"
    (only,) = parse_note("n.md", body.encode(), count_tokens=len, token_limit=10_000).chunks
    assert only.embed_text == body
