"""What eight programs write is dated and linked as they document it: see ``program_vaults``.

Run with ``-s`` to see the numbers of each program; a failure prints the worst of them first.
"""

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import pytest
from program_vaults import PROGRAMS, Link, Vault, plain
from running import run_well

FILE_DAY = datetime.now(UTC).date() - timedelta(days=2)
"""The day of every file, as after a checkout or a copy. No note of any vault is of it."""
SPELLINGS = (f"{FILE_DAY:%Y-%m-%d}", f"{FILE_DAY.day} {FILE_DAY:%B %Y}")
FROM_FILES = {"mtime", "file", "file system"}
CALLED_BROKEN = ("broken", "ambiguous", "archived")
"""What ``palace graph broken`` lists."""
MOST_SHOWN = 12


@dataclass
class Reading:
    """What the command said of one vault."""

    vault: Vault
    listed: dict[str, dict]
    edges: dict[str, list[dict]]
    list_lines: list[str]
    query_lines: list[str]
    hits: list[dict]

    def day_of(self, path: str) -> str | None:
        """Return the day that is given as the note's own; none where the file system gave it."""
        note = self.listed.get(path, {})
        return None if note.get("date_source") in FROM_FILES else note.get("date")

    def edge_of(self, link: Link) -> dict | None:
        """Return what became of a link; none where it was read as no link."""
        edges = [
            edge
            for edge in self.edges.get(link.source, [])
            if plain(edge["text"]) in link.spellings
        ]
        return max(
            edges, key=lambda edge: (edge["text"] in link.written, len(edge["text"])), default=None
        )


def read(vault: Vault, folder) -> Reading:
    """Index a vault by words, and return what ``list``, ``query`` and ``graph`` say of it."""
    vault.write(folder)
    noon = datetime.combine(FILE_DAY, time(12), UTC).timestamp()
    for path in [*folder.rglob("*"), folder]:
        os.utime(path, (noon, noon))
    run_well("init", "--here", folder)
    run_well("-C", folder, "index")
    listed = json.loads(run_well("-C", folder, "list", "--json")[0])["notes"]
    graph = json.loads(run_well("-C", folder, "graph", "export")[0])
    edges: dict[str, list[dict]] = {}
    for edge in graph["edges"]:
        edges.setdefault(edge["source"], []).append(edge)
    lines, hits = [], []
    for path in vault.undated[:6]:
        asked = " ".join(
            re.findall(r"[^\W\d_]{3,}", vault.texts[path].decode("utf-8", "replace"))[:8]
        )
        if asked:
            ask = ("-C", folder, "query", asked, "--mode", "lexical", "-k", 3)
            lines += run_well(*ask)[0].splitlines()
            hits += json.loads(run_well(*ask, "--json")[0])["hits"]
    return Reading(
        vault,
        {note["path"]: note for note in listed},
        edges,
        run_well("-C", folder, "list")[0].splitlines(),
        lines,
        hits,
    )


@pytest.fixture(scope="module")
def readings(tmp_path_factory) -> list[Reading]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("no-models")))
        patch.setenv("PALACE_NO_SERVE", "1")
        return [read(Vault.read(program), tmp_path_factory.mktemp(program)) for program in PROGRAMS]


def tell(what: str, readings: list[Reading], total, flaws) -> tuple[int, int, str]:
    """Return how many there are, how many are flawed, and a table with the worst program first."""
    rows = [(reading.vault.program, total(reading), flaws(reading)) for reading in readings]
    rows.sort(key=lambda row: -len(row[2]) / max(1, row[1]))
    lines = [f"{what}: {sum(len(bad) for *_, bad in rows)} of {sum(n for _, n, _ in rows)}"]
    for program, n, bad in rows:
        lines += [f"  {program}: {len(bad)} of {n}", *(f"    {one}" for one in bad[:MOST_SHOWN])]
        lines += [f"    and {len(bad) - MOST_SHOWN} more"] if len(bad) > MOST_SHOWN else []
    text = "\n".join(lines)
    print(text)  # noqa: T201 - shown where it fails, or with -s
    return sum(n for _, n, _ in rows), sum(len(bad) for *_, bad in rows), text


def test_notes_that_date_themselves_are_dated_rightly(readings) -> None:
    def flaws(reading: Reading) -> list[str]:
        return [
            f"{path}: {reading.day_of(path)}, not {day}"
            for path, day in reading.vault.dated.items()
            if reading.day_of(path) != day
        ]

    n, bad, text = tell("dated wrongly", readings, lambda reading: len(reading.vault.dated), flaws)
    assert bad <= 0.02 * n, text


def test_numbers_and_other_days_do_not_date_a_note_that_has_no_day(readings) -> None:
    def flaws(reading: Reading) -> list[str]:
        given = {path: reading.day_of(path) for path in reading.vault.undated}
        return [
            f"{path}: {day} ({reading.listed[path]['date_source']})"
            for path, day in given.items()
            if day
        ]

    n, bad, text = tell(
        "dated without a day", readings, lambda reading: len(reading.vault.undated), flaws
    )
    assert bad <= 0.02 * n, text


def shows_bare(line: str) -> bool:
    """Return whether a line shows the files' day as a note's own, with no mark or word at it."""
    marked = r"(?<!\S)(?<!\)\s)(?<!file\s)%s(?!\S)(?!\s+(?:\(|file))"
    return any(re.search(marked % day, line) for day in SPELLINGS)


def test_the_day_of_the_file_is_never_shown_as_the_days_of_notes_are(readings) -> None:
    def flaws(reading: Reading) -> list[str]:
        lines = [("list", line) for line in reading.list_lines] + [
            ("query", line) for line in reading.query_lines
        ]
        bad = [f"{verb}: {line}" for verb, line in lines if shows_bare(line)]
        for verb, notes in (
            ("list --json", reading.listed.values()),
            ("query --json", reading.hits),
        ):
            bare = [note for note in notes if note.get("date") == str(FILE_DAY)]
            bad += [
                f"{verb}: {note['path']}"
                for note in bare
                if note.get("date_source") not in FROM_FILES
            ]
        return bad

    def total(reading: Reading) -> int:
        return sum(map(len, (reading.list_lines, reading.listed, reading.hits))) + len(reading.hits)

    _, bad, text = tell("shown with the day of the file", readings, total, flaws)
    assert not bad, text


def test_working_links_are_not_called_broken(readings) -> None:
    def flaws(reading: Reading) -> list[str]:
        said = [(link, reading.edge_of(link)) for link in reading.vault.links if link.works]
        return [
            f"{link.source}: {link.written} ({edge['state']})"
            for link, edge in said
            if edge and edge["state"] in CALLED_BROKEN
        ]

    def total(reading: Reading) -> int:
        return sum(link.works for link in reading.vault.links)

    n, bad, text = tell("working links called broken", readings, total, flaws)
    assert bad <= 0.02 * n, text


def test_links_lead_to_the_note_that_the_program_opens(readings) -> None:
    def flaws(reading: Reading) -> list[str]:
        bad = []
        for link in reading.vault.links:
            edge = reading.edge_of(link)
            targets = edge["targets"] if edge and edge["state"] == "resolved" else []
            meant = link.source if link.meant == "self" else link.meant
            if link.meant != "free" and any(target != meant for target in targets):
                bad.append(
                    f"{link.source}: {link.written} -> {', '.join(targets)}, not {link.meant}"
                )
        return bad

    def total(reading: Reading) -> int:
        return sum(link.meant != "free" for link in reading.vault.links)

    n, bad, text = tell("links that lead elsewhere", readings, total, flaws)
    assert bad <= 0.02 * n, text


def test_only_what_the_program_calls_a_template_is_left_out(readings) -> None:
    def flaws(reading: Reading) -> list[str]:
        return [path for path in reading.vault.notes if path not in reading.listed]

    _, bad, text = tell("notes left out", readings, lambda reading: len(reading.vault.notes), flaws)
    assert not bad, text
