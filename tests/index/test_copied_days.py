"""A day that only the file system gives is never the note's, and that of a copy ranks nothing."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import UTC, datetime

import pytest

from memory_palace.cli.app import main
from memory_palace.features.agents.tools import recall, search
from memory_palace.models import Filters, ParsedQuery
from memory_palace.palace import Palace
from memory_palace.retrieval.evidence import gather
from memory_palace.retrieval.signals import recency

COPIED = datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp()
EDITED = datetime(2026, 3, 20, 12, tzinfo=UTC).timestamp()
NOW = datetime(2026, 3, 21, tzinfo=UTC).timestamp()


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    """Return 24 notes that were copied on one day, one edited since, and two with a date."""
    folder = tmp_path_factory.mktemp("vault")
    for number in range(24):
        (folder / f"roof {number}.md").write_text(
            f"# Roof {number}\n\nThe roof leaks at {number}.\n"
        )
        os.utime(folder / f"roof {number}.md", (COPIED, COPIED))
    (folder / "edited.md").write_text("# Edited\n\nThe roof is mended.\n")
    os.utime(folder / "edited.md", (EDITED, EDITED))
    for name, day in (("old", "2020-01-01"), ("new", "2026-03-20")):
        (folder / f"{name}.md").write_text(
            f"---\ndate: {day}\n---\n# {name}\n\nThe roof is {name}.\n"
        )
    palace = Palace.init(folder, here=True)
    palace.index(embedder="hashing")
    return palace


def ask(palace, capsys, *arguments):
    assert not main(["--root", str(palace.paths.root), *arguments])
    return capsys.readouterr()


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", "roof leaks", "--min-confidence", "0"),
        ("query", "roof leaks", "--details"),
        ("query", "roof leaks", "--format", "markdown"),
        ("recall", "the roof leaks at 7"),
        ("show", "roof 7"),
        ("status",),
        ("status", "--details"),
    ],
    ids=" ".join,
)
def test_no_answer_shows_the_day_of_a_file(vault, capsys, arguments):
    printed = ask(vault, capsys, *arguments)
    assert "2026-03-04" not in printed.out and "4 March" not in printed.out
    assert "2026-03-20" not in printed.out or "new" in printed.out


def test_agents_are_shown_the_day_of_a_note_alone(vault):
    shown = search(vault, "the roof", limit=30) + recall(vault, "the roof leaks at 7")
    assert "2026-03-04" not in shown and "2026-03-20  new" in shown


def test_the_day_of_a_file_is_marked_in_lists_and_json(vault, capsys):
    listed = ask(vault, capsys, "list").out.splitlines()
    assert sum(line.startswith("file 2026-03-04  ") for line in listed) == 24
    assert sum(line.startswith("20") for line in listed) == 2
    for arguments in (("query", "roof leaks"), ("recall", "the roof leaks at 7"), ("list",)):
        record = json.loads(ask(vault, capsys, *arguments, "--json").out)
        hits = record.get("hits") or record["notes"]
        assert hits
        for hit in hits:
            is_own = hit["path"] in ("old.md", "new.md")
            assert is_own or hit["date_source"] == "mtime"


def test_the_day_of_a_copy_ranks_nothing(vault):
    snapshot = vault.snapshot()
    query = ParsedQuery("roof", NOW, Filters())
    asked = gather(query, snapshot, signals={"recency"}, half_life_days=30.0)
    paths = [snapshot.paths[note] for note in asked.note_of[asked.rows].tolist()]
    scores = dict(zip(paths, recency(asked, asked.rows).tolist(), strict=True))
    assert {scores[f"roof {n}.md"] for n in range(24)} == {0.5}
    assert scores["old.md"] < 0.01 and scores["edited.md"] > 0.9 and scores["new.md"] > 0.9


def test_a_period_leaves_out_what_a_copy_dates_and_says_so(vault, capsys):
    assert {note.path for note in vault.notes(since="2026-03-01")} == {"edited.md", "new.md"}
    assert {note.path for note in vault.notes(until="2026-03-10")} == {"old.md"}
    printed = ask(vault, capsys, "list", "--since", "2026-03-01", "--sort", "date")
    assert "24 notes left out: only a copy dates the files" in printed.err
    assert "24 notes left out" in ask(vault, capsys, "query", "roof", "--until", "2026-03-10").err
    newest = ask(vault, capsys, "list", "--sort", "date").out.splitlines()
    assert [line.split()[-1].casefold() for line in newest[:3]] == ["edited", "new", "old"]


def test_a_question_of_that_day_does_not_find_the_copies(vault):
    assert vault.query("what about the roof on March 20, 2026?")[0].path == "new.md"
    named = {hit.path for hit in vault.query("", since="2026-03-04", until="2026-03-04", limit=50)}
    assert named == set()


def test_a_few_notes_of_a_day_were_written_then(tmp_path):
    for number in range(5):
        (tmp_path / f"{number}.md").write_text(f"# Roof {number}\n\nRain.\n")
        os.utime(tmp_path / f"{number}.md", (COPIED, COPIED))
    palace = Palace.init(tmp_path, here=True)
    palace.index(embedder="hashing")
    assert len(palace.notes(since="2026-03-01")) == 5


def test_the_first_commit_of_a_shallow_clone_dates_nothing(tmp_path):
    def git(*arguments):
        name = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(["git", *name, *arguments], check=True, capture_output=True)

    here = tmp_path / "from"
    git("init", "-q", str(here))
    for number in range(3):
        (here / f"{number}.md").write_text(f"# Roof {number}\n")
        git("-C", str(here), "add", ".")
        git("-C", str(here), "commit", "-qm", str(number))
    git("clone", "-q", "--depth", "2", f"file://{here}", str(tmp_path / "to"))
    sources = {}
    for folder in ("from", "to"):
        palace = Palace.init(tmp_path / folder, here=True)
        palace.index(embedder="hashing")
        sources[folder] = [note.date.source for note in palace.notes()]
    assert sources == {"from": ["git"] * 3, "to": ["mtime", "mtime", "git"]}
