"""What eight programs write is dated and linked as they document it: see ``program_vaults``.

What is not read as it is documented is listed, so that it can neither grow nor shrink unseen.
"""

import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

import pytest
from program_vaults import PROGRAMS, Link, Vault, plain
from running import run_well

from memory_palace.graph.resolve import NearLinks
from memory_palace.palace import Palace

FILE_DAY = datetime.now(UTC).date() - timedelta(days=2)
"""The day of every file, as after a checkout or a copy. No note of any vault is of it."""
SPELLINGS = (f"{FILE_DAY:%Y-%m-%d}", f"{FILE_DAY.day} {FILE_DAY:%B %Y}")
FROM_FILES = {"mtime", "file", "file system"}
CALLED_BROKEN = ("broken", "ambiguous", "archived")
"""What ``palace graph broken`` lists."""


@dataclass
class Reading:
    """What the command said of one vault."""

    vault: Vault
    listed: dict[str, dict]
    edges: dict[str, list[dict]]
    list_lines: list[str]
    query_lines: list[str]
    hits: list[dict]

    @property
    def told(self) -> list[dict]:
        """Return what JSON says of notes, in a list and in answers."""
        return [*self.listed.values(), *self.hits]

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
    palace = Palace(folder)
    graph, snapshot = palace.graph(), palace.snapshot()
    near = NearLinks.from_snapshot(snapshot).neighbors_of(snapshot.paths)
    assert near == {path: graph.neighbors(path) for path in snapshot.paths}
    listed = json.loads(run_well("-C", folder, "list", "--json")[0])["notes"]
    exported = json.loads(run_well("-C", folder, "graph", "export")[0])
    edges: dict[str, list[dict]] = {}
    for edge in exported["edges"]:
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


def misdated(reading: Reading) -> list[str]:
    return [
        f"{path}: {reading.day_of(path)}, not {day}"
        for path, day in reading.vault.dated.items()
        if reading.day_of(path) != day
    ]


def dated_by_something_else(reading: Reading) -> list[str]:
    given = {path: reading.day_of(path) for path in reading.vault.undated}
    return [f"{p}: {day} ({reading.listed[p]['date_source']})" for p, day in given.items() if day]


def shows_bare(line: str) -> bool:
    """Return whether a line shows the files' day as a note's own, with no mark or word at it."""
    marked = r"(?<!\S)(?<!\)\s)(?<!file\s)%s(?!\S)(?!\s+(?:\(|file))"
    return any(re.search(marked % day, line) for day in SPELLINGS)


def shown_with_the_day_of_the_file(reading: Reading) -> list[str]:
    bad = [line for line in reading.list_lines + reading.query_lines if shows_bare(line)]
    bare = [note for note in reading.told if note.get("date") == str(FILE_DAY)]
    return bad + [one["path"] for one in bare if one.get("date_source") not in FROM_FILES]


def misread_links(reading: Reading) -> list[str]:
    bad = []
    for link in reading.vault.judged:
        edge = reading.edge_of(link) or {"state": "no link", "targets": []}
        state, targets = edge["state"], edge["targets"]
        if link.meant in ("self", "web", "file"):
            is_right = state not in CALLED_BROKEN and {*targets} <= {link.source}
        elif link.meant == "broken":
            is_right = state == "broken"
        else:
            is_right = state == "resolved" and targets == [link.meant]
        if not is_right:
            bad.append(f"{link.written} ({state})")
    return bad


def left_out(reading: Reading) -> list[str]:
    return [path for path in reading.vault.notes if path not in reading.listed]


FLAWS = {
    misdated: ["zettlr: Notes/Gloves or not.md: None, not 2022-05-16"],
    dated_by_something_else: [],
    shown_with_the_day_of_the_file: [],
    misread_links: [
        "hugo: [All posts](/posts/) (ambiguous)",
        "hugo: [firmware][fw] (no link)",
        "jekyll: [by hand](/2013/06/02/first-sleeper.html) (no link)",
        "jekyll: [snow][1] (no link)",
        "jekyll: [Stopped]({{ '/2020/03/16/stopped.html' | relative_url }}) (no link)",
        "jekyll: [Kiruna](/stations/kiruna.html) (no link)",
        "jekyll: [border](/2016/10/10/border.html) (no link)",
        "logseq: ((65b8c0de-1a2b-4c3d-8e4f-5a6b7c8d9e0f)) (no link)",
        "logseq: [[jade green]] (broken)",
        "logseq: #Wedging (no link)",
        "logseq: [[M.]] (broken)",
        "logseq: ((65b8c0de-1a2b-4c3d-8e4f-000000000000)) (no link)",
        "logseq: [why](((65b8c0de-1a2b-4c3d-8e4f-5a6b7c8d9e0f))) (attachment)",
        "obsidian: [[Compost]] (no link)",
        "obsidian: [[Slugs|slugs again]] (no link)",
        "zettlr: [[20220516091500]] (broken)",
        "zettlr: [[20220516090000]] (broken)",
    ],
    left_out: [],
}
"""What is wrong of 237 days, 82 notes without one, 332 links and 321 notes."""


@pytest.mark.parametrize("find_flaws", FLAWS, ids=lambda check: check.__name__)
def test_a_vault_is_read_as_its_program_documents_it(readings, find_flaws) -> None:
    found = [f"{one.vault.program}: {flaw}" for one in readings for flaw in find_flaws(one)]
    assert found == FLAWS[find_flaws]


def test_as_much_is_judged_as_was_written(readings) -> None:
    vaults = [reading.vault for reading in readings]
    parts = ("dated", "undated", "judged", "notes")
    judged = [sum(len(getattr(vault, part)) for vault in vaults) for part in parts]
    assert judged == [237, 82, 332, 321]
