"""What comes to mind by itself is judged by what was printed, on palaces that hold no later day."""

import json
from functools import partial

import pytest
from writing_notes import write_notes

from benchmarks.__main__ import main
from benchmarks.metrics import wilson_interval
from benchmarks.recall import listen, sum_up
from benchmarks.recall_sets import Remark, choose_half, read_own, read_talks
from benchmarks.recall_systems import BUDGET, SYSTEMS, Speech
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import PalaceError

NOTES = {
    "mast.md": "# Mast\n\nThe mast was painted green by Tomas in spring. Thanks!\n",
    "boat.md": "# Boat\n\nThe old boat leaks where the rope has rubbed its side. Thanks!\n",
    "frost.md": "---\ndate: 2026-09-22\n---\n# Frost\n\nThe orchard froze on the first night.\n",
}
SAID = [
    ("I have to bail out the boat again", ["boat.md"], "dev"),
    ("Tomas wants another colour for that mast", ["mast.md"], "dev"),
    ("will the orchard freeze this year as well", ["frost.md"], "held"),
]
TALK = [
    ("good morning", "en", "dev"),
    ("guten Morgen", "de", "dev"),
    ("hm, let me see", "en", "held"),
]


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


@pytest.fixture
def own(tmp_path):
    """A folder of notes, lines that refer to them, and small talk."""
    said = [{"utterance": text, "gold": gold, "half": half} for text, gold, half in SAID]
    talk = [{"utterance": text, "lang": lang, "half": half} for text, lang, half in TALK]
    return (
        write_notes(tmp_path / "notes", NOTES),
        write_lines(tmp_path / "said.jsonl", said),
        write_lines(tmp_path / "talk.jsonl", talk),
    )


@pytest.fixture
def say(own, tmp_path):
    """Say the lines of a half to one system; give what was judged."""

    def run(system, half="dev"):
        chosen = choose_half([read_own(*own)], half)
        cache = tmp_path / "cache"
        return list(listen(list(chosen), {"one": system}, embedder=HashingEmbedder(), cache=cache))

    return run


def tell(palace, said, *, path, text, printed=None):
    return Speech(printed or f"{path}:1\n{text}", {path: text}, (path,), 0.5)


def test_who_always_speaks_is_never_silent_and_who_never_does_finds_nothing(say):
    told = {path: NOTES[path] for path in ("mast.md", "boat.md")}
    (loud,) = sum_up(say(lambda palace, said: Speech("\n".join(told.values()), told, list(told))))
    assert (loud.refers, loud.chat) == (2, 2)
    assert (loud.spoken.value, loud.silent.value) == (1, 0)
    assert loud.held.value == loud.found.value == 1
    assert 0 < loud.bytes <= BUDGET
    (mute,) = sum_up(say(SYSTEMS["nothing"]))
    assert (mute.spoken.value, mute.silent.value, mute.bytes) == (0, 1, 0)
    assert mute.held.value == mute.found.value == mute.shown.value == 0


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("The old boat leaks where the rope has rubbed its side.", 1),
        ("the OLD boat  leaks where\nthe rope has *rubbed* its side", 1),
        ("The old boat leaks where the rope has", 0),
        ("Thanks!", 0),
        ("The mast was painted green by Tomas in spring.", 0),
    ],
)
def test_a_whole_sentence_of_a_gold_note_counts_whatever_its_marks(say, text, held):
    judged = say(partial(tell, path="boat.md", text=text))
    assert [one.held for one in judged if one.refers] == [held, 0]


def test_what_was_not_printed_does_not_count(say):
    text = "The old boat leaks where the rope has rubbed its side."
    judged = say(partial(tell, path="boat.md", text=text, printed="boat.md"))
    assert [one.held for one in judged] == [0, 0, 0, 0]


def test_who_says_more_than_there_is_room_for_is_an_error(say):
    with pytest.raises(PalaceError, match="said 1501 bytes"):
        say(partial(tell, path="boat.md", text="", printed="x" * (BUDGET + 1)))


def test_nobody_is_told_what_is_gold(say):
    seen = []

    def listen_in(palace, said):
        seen.append(said)
        return Speech()

    say(listen_in, "all")
    assert len(seen) == len(SAID) + len(TALK)
    assert {(said.id, said.half, said.gold, said.turns) for said in seen} == {
        ("", "dev", frozenset(), ())
    }


def test_a_ranking_counts_though_nothing_is_said(say):
    judged = say(lambda palace, said: Speech(ranked=("frost.md", "boat.md"), sure=len(said.text)))
    (row,) = sum_up(judged)
    assert (row.found.value, row.shown.value, row.held.value) == (0.5, 0, 0)
    assert row.auc == 1.0, "lines that refer are the longer ones here"


def test_halves_are_kept_apart(own):
    def texts(half):
        return {said.text for one in choose_half([read_own(*own)], half) for said in one.said}

    assert texts("dev") | texts("held") == texts("all")
    assert not texts("dev") & texts("held")


@pytest.fixture
def talks(locomo, tmp_path):
    """The two sessions and a third one, in which something refers to the first."""
    samples = json.loads(locomo.read_text())
    samples[0]["conversation"] |= {
        "session_3_date_time": "10:00 am on 3 June, 2023",
        "session_3": [
            {"speaker": "Bert", "dia_id": "D3:1", "text": "Hi!"},
            {"speaker": "Anna", "dia_id": "D3:2", "text": "Hello Bert."},
            {"speaker": "Bert", "dia_id": "D3:3", "text": "Look.", "blip_caption": "a plum"},
            {"speaker": "Anna", "dia_id": "D3:4", "text": "As red as the ones at my shed."},
        ],
    }
    locomo.write_text(json.dumps(samples))
    line = {"conversation": "c1", "half": "held"}
    marked = [
        line | {"turn": "D3:4", "refers": True, "gold": ["D1:1"]},
        line | {"turn": "D3:3", "refers": False, "gold": []},
    ]
    write_lines(tmp_path / "locomo.jsonl", marked)
    write_lines(tmp_path / "locomo_chat.jsonl", [line | {"turn": "D3:1"}])
    return locomo


def test_a_palace_holds_the_sessions_before_what_is_said(talks, tmp_path):
    (listener,) = read_talks(talks, tmp_path)
    assert [document.id for document in listener.notes.documents] == ["session_1", "session_2"]
    refers, chat = listener.said
    assert refers == Remark(
        "c1-D3:4",
        "As red as the ones at my shed.",
        "held",
        frozenset({"session_1"}),
        ("I planted tomatoes behind the shed.",),
        as_of=refers.as_of,
    )
    assert refers.as_of > max(document.timestamp for document in listener.notes.documents)
    assert (chat.text, chat.gold) == ("Hi!", frozenset())


def test_a_gold_turn_is_there_whole_or_not(talks, tmp_path):
    listeners = list(read_talks(talks, tmp_path))
    ask = partial(listen, listeners, embedder=HashingEmbedder(), cache=tmp_path / "cache")
    for text, turn in [("Anna: I planted tomatoes behind the shed.", 1), ("I planted tomatoes", 0)]:
        system = partial(tell, path="0000000.md", text=text)
        (row,) = sum_up(list(ask({"one": system})))
        assert (row.set, row.turn.value, row.held.value) == ("locomo", turn, turn)


def test_an_interval_of_a_share_has_a_width_where_all_are_right():
    low, high = wilson_interval([1.0] * 20)
    assert (round(low, 3), high) == (0.839, 1.0)
    low, high = wilson_interval([1.0, 0.0] * 10)
    assert (round(low, 3), round(high, 3)) == (0.299, 0.701)


def test_a_benchmark_without_data_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.delenv("PALACE_BENCH_DATA", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["recall"])
    assert ended.value.code == 2
    assert "give --data" in capsys.readouterr().err
