"""What is accepted and what is refused is counted by kind, the worst first."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from memory_palace.bench import promised_answers, verify_answers, verify_systems
from memory_palace.bench.given import Given
from memory_palace.bench.promises import measure_promises
from memory_palace.bench.verify_answers import WrittenAnswer, load_answers
from memory_palace.bench.verify_systems import (
    NAMED,
    SEARCHED,
    SYSTEMS,
    AnswerOutcome,
    accept_above,
    choose_asked,
    list_judges,
)
from memory_palace.bench.verifying import count_kinds, sum_system
from memory_palace.checking.verdicts import Verdict
from memory_palace.cli.app import main
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.errors import UsageError
from memory_palace.facade.mnemonics import Memories
from memory_palace.mnemonics.verify import verify as verify_alone
from tests.cross_encoders import needs_library, write_overlap_model

GARDEN = "vaults/jackyzha0-garden"
NOTES = {
    "kiln.md": "# Kiln\n\nThe kiln cools for twelve hours before Ada opens it.\n",
    "bees.md": "# Bees\n\nThe bees swarm in May, when the lime trees are in flower.\n",
}
PAPER = {"_id": "7", "title": "On glaze", "text": "Copper makes the glaze turn green."}
SAID = (
    ("garden", f"{GARDEN}/kiln.md", "number", "The kiln cools for two hours."),
    ("garden", f"{GARDEN}/kiln.md", "paraphrase", "The kiln cools twelve hours before it opens."),
    ("garden", f"{GARDEN}/bees.md", "time", "The bees swarm in June."),
    ("scifact", "7", "off", "Penguins dive deeper than seals do."),
)


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    (folder / GARDEN).mkdir(parents=True)
    for name, text in NOTES.items():
        (folder / GARDEN / name).write_text(text)
    (folder / "beir/scifact").mkdir(parents=True)
    (folder / "beir/scifact/corpus.jsonl").write_text(json.dumps(PAPER) + "\n")
    return folder


@pytest.fixture
def written(tmp_path):
    keys = ("collection", "source", "kind", "answer")
    lines = [dict(zip(keys, said, strict=True)) for said in SAID]
    path = tmp_path / "answers_dev.jsonl"
    path.write_text(
        "".join(json.dumps({"id": "a", "form": "own", **line}) + "\n" for line in lines)
    )
    return path


@pytest.fixture(autouse=True)
def hashing(monkeypatch):
    monkeypatch.setattr(verify_systems, "MODEL", "hashing")
    monkeypatch.setattr(verify_systems, "get_embedder", lambda name: HashingEmbedder())


def ask(system, answers, data, tmp_path):
    asked = choose_asked(system, answers)
    return SYSTEMS[system](asked, data, tmp_path / "cache", lambda what, done, total: None)


def test_the_palace_is_asked_with_the_note_named(data, written, tmp_path):
    outcomes = ask(NAMED, load_answers(written, data), data, tmp_path)
    number, right, month, off = (outcome.verdict for outcome in outcomes)
    assert number == month == Verdict.CONTRADICTED
    assert right in (Verdict.QUOTED, Verdict.SUPPORTED)
    assert off == Verdict.NOT_FOUND


def test_the_palace_finds_the_notes_of_its_vault_itself(data, written, tmp_path):
    answers = load_answers(written, data)
    outcomes = ask(f"{SEARCHED}, garden", answers, data, tmp_path)
    assert len(outcomes) == 3
    assert all(outcome.cites_source for outcome in outcomes)
    assert outcomes[0].verdict == Verdict.CONTRADICTED
    assert choose_asked(f"{SEARCHED}, help", answers) == []


def test_simple_systems_are_asked_the_same(data, written, tmp_path, monkeypatch):
    monkeypatch.setattr(verify_systems, "LEAST_COSINE", 0.3)
    monkeypatch.setattr(verify_systems, "LEAST_SHARED", 0.3)
    answers = load_answers(written, data)
    for system, accepted in (
        ("best cosine of a sentence", [True, True, True, False]),
        ("most shared words", [True, True, True, False]),
        ("everything accepted", [True] * 4),
    ):
        outcomes = ask(system, answers, data, tmp_path)
        assert [found.verdict == Verdict.SUPPORTED for found in outcomes] == accepted, system


def made(kind, form="own"):
    return WrittenAnswer("a", "It is so.", kind, form, "garden", "a.md", "It is so.")


ANSWERS = [made("role", "near"), made("role"), made("unit"), made("off"), made("paraphrase")]
OUTCOMES = [
    AnswerOutcome(Verdict.CONTRADICTED),
    AnswerOutcome(Verdict.SUPPORTED),
    AnswerOutcome(Verdict.QUOTED),
    AnswerOutcome(Verdict.NOT_FOUND),
    AnswerOutcome(Verdict.SUPPORTED, cites_source=True),
]


def test_kinds_come_with_the_worst_first_and_their_forms_after_them():
    rows = list(count_kinds("ours", ANSWERS, OUTCOMES))
    assert [(row.kind, row.form, row.accepted) for row in rows] == [
        ("unit", "all", 1),
        ("unit", "own", 1),
        ("role", "all", 0.5),
        ("role", "near", 0),
        ("role", "own", 1),
        ("off", "all", 0),
        ("off", "own", 0),
        ("paraphrase", "all", 1),
        ("paraphrase", "own", 1),
    ]
    assert (rows[0].quoted, rows[2].contradicted, rows[5].not_found) == (1, 0.5, 1)


def test_a_system_is_summed_up_by_its_worst_kind_never_by_a_mean():
    row = sum_system(f"{SEARCHED}, garden", ANSWERS, OUTCOMES)
    assert (row.worst_kind, row.worst_accepted, row.off_accepted) == ("unit", 1, 0)
    assert (row.right_refused, row.recall, row.precision) == (0, 1, pytest.approx(1 / 3))
    assert (row.f1, row.cites_source) == (pytest.approx(0.5), 0.2)
    assert sum_system(NAMED, ANSWERS, OUTCOMES).cites_source is None


def test_what_has_the_threshold_is_accepted():
    found = accept_above([0.5, 0.49], 0.5)
    assert [outcome.verdict for outcome in found] == [Verdict.SUPPORTED, Verdict.NOT_FOUND]


def test_the_half_without_rules_is_read_where_it_is_and_only_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(verify_answers, "checkout", lambda name: tmp_path)
    assert verify_answers.find_answers() == tmp_path / "answers_dev.jsonl"
    held = tmp_path / "answers_held.jsonl"
    held.write_text("{}\n")
    with pytest.raises(UsageError, match="is not what was fixed"):
        verify_answers.find_answers()
    monkeypatch.setattr(verify_answers, "HELD_DIGEST", verify_answers.digest_answers(held))
    assert verify_answers.find_answers() == held


def test_the_promises_are_held_to_the_worst_kind(data, written, tmp_path, monkeypatch):
    monkeypatch.setattr(promised_answers, "find_answers", lambda: written)
    monkeypatch.setattr(promised_answers, "need_models", lambda *names: None)
    rows = list(measure_promises(Given(data, None, tmp_path / "cache"), ["verify"]))
    assert [(row.value, row.limit, row.at_least) for row in rows] == [
        (0, 0.2, False),
        (0, 0.02, False),
        (0, 0.15, False),
        (1, 0.85, True),
    ]
    assert all(row.is_kept and row.what.endswith("(dev)") for row in rows)


def test_the_command_prints_a_line_for_each_kind(data, written, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("memory_palace.cli.bench_verify.need_models", lambda *names: None)
    given = ["--answers", str(written), "--data", str(data), "--cache", str(tmp_path / "cache")]
    main(["bench", "verify", *given, "--system", "everything"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("everything accepted, 4 answers: number accepted 1.000 (worst)")
    assert [line.split()[0] for line in lines[1:]] == ["number", "time", "off", "paraphrase"]


@needs_library
def test_other_judges_are_measured_alone(data, written, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("memory_palace.cli.bench_verify.need_models", lambda *names: None)
    words = "the kiln cools for twelve hours before it opens".split()
    labels = ("entailment", "neutral", "contradiction")
    folder = write_overlap_model(tmp_path / "m", words, labels=labels, steepness=30)
    given = ["--answers", str(written), "--data", str(data), "--cache", str(tmp_path / "cache")]
    main(["bench", "verify", *given, "--entailment", str(folder), "--json"])
    (total,) = json.loads(capsys.readouterr().out)["systems"]
    assert total["system"] == f"palace verify, note named, entailment {folder}"
    assert total["right_refused"] == 1.0  # the model takes shared words for a contradiction


def test_a_model_that_gives_no_verdict_accepts_nothing(data, written, tmp_path, monkeypatch):
    asked = []

    def verify(self, text, against, **how):
        asked.append(how)
        return replace(verify_alone(self.engine, text, against), judged_by="nobody-1")

    monkeypatch.setattr(Memories, "verify", verify)
    system = list_judges("nobody", "Judge kindly.", None)["model nobody"]
    outcomes = system(load_answers(written, data), data, tmp_path, lambda what, done, total: None)
    assert {outcome.verdict for outcome in outcomes} == {Verdict.NOT_FOUND}
    assert asked[0] == {"model": "nobody", "prompt": "Judge kindly."}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--system", "nobody", "--data", "."], "no system begins so"),
        ([], "give --data"),
        (["--data", ".", "--plots", "."], "--plots: only for answers on memories"),
        (["--data", ".", "--words"], "--words: only for answers on memories"),
        (["--memories", "dev", "--answers", "a"], "--answers: only for answers on others' notes"),
        (["--data", ".", "--prompt", "a"], "a prompt is for a model"),
    ],
)
def test_what_cannot_be_measured_says_what_it_needs(arguments, reason, capsys, monkeypatch):
    monkeypatch.delenv("PALACE_BENCH_DATA", raising=False)
    with pytest.raises(SystemExit):
        main(["bench", "verify", *arguments])
    assert reason in capsys.readouterr().err
