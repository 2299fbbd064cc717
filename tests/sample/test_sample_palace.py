"""The sample palace is the tutorial: it must be what the documents say it is."""

import json
from pathlib import Path

import pytest
import yaml
from copying_palaces import copy_sample

from memory_palace.config import ROOMS

ROOT = Path(__file__).parent.parent.parent
NOTES = sorted((ROOT / "palace").rglob("*.md"))
REQUIRED = {
    "principle": {"Principle", "Rationale", "When it applies, and when not", "Evidence"},
    "prompt kernel": {"Kernel", "Inputs", "Expected behaviour", "Tested on"},
    "failure pattern": {"Symptom", "Cause", "Recovery", "Detection", "Seen in"},
    "thinking path": {"Trigger", "Steps", "Stop condition", "Worked example"},
    "constitution candidate": {
        "Rule", "The four tests", "Cost of deviation", "Proposed wording", "Decision",
    },
    "telegram": {"Background", "Failed attempts", "Working solution", "Principle"},
}  # fmt: skip


def matter(path):
    text = path.read_text("utf-8")
    return yaml.safe_load(text.split("---\n")[1]) if text.startswith("---\n") else {}


@pytest.fixture(scope="module")
def palace(tmp_path_factory):
    palace = copy_sample(tmp_path_factory.mktemp("sample"))
    assert palace.index(embedder="hashing").problems == ()
    return palace


def test_there_are_forty_notes_in_all_seven_rooms_and_five_languages():
    assert len(NOTES) >= 40
    assert {note.relative_to(ROOT / "palace").parts[0] for note in NOTES} == set(ROOMS)
    assert {matter(note).get("lang") for note in NOTES} >= {"de", "es", "fr", "ja", None}


def test_every_link_resolves(palace):
    graph = palace.graph()
    assert graph.broken() == [] and graph.ambiguous() == []
    assert palace.graph().archived() != []


def test_every_kind_of_asset_has_its_sections():
    seen = set()
    for note in NOTES:
        kind = matter(note).get("type")
        if kind in REQUIRED:
            text = note.read_text("utf-8")
            headings = {line[3:].strip() for line in text.split("\n") if line.startswith("## ")}
            assert headings >= REQUIRED[kind], note
            seen.add(kind)
    assert seen == set(REQUIRED)


def test_the_manifest_lists_exactly_the_hot_notes():
    lines = (ROOT / "palace" / "watchdog_manifest_v1.jsonl").read_text("utf-8").splitlines()
    listed = {json.loads(line)["path"] for line in lines}
    hot = {n.relative_to(ROOT).as_posix() for n in NOTES if "archive_basement" not in n.parts}
    assert listed == hot and len(lines) == len(listed)


def test_indexing_the_sample_changes_nothing_in_it(palace):
    for note in NOTES:
        twin = palace.paths.root / note.relative_to(ROOT)
        assert twin.read_bytes() == note.read_bytes()
    manifest = "watchdog_manifest_v1.jsonl"
    original = (ROOT / "palace" / manifest).read_bytes()
    assert palace.paths.manifest.read_bytes() == original
    assert palace.doctor().findings == ()
