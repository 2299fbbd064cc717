from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from copying_palaces import copy_sample
from running import commit_all
from writing_notes import read_state, write_notes

from memory_palace.changes.changing import Plan, change_notes, read_changes, read_notes, undo_change
from memory_palace.changes.journal import Move
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.cycle import distill, eliminate, promote, take_report
from memory_palace.features.metabolism.ledger import KINDS, take_ledger
from memory_palace.features.tasks.conflicts import list_conflicts, resolve_conflict
from memory_palace.notes.usage import record_usage
from memory_palace.palace import Palace

TODAY = date(2026, 11, 21)
PANEL = "palace/grand_hall/control_panel.md"


@pytest.fixture
def sample(tmp_path):
    return copy_sample(tmp_path)


def keep_log(palace):
    """Use has been logged for 200 days, and no asset was used."""
    for days in range(200, -1, -25):
        moment = datetime(2026, 11, 21, tzinfo=UTC) - timedelta(days=days)
        record_usage(palace.paths.logs, "opened", [PANEL], now=moment)


def write(palace, path, text):
    write_notes(palace.paths.notes, {path: text})


def test_distill_writes_a_note_that_the_report_no_longer_asks_for(sample):
    report = take_report(sample, today=TODAY)
    waiting = {Path(path).stem for path in report.undistilled}
    assert "2026-08-10_find-the-missing-hour" in waiting
    assert "2026-05-19_recover-april-readings" not in waiting
    distill(sample, "find-the-missing-hour", apply=True, today=TODAY)
    after = {Path(path).stem for path in take_report(sample, today=TODAY).undistilled}
    assert waiting - after == {"2026-08-10_find-the-missing-hour"}
    sample.index(embedder="hashing")
    assert sample.graph().broken() == []


@pytest.fixture
def ripe(palace):
    """Make a note that every gate lets pass."""
    for number, project in enumerate(("winter", "radio")):
        write(
            palace,
            f"dispatch_corridor/completed/2026-10-0{number + 1}_c{number}.md",
            f"---\nstatus: completed\nproject: {project}\ncompleted: 2026-10-05\n---\n"
            "## Goal\n\nx\n\n## Input Paths\n\n- [[log]]\n",
        )
    write(
        palace,
        "project_rooms/winter/log.md",
        "---\ndate: 2026-08-01\ntitle: Warm first\ntags: [power]\n---\n# Warm first\n\n"
        "## Principle\n\nWarm the cell before it charges.\n\n## Why\n\nMetal plates out.\n",
    )
    return palace


def raise_(palace, name="log", kind="principle", *, apply=True, **more):
    values = {"sections": {"When it applies, and when not": "In frost."}, "decided_by": None}
    return promote(palace, name, kind, apply=apply, today=TODAY, **values | more)


def test_a_note_becomes_a_principle_with_its_evidence_and_undo_takes_it_back(ripe):
    before = read_state(ripe.paths)
    assert raise_(ripe, apply=False).identity is None and read_state(ripe.paths) == before
    outcome = raise_(ripe)
    path = "palace/reflection_wing/principles/warm-first_2026-11-21.md"
    asset = read_notes(ripe).documents[path]
    assert KINDS["principle"].missing(asset.sections) == []
    assert asset.text("source") == "log" and asset.texts("tags") == ("power",)
    assert asset.section("Evidence").count("[[") >= 2
    assert [e.evidence[0] for e in read_changes(ripe)] == [
        "worked in several tasks: linked with 2 completed cards, 2 needed"
    ]
    assert take_report(ripe, today=TODAY).ripe == ()
    undo_change(ripe, identity=outcome.identity, apply=True)
    assert read_state(ripe.paths) == before


def test_an_asset_that_would_take_the_place_of_a_golden_answer_is_not_written(ripe):
    question = "warm the cell before it charges in frost"
    for number in range(3):
        write(
            ripe, f"chambers/c{number}.md", f"Warm the cell before it charges in frost, {number}."
        )
    write(ripe, "chambers/stove.md", "A stove warms the hut, and a cell, in frost.")
    ripe.index(embedder="hashing")
    ripe.golden.add(question, "palace/chambers/stove.md")
    before = read_state(ripe.paths)
    with pytest.raises(CheckFailedError, match=f"{question!r} would lose its answer"):
        raise_(ripe)
    assert read_state(ripe.paths) == before
    ripe.golden.add(question, "palace/project_rooms/winter/log.md")
    raise_(ripe)  # it answers what the note that it is made of answers


def test_a_closed_gate_and_a_missing_section_are_named_and_nothing_is_written(ripe):
    before = read_state(ripe.paths)
    with pytest.raises(CheckFailedError, match='add --section "When it applies'):
        raise_(ripe, sections={})
    write(ripe, "project_rooms/winter/log.md", "---\norigin: web\n---\n## Principle\n\nx\n")
    with pytest.raises(CheckFailedError) as found:
        raise_(ripe)
    assert "trusted origin: origin: web" in str(found.value)
    with pytest.raises(UsageError, match="no 'Evidenc'"):
        raise_(ripe, sections={"Evidenc": "x"})
    assert read_state(ripe.paths).keys() == before.keys()


@pytest.mark.parametrize(
    ("kind", "sections"),
    [
        ("kernel", {"Kernel": "```\nAsk.\n```", "Inputs": "one", "Expected behaviour": "two"}),
        ("failure", {"Symptom": "a", "Cause": "b", "Recovery": "c", "Detection": "d"}),
        ("path", {"Trigger": "a", "Steps": "b", "Stop condition": "c", "Worked example": "d"}),
    ],
)
def test_every_kind_of_asset_is_written_with_its_sections(ripe, kind, sections):
    outcome = raise_(ripe, kind=kind, sections=sections)
    path = next(path for path in outcome.paths if "reflection_wing" in path)
    asset = read_notes(ripe).documents[path]
    assert f"/{KINDS[kind].folder}/" in path and asset.text("type") == KINDS[kind].type
    assert KINDS[kind].missing(asset.sections) == []


def test_a_rule_enters_the_constitution_only_by_a_persons_decision(ripe):
    write(ripe, "chambers/01_wren/wren.md", "I am Wren.")
    raise_(ripe, kind="constitution", sections={"Cost of deviation": "A pack each time."})
    (candidate,) = [p for p in read_state(ripe.paths) if "constitution_candidates" in p]
    assert read_notes(ripe).documents[candidate].text("decision") == "pending"
    with pytest.raises(UsageError, match="a person decides"):
        raise_(ripe, candidate, "constitution", sections={})
    with pytest.raises(CheckFailedError, match=r"nobody yet may; .* `deciders: \["):
        raise_(ripe, candidate, "constitution", sections={}, decided_by="Ilse Brandt")
    (ripe.paths.notes / "palace.yaml").write_text("deciders: [Jo, Ilse Brandt]\n")
    ripe = Palace(ripe.paths.root)
    for other in ("Wren", "Mara the agent", "Ilse"):
        with pytest.raises(
            CheckFailedError, match=f"{other} may not decide .*, Jo, Ilse Brandt may"
        ):
            raise_(ripe, candidate, "constitution", sections={}, decided_by=other)
    assert "palace/grand_hall/constitution.md" not in read_state(ripe.paths)
    raise_(ripe, candidate, "constitution", sections={}, decided_by="Ilse Brandt")
    rules = read_state(ripe.paths)["palace/grand_hall/constitution.md"].decode()
    assert "1. **Warm the cell before it charges.** Accepted by Ilse Brandt" in rules
    record = read_notes(ripe).documents[candidate]
    assert record.text("decided_by") == "Ilse Brandt"
    assert record.section("Decision").startswith("Accepted, 2026-11-21, Ilse Brandt.")
    with pytest.raises(UsageError, match="accepted already"):
        raise_(ripe, candidate, "constitution", sections={}, decided_by="Ilse Brandt")


def test_a_new_rule_follows_the_rules_that_are_there(sample, ripe):
    rules = ripe.paths.notes / "grand_hall" / "constitution.md"
    rules.write_text("# Constitution\n\n1. **One.** Accepted.\n2. **Two.**\n   More.\n")
    raise_(ripe, kind="constitution", sections={"Cost of deviation": "A pack."})
    (candidate,) = [p for p in read_state(ripe.paths) if "constitution_candidates/warm" in p]
    (ripe.paths.notes / "palace.yaml").write_text("deciders: [Ilse]\n")
    ripe = Palace(ripe.paths.root)
    raise_(ripe, candidate, "constitution", sections={}, decided_by="Ilse")
    assert "   More.\n3. **Warm the cell" in rules.read_text()


def test_one_undo_takes_a_whole_run_back_byte_for_byte(sample):
    keep_log(sample)
    sample.index(embedder="hashing")
    before = read_state(sample.paths)
    broken = sample.graph().broken()
    assert (
        eliminate(sample, apply=False, today=TODAY).identity is None
        and read_state(sample.paths) == before
    )
    outcome = eliminate(sample, apply=True, today=TODAY)
    assert len(read_state(sample.paths)) == len(before) and read_state(sample.paths) != before
    assert sample.graph().broken() == broken == []
    (entry,) = read_changes(sample)
    moved_or_set = {m.old for m in entry.moves} | {w.path for w in entry.writes}
    lines = "\n".join(entry.evidence)
    assert all(path in lines or "control_panel" in path for path in moved_or_set)
    undo_change(sample, identity=outcome.identity, apply=True)
    assert read_state(sample.paths) == before


def test_a_run_leaves_notes_with_uncommitted_edits_alone(sample):
    commit_all(sample.paths.root)
    keep_log(sample)
    path = "palace/reflection_wing/thinking_paths/is it the weather.md"
    proposed = {p.path: p for p in take_report(sample, today=TODAY).proposals}
    assert proposed[path].action == "demote" and not proposed[path].held
    note = sample.paths.root / path
    note.write_text(note.read_text("utf-8") + "\nMine.\n", "utf-8")
    mine = note.read_bytes()
    proposed = {p.path: p for p in take_report(sample, today=TODAY).proposals}
    assert "not committed" in proposed[path].held
    eliminate(sample, apply=True, today=TODAY)
    assert note.read_bytes() == mine


def test_a_loser_is_archived_and_links_to_it_lead_to_the_winner(sample):
    winner = "palace/reflection_wing/failure_patterns/charging below freezing.md"
    loser = "palace/reflection_wing/failure_patterns/silent overwrite.md"
    old = sample.paths.root / loser
    old.write_text(old.read_text("utf-8").replace("---\n", f"---\nsuperseded_by: {winner}\n", 1))
    write(sample, "chambers/x.md", "[[reflection_wing/failure_patterns/silent overwrite]]\n")
    sample.index(embedder="hashing")
    before = sample.graph()
    sources = before.neighbors(loser).back
    assert len(sources) > 2
    eliminate(sample, apply=True, today=TODAY)
    after = sample.graph()
    assert after.broken() == [] and after.ambiguous() == []
    hot = [s for s in sources if (sample.paths.root / s).exists()]
    assert set(hot) <= set(after.neighbors(winner).back) and "palace/chambers/x.md" in hot


def test_a_duplicate_is_merged_when_a_person_has_decided(palace):
    body = "# A\n\n## Principle\n\nWarm the cell before the panel charges the pack in winter.\n"
    for name, day in (("one", "2026-10-01"), ("two", "2026-10-02")):
        write(palace, f"reflection_wing/principles/{name}.md", f"---\ndate: {day}\n---\n{body}")
    write(palace, "chambers/x.md", "[[one]] and [[two]]")
    palace.index(embedder="hashing")
    eliminate(palace, apply=True, today=TODAY)
    (conflict,) = list_conflicts(palace)
    assert conflict.kind == "duplicate" and conflict.document.text("raised_by") == "metabolism"
    eliminate(palace, apply=True, today=TODAY)
    assert len(list_conflicts(palace, include_closed=True)) == 1  # never decided by itself
    given = {"winner": "one", "decision": "Same.", "by": "Ilse", "whole": True}
    resolve_conflict(palace, conflict.path, **given, apply=True)
    eliminate(palace, apply=True, today=TODAY)
    documents = read_notes(palace).documents
    assert documents["palace/reflection_wing/principles/one.md"].texts("aliases") == ("two",)
    assert palace.graph().neighbors("palace/chambers/x.md").out == (
        "palace/reflection_wing/principles/one.md",
    )
    assert palace.graph().broken() == []


def test_usage_follows_a_note_that_moved_and_passes_over_torn_lines(ripe):
    now = datetime(2026, 11, 20, tzinfo=UTC)
    card = "palace/dispatch_corridor/completed/2026-10-01_c0.md"
    record_usage(ripe.paths.logs, "opened", [card], now=now)
    with (ripe.paths.logs / "usage.jsonl").open("ab") as log:
        log.write(b'{"time": "torn\n[]\n{"time": 3, "paths": 4}\n')
    new = card.replace("completed", "active")
    change_notes(ripe, lambda _: Plan([Move(card, new)], "x"), command="t", apply=True)
    ledger = take_ledger(ripe, read_notes(ripe), today=TODAY)
    assert ledger.usage.last(new) == date(2026, 11, 20) and ledger.usage.count(card) == 0
