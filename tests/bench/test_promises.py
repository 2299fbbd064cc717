"""The table of promises: what is missing is said, and a limit that is not kept is seen."""

from __future__ import annotations

import json

import pytest

from memory_palace.bench import promised_answers, promised_costs, promised_recall
from memory_palace.bench.first_minutes import LEAST_KNOWN, measure_names, read_screen
from memory_palace.bench.given import Given
from memory_palace.bench.golden import Pair
from memory_palace.bench.promised_recall import compare_systems
from memory_palace.bench.promises import HEAVY, PARTS, measure_promises
from memory_palace.bench.recall import Estimate, RecallRow
from memory_palace.bench.timing import Measured, measure_commands, python, time_calls
from memory_palace.cli.app import main
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import PalaceError, UsageError


def test_a_limit_is_of_the_ratio_where_there_is_a_baseline():
    assert Measured("m", 3.0, baseline=2.0, limit=1.6).is_kept
    assert Measured("m", 3.0, baseline=2.0, limit=1.4).is_kept is False
    assert Measured("m", 3.0, limit=2.9).is_kept is False
    assert Measured("m", 3.0, limit=2.9, at_least=True).is_kept
    assert Measured("m", 3.0).is_kept is None
    assert Measured("m", None, limit=1).is_kept is None


def test_lines_and_the_longest_file_and_function_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(promised_costs, "HOME", tmp_path)
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\nx = 2  # fmt" + ": skip\n")
    (tmp_path / "b.py").write_text("y = 1\n")
    values = [row.value for row in measure_promises(Given(None, None, tmp_path), ["code"])]
    assert values == [6, 5, 2, 1]


@pytest.mark.parametrize(
    "part",
    [
        *("size", "build", "locomo", "scifact", "held-out", "product", "qmsum", "longmemeval"),
        *("pages", "confidence", "shown", "recall", "serve", "structure", "verify"),
    ],
)
def test_a_part_without_its_data_says_what_it_needs(tmp_path, part):
    (row,) = measure_promises(Given(None, None, tmp_path), [part])
    assert (row.what, row.value, row.is_kept) == (part, None, None)
    assert row.note.startswith("skipped: needs --")


def test_an_unknown_part_is_refused(tmp_path):
    with pytest.raises(UsageError, match="unknown part 'speeed'"):
        list(measure_promises(Given(None, None, tmp_path), ["speeed"]))
    assert set(PARTS) > HEAVY


def test_what_a_question_runs_is_counted(tmp_path):
    asked, imported, changed = measure_promises(Given(None, None, tmp_path), ["reach"])
    assert 10 < asked.value <= imported.value < 110
    assert changed.value > 10


def test_a_limit_that_is_not_kept_is_an_exit_status(capsys, monkeypatch):
    monkeypatch.setitem(PARTS, "code", lambda given: iter([Measured("lines", 2.0, limit=1)]))
    with pytest.raises(SystemExit) as stopped:
        main(["bench", "promises", "--part", "code", "--json"])
    assert stopped.value.code == 8
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    assert figure["kept"] is False


def test_commands_are_measured_in_turn_and_a_failing_one_is_named():
    (cost,) = measure_commands(python("print(sum(range(100_000)))"), runs=1, warmup=0)
    assert cost.cpu_seconds > 0
    assert cost.peak_mib > 1  # a fork begins with the peak of its parent, which may be large
    with pytest.raises(PalaceError, match="nobody knows"):
        measure_commands(python("raise SystemExit('nobody knows')"), runs=1, warmup=0)
    assert len(time_calls(list, dict, runs=3)) == 2


def test_names_of_a_folder_are_asked_and_the_worst_kind_is_held_to_its_limit(
    tmp_path, tmp_path_factory
):
    cache = tmp_path_factory.mktemp("cache")
    for name, word in (("Heron", "weir"), ("Otter", "holt"), ("Vole", "bank")):
        (tmp_path / f"{name} notes.md").write_text(
            f"---\naliases: [{word} file]\n---\n# {name} notes\n\nThe {word} is where the"
            f" {name.lower()} sleeps for long and quiet hours.\n"
        )
    rows = {
        row.what: row for row in measure_names([tmp_path], cache=cache, embedder="hashing", most=5)
    }
    asked = {f"known items by {kind}, the worse folder" for kind in LEAST_KNOWN}
    assert asked <= rows.keys()
    assert sum(name.startswith("small palaces") for name in rows) == 4
    assert all(0 <= row.value <= 1 and row.at_least for row in rows.values())


@pytest.fixture
def data(tmp_path, locomo):
    """Three conversations and the pages of two languages, where promised sets are looked for."""
    (sample,) = json.loads(locomo.read_text())
    samples = [sample | {"sample_id": name} for name in ("a", "b", "c")]
    (tmp_path / "data" / "locomo").mkdir(parents=True)
    (tmp_path / "data" / "locomo" / "locomo_dev.json").write_text(json.dumps(samples))
    gold = {"category": 4, "question": "Who planted tomatoes?", "gold_turns": ["D1:1"]}
    rows = [
        gold | {"qid": f"{name}1", "sample_id": name, "gold_sessions": ["session_1"]}
        for name in ("a", "b", "c")
    ]
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "data" / "locomo" / "gold_dev.jsonl").write_text(lines)
    pages = tmp_path / "data" / "multilingual-help"
    for language in ("en", "de"):
        (pages / "notes" / language).mkdir(parents=True)
        (pages / "notes" / language / "tomato.md").write_text("# Tomato\n\nHow to plant it.\n")
    asked = [
        {"lang": at, "question": "plant", "note": f"{at}/tomato.md", "permalink": "t"}
        for at in ("en", "de")
    ]
    (pages / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)))
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ("product", {"LoCoMo dev as notes, the session in five": 1}),
        ("held-out", {"LoCoMo dev left out, turn, minilm": 1}),
        (
            "pages",
            {
                "help, hybrid, e5, worst: de": 1,
                "help, across, e5, mean of those other than English": 1,
            },
        ),
    ],
)
def test_promised_answers_are_measured_on_the_sets(data, tmp_path, monkeypatch, part, rows):
    monkeypatch.setattr(promised_answers, "get_embedder", lambda name: HashingEmbedder())
    monkeypatch.setattr(promised_answers, "need_models", lambda *names: None)
    monkeypatch.setattr(promised_answers, "is_available", lambda name: False)
    found = list(measure_promises(Given(data, None, tmp_path / "cache"), [part]))
    values = {row.what: row.value for row in found}
    assert {what: values[what] for what in rows} == rows
    assert all(row.is_kept for row in found if row.limit is not None)


def test_a_terminal_is_read_without_what_colours_it():
    text = r"import shutil; print('\x1b[1mwide\x1b[0m', shutil.get_terminal_size().columns)"
    assert read_screen(python(text), 47) == ["wide 47"]
    with pytest.raises(PalaceError, match="failed: no"):
        read_screen(python("print('no'); raise SystemExit(3)"), 47)


def recall_row(system, **shares):
    made = {name: Estimate(value, 0, 1) for name, value in shares.items()}
    lines = {"set": "garden", "half": "held", "refers": 40, "chat": 80}
    rest = dict.fromkeys(("bytes", "chat_bytes", "p50_ms", "p95_ms", "auc"), 1.0)
    empty = dict.fromkeys(("spoken", "silent", "held", "turn", "found", "shown"))
    return RecallRow(system=system, **{**lines, **rest, **empty, **made})


@pytest.mark.parametrize(
    ("ours", "kept"),
    [
        ({"spoken": 0.9, "silent": 0.95, "held": 0.73, "found": 0.7}, [True] * 5),
        ({"spoken": 0.8, "silent": 0.9, "held": 0.7, "found": 0.6}, [False] * 5),
        ({"spoken": 0.9, "silent": 1, "held": 0.8, "found": 0.69}, [True, True, True, False, True]),
    ],
)
def test_recall_is_held_to_what_always_speaks(ours, kept):
    rows = {
        "recall": recall_row("recall", **ours),
        "hybrid": recall_row("hybrid", held=0.75, found=0.7),
        "cosine": recall_row("cosine", held=0.8, found=0.71),
        "nothing": recall_row("nothing", held=0, found=0),
    }
    assert [row.is_kept for row in compare_systems(rows)] == kept


def test_json_is_measured_beside_the_text_it_brings(tmp_path, monkeypatch):
    pairs = [Pair("what drifts in frost", "a.md")]
    monkeypatch.setattr(promised_recall, "read_pairs", lambda path: pairs)
    (row,) = measure_promises(Given(None, None, tmp_path), ["json"])
    assert row.value > row.baseline > 100
