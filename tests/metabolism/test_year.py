"""A year of simulated use: 60 cards in 8 projects, run through the weekly cadence."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from memory_palace.changes.changing import Plan, change_notes
from memory_palace.changes.journal import read_log
from memory_palace.errors import CheckFailedError
from memory_palace.metabolism.assets import KINDS
from memory_palace.metabolism.cycle import eliminate, plan_distill
from memory_palace.metabolism.ledger import take_ledger
from memory_palace.metabolism.promotion import plan_promotion
from memory_palace.metabolism.reporting import find_ripe, undistilled_cards
from memory_palace.notes.usage import record_usage
from memory_palace.palace import Palace

ROOT = Path(__file__).parent.parent.parent
START = date(2026, 11, 23)
SCALE = int(os.environ.get("PALACE_YEAR_SCALE", "1"))
"""5 is what references/performance.md tells; a fifth of it proves the same."""
WEEKS, CARDS, PROJECTS, LESSONS, PROJECT_WEEKS = 52, 60 * SCALE, 8 * SCALE, 6 * SCALE, 8
GOLDEN = re.findall(
    r"^\| (.+?) \| (palace/.+?\.md) \|",
    (ROOT / "tests" / "golden" / "sample_palace.md").read_text("utf-8"),
    re.MULTILINE,
)
EMBEDDER = os.environ.get("PALACE_YEAR_EMBEDDER", "hashing")
"""minilm measures quality, and takes a minute longer; see references/performance.md."""
NOUNS = (
    "ledger", "crate", "valve", "invoice", "socket", "harness", "gasket", "shipment", "pallet",
    "forklift", "router", "cable", "drawer", "folder", "rotor", "pulley", "tenant", "voucher",
    "receipt", "turbine", "bracket", "kiln", "loom", "anvil", "spindle", "lathe", "ferry",
    "harbour", "beacon", "lantern", "customs", "tariff", "cargo", "docket", "manifest", "hull",
    "rudder", "anchor",
)  # fmt: skip


def words(rng, count):
    return " ".join(rng.choice(NOUNS) for _ in range(count))


class Year:
    """Writes what people and agents would have written, week by week."""

    def __init__(self, root, seed):
        self.rng = random.Random(seed)
        self.root = root
        self.written: dict[str, str] = {}
        """Marks by which each note is known again, and the path it was written to."""
        self.lessons: list[str] = []

    def write(self, path, fields, body):
        mark = f"mark-{len(self.written):05d}"
        head = "".join(f"{key}: {value}\n" for key, value in {**fields, "mark": mark}.items())
        file = self.root / "palace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        assert not file.exists(), path
        file.write_text(f"---\n{head}---\n{body}", "utf-8")
        self.written[mark] = path

    def week(self, number):
        day = START + timedelta(weeks=number)
        for project in range(PROJECTS):
            first = project * (WEEKS - PROJECT_WEEKS) // PROJECTS
            if number == first:
                self.begin_project(project, day)
            if number == first + PROJECT_WEEKS:
                index = self.root / f"palace/project_rooms/p{project:02d}/index.md"
                text = index.read_text("utf-8").replace("status: active", "status: done")
                index.write_text(text, "utf-8")
        for card in range(number * CARDS // WEEKS, (number + 1) * CARDS // WEEKS):
            running = [
                p
                for p in range(PROJECTS)
                if 0 <= number - p * (WEEKS - PROJECT_WEEKS) // PROJECTS < PROJECT_WEEKS
            ]
            self.complete_card(card, self.rng.choice(running or [PROJECTS - 1]), day)

    def begin_project(self, project, day):
        room = f"project_rooms/p{project:02d}"
        self.write(
            f"{room}/index.md", {"date": day, "status": "active"},
            f"# Project {project}\n\n{words(self.rng, 30)}.\n",
        )  # fmt: skip
        self.write(f"{room}/raw output.md", {"date": day}, f"{words(self.rng, 80)}.\n")
        if len(self.lessons) < LESSONS:
            number = len(self.lessons)
            origin = {"origin": "web"} if number % 6 == 5 else {}
            rule = f"Check the {words(self.rng, 4)} before the {words(self.rng, 3)} leaves."
            self.write(
                f"{room}/lesson {number}.md", {"date": day, **origin},
                f"# Lesson {number}\n\n## Principle\n\n{rule}\n\n## Rationale\n\n"
                f"{words(self.rng, 12)}.\n\n## When it applies, and when not\n\n"
                f"At the {NOUNS[number]}.\n",
            )  # fmt: skip
            self.lessons.append(f"lesson {number}")

    def complete_card(self, card, project, day):
        # Lessons are cited while they are young, and then forgotten.
        young = self.lessons[-5:]
        cited = self.rng.sample(young, min(2, len(young)))
        links = "".join(f"- [[{lesson}]]\n" for lesson in cited)
        reopened = {"reopened": f"['{day}: it came back']"} if card % 25 == 24 else {}
        self.write(
            f"dispatch_corridor/completed/{day}_card-{card:03d}.md",
            {"task_id": f"card-{card}", "owner": "wren", "project": f"p{project:02d}",
             "status": "completed", "completed": day, "last_updated": day, **reopened},
            f"# Card {card}\n\n## Goal\n\nMove the {words(self.rng, 14)} to the "
            f"{words(self.rng, 12)}.\n\n## Input Paths\n\n{links}\n"
            f"## Attempts\n\nThe {words(self.rng, 12)} failed with the {words(self.rng, 14)}. "
            f"Tried again, still nothing. Thanks everybody!\n\n"
            f"## Result\n\nThe {words(self.rng, 16)} works with the {words(self.rng, 12)}.\n\n"
            f"## Lesson\n\nAlways look at the {words(self.rng, 12)} before the "
            f"{words(self.rng, 12)}.\n\n"
            f"## Acceptance Checks\n\n- [x] {words(self.rng, 6)}\n",
        )  # fmt: skip


def weekly(palace, day):
    """Distil what was completed and promote what is ripe, then let go what the rules name."""

    def plan(library):
        ledger = take_ledger(palace, library, today=day)
        change, evidence = [], []
        for card in undistilled_cards(ledger):
            try:
                done = plan_distill(ledger, card)
            except CheckFailedError:
                continue  # of the sample: too short to distil
            change += done.change
            evidence += done.evidence
        for path, _ in find_ripe(ledger):
            if "lesson" in path:
                made = plan_promotion(ledger, path, KINDS["principle"], sections={})
                change += made.change
                evidence += [f"promote {path}: {line}" for line in made.evidence]
        return Plan(change, "distil and promote", tuple(evidence))

    change_notes(palace, plan, command="metabolism", apply=True)
    eliminate(palace, apply=True, today=day)


def hot_notes(palace):
    return [p for p in palace.paths.notes.rglob("*.md") if "archive_basement" not in p.parts]


def rank_of_answers(palace, successors, as_of):
    """Return for each golden question the place of its note, or of what was made of it."""
    ranks = []
    for question, path in GOLDEN:
        hits = palace.query(question, profile="raw", limit=5000, neighbors=0, as_of=as_of).hits
        wanted = {path, *successors(path)}
        ranks.append(next((i for i, hit in enumerate(hits, 1) if hit.path in wanted), 99))
    return ranks


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7])
def test_a_year_of_work_loses_nothing_and_answers_as_before(tmp_path, seed):
    shutil.copytree(ROOT / "palace", tmp_path / "palace", ignore=shutil.ignore_patterns(".*"))
    palace = Palace(tmp_path)
    palace = Palace(tmp_path, config=replace(palace.config, usage_log="on"))
    silent = Palace(tmp_path)  # measuring is no use
    sample = {p.stem: p.read_bytes() for p in palace.paths.notes.rglob("*.md")}
    silent.index(embedder=EMBEDDER)
    broken_before = len(silent.graph().broken())
    shutil.rmtree(palace.paths.index)  # 104 changes would be indexed one by one
    before = rank_of_answers(write_alone(tmp_path, seed), lambda path: (), as_of=None)
    year, counts = Year(tmp_path, seed), {}
    for week in range(WEEKS):
        day = START + timedelta(weeks=week)
        year.week(week)
        if week % 4 == 0:  # somebody asks the golden questions, and opens the answers
            asked = [successor_of(palace, path) for _, path in GOLDEN]
            noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
            record_usage(palace.paths.logs, "opened", asked, now=noon)
        weekly(palace, day)
        counts[week] = len(hot_notes(palace))
    check_nothing_is_lost(palace, year, sample)
    check_evidence(palace)
    silent.index(embedder=EMBEDDER)
    after = rank_of_answers(silent, lambda path: (successor_of(palace, path),), as_of=None)
    found = [sum(rank <= 5 for rank in ranks) for ranks in (before, after)]
    print(f"\nhot notes: {counts[25]}, {counts[51]}; golden in five: {found}; {before} -> {after}")  # noqa: T201 - the figures of references/performance.md
    assert found[1] >= found[0]
    assert sum(1 / rank for rank in after) >= sum(1 / rank for rank in before) - 1e-9
    assert len(silent.graph().broken()) <= broken_before


def write_alone(source, seed):
    """Return a copy in which the same is written, and of which nobody takes care."""
    alone = source / "alone"
    shutil.copytree(source / "palace", alone / "palace")
    year = Year(alone, seed)
    for week in range(WEEKS):
        year.week(week)
    palace = Palace(alone)
    palace.index(embedder=EMBEDDER)
    return palace


def successor_of(palace, path):
    """Follow the log: where a note went, and what superseded it."""
    for entry in read_log(palace.paths):
        for move in entry.moves:
            if move.old == path:
                path = move.new
    return path


def check_nothing_is_lost(palace, year, sample):
    texts = {p: p.read_text("utf-8") for p in palace.paths.notes.rglob("*.md")}
    marks = Counter(m for text in texts.values() for m in re.findall(r"^mark: (\S+)", text, re.M))
    assert marks == Counter(dict.fromkeys(year.written, 1))
    stems = Counter(path.stem for path in texts)
    assert all(stems[stem] >= 1 for stem in sample)
    kinds = Counter(m for t in texts.values() for m in re.findall(r"^type: (.+)$", t, re.M))
    assert kinds["telegram"] >= CARDS
    assert kinds["principle"] >= 4 * SCALE  # of the lessons every sixth is from the web
    for path, text in texts.items():
        if "origin: web" in text:
            assert "promoted_to" not in text, path


def check_evidence(palace):
    """Every note that metabolism made or moved is in a line of evidence of its change."""
    seen = Counter()
    for entry in read_log(palace.paths):
        lines = "\n".join(entry.evidence)
        for move in entry.moves:
            assert move.old in lines
            seen["moved"] += 1
        for write in entry.writes:
            made = write.before is None
            if made and "/principles/" in write.path:
                assert re.search(r"promote \S.*lesson", lines)
                seen["promoted"] += 1
            elif made and "/telegrams/" in write.path:
                seen["distilled"] += 1
        assert lines.count("distill ") == sum(
            w.before is None and "/telegrams/" in w.path for w in entry.writes
        )
        assert entry.to_record()["evidence"]
    assert seen["distilled"] >= CARDS and seen["promoted"] >= 3 * SCALE
    print(f"\n{seen}")  # noqa: T201 - the figures of references/performance.md
