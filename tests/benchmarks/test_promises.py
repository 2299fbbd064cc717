"""The table of promises: what is missing is said, and a limit that is not kept is seen."""

import json

import pytest

from benchmarks import promises
from benchmarks.__main__ import main
from benchmarks.given import Given
from benchmarks.promises import PARTS, compare_systems, measure_promises
from benchmarks.recall import Estimate, RecallRow
from benchmarks.timing import Measured, measure_commands, python, time_calls
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import PalaceError, UsageError


def test_a_limit_is_of_the_ratio_where_there_is_a_baseline():
    assert Measured("m", 3.0, baseline=2.0, limit=1.6).is_kept
    assert Measured("m", 3.0, baseline=2.0, limit=1.4).is_kept is False
    assert Measured("m", 3.0, limit=2.9).is_kept is False
    assert Measured("m", 3.0, limit=2.9, at_least=True).is_kept
    assert Measured("m", 3.0).is_kept is None
    assert Measured("m", None, limit=1).is_kept is None


@pytest.mark.parametrize(
    "part",
    [
        *("locomo", "scifact", "product", "qmsum", "longmemeval", "pages", "names"),
        *("confidence", "shown", "recall", "serve", "verify"),
    ],
)
def test_a_part_without_its_data_says_what_it_needs(tmp_path, part):
    (row,) = measure_promises(Given(None, tmp_path), [part])
    assert (row.what, row.value, row.is_kept) == (part, None, None)
    assert row.note.startswith("skipped: needs --")


def test_an_unknown_part_is_refused(tmp_path):
    with pytest.raises(UsageError, match="unknown part 'speeed'"):
        list(measure_promises(Given(None, tmp_path), ["speeed"]))


def test_a_limit_that_is_not_kept_is_an_exit_status(capsys, monkeypatch):
    monkeypatch.setitem(PARTS, "cost", lambda given: iter([Measured("lines", 2.0, limit=1)]))
    with pytest.raises(SystemExit) as stopped:
        main(["promises", "--part", "cost", "--json"])
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
        (
            "pages",
            {
                "help, hybrid, e5, worst: de": 1,
                "help, across, e5, mean of those other than English": 1,
            },
        ),
    ],
)
def test_promises_are_measured_on_the_sets(data, tmp_path, monkeypatch, part, rows):
    monkeypatch.setattr(promises, "get_embedder", lambda name: HashingEmbedder())
    monkeypatch.setattr(promises, "need_models", lambda *names: None)
    monkeypatch.setattr(promises, "is_available", lambda name: False)
    found = list(measure_promises(Given(data, tmp_path / "cache"), [part]))
    values = {row.what: row.value for row in found}
    assert {what: values[what] for what in rows} == rows
    assert all(row.is_kept for row in found if row.limit is not None)


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
