"""A palace in a folder that a sync program carries between two machines, its index included."""

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from writing_notes import index_notes, write_notes

from memory_palace.errors import IndexDamagedError, IndexMissingError, PalaceError
from memory_palace.palace import Palace

STEPS = "edit edit edit rename delete build build archive sync sync sync".split()


class Machines:
    """Two palaces. A file that both changed keeps the overwritten bytes in a conflict copy."""

    def __init__(self, folder, seed):
        self.random, self.count, self.folder = random.Random(seed), 0, folder
        files = {".palace/palace.yaml": "rooms: {Archive: archive_basement}"} if seed else {}
        self.roots = [write_notes(folder / name, files) for name in "ab"]
        self.palaces = [Palace.init(root, here=seed > 0) for root in self.roots]
        self.carried, self.expected, self.versions = {}, {}, set()
        self.kept, self.answers = set(), set()

    def files(self, machine, end=""):
        root = self.roots[machine]
        found = filter(Path.is_file, root.rglob(f"*{end}"))
        return {str(path.relative_to(root)): path.read_bytes() for path in found}

    def carry(self, path, source):
        """Carry a file to the other machine; a deletion gives way to an edit."""
        here, there = (self.roots[machine] / path for machine in (source, 1 - source))
        new, old = (file.read_bytes() if file.exists() else None for file in (here, there))
        if new == (before := self.carried.get(path)) or (new is None and old != before):
            return
        if old not in (None, new, before):
            mark = f"{there.stem}.sync-conflict-20261129-{len(self.carried):06}-ABCDEFG"
            there.rename(there.with_stem(mark))
        self.carried[path] = new
        there.unlink(missing_ok=True)
        if new is not None:
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(here, there)

    def step(self, do):
        palace = self.random.choice(self.palaces)
        self.count += 1
        new = palace.paths.notes / f"n{self.count}.md"
        file = self.random.choice([*sorted(new.parent.glob("*.md")), new])
        text = file.read_text() if file.exists() else None
        if do == "sync":
            paths = sorted({*self.files(0), *self.files(1)})
            for path in self.random.sample(paths, self.random.randint(1, len(paths))):
                self.carry(path, self.random.randrange(2))
        elif do == "build":
            palace.index(embedder="hashing")
        elif do == "archive":
            with suppress(PalaceError):  # the index that is here lacks the note
                palace.cold_zone.archive(file.name, apply=True)
        elif do == "rename" and text:
            file.rename(new)
        elif do == "delete" and text:
            self.kept.discard(text)
            file.unlink()
        else:
            words = " ".join(self.random.choices("heron lake mill oven bread river".split(), k=8))
            file.write_text(f"---\ndate: 2026-01-{self.count % 28 + 1:02}\n---\nThe {words}.\n")
            self.kept = (self.kept - {text}) | {file.read_text()}

    def ask(self, palace):
        found = palace.query("heron at the mill", limit=5, neighbors=0, gate=False)
        return tuple(hit.path for hit in found), [hit.snippet for hit in found], found.freshness

    def check(self, machine):
        notes = self.files(machine, ".md").items()
        self.versions |= {" ".join(data.decode().split()) for _, data in notes}
        try:
            paths, texts, freshness = found = self.ask(self.palaces[machine])
        except (IndexDamagedError, IndexMissingError) as error:
            assert "run `palace index" in str(error)
            return
        if freshness == "current":
            if (key := frozenset(notes)) not in self.expected:
                fresh, hide = self.folder / "c", shutil.ignore_patterns("*.jsonl*", ".index")
                shutil.rmtree(fresh, ignore_errors=True)
                shutil.copytree(self.roots[machine], fresh, ignore=hide)
                (palace := Palace(fresh)).index(embedder="hashing")
                self.expected[key] = self.ask(palace)
            assert found == self.expected[key]
            self.answers.add(paths)
        assert paths in self.answers
        assert all(any(" ".join(text.split()) in v for v in self.versions) for text in texts)


@pytest.mark.parametrize("seed", range(3))
def test_two_machines_never_mix_their_indexes_and_lose_no_note(tmp_path, monkeypatch, seed):
    """After each of 60 steps, a question on either machine is refused with the command to run, or
    finds exactly the notes that some build found, in text that they had; an answer that is not
    called stale is that of a fresh build. Once all has arrived, a build gives that answer, and
    every text that nobody replaced or deleted is there, if only in a copy.
    """
    monkeypatch.setattr("memory_palace.index.build.measure_chance", lambda *_, **options: {})
    both = Machines(tmp_path, seed)
    for do in ["edit", "build", *both.random.choices(STEPS, k=58)]:
        both.step(do)
        both.check(0), both.check(1)
    while both.files(0) != both.files(1):
        for path in sorted({*both.files(0), *both.files(1)}):
            both.carry(path, 0), both.carry(path, 1)
    for machine, palace in enumerate(both.palaces):
        palace.index(embedder="hashing")
        assert {finding.what for finding in palace.doctor().findings} <= {"copy"}
        both.check(machine)
        assert both.kept <= {data.decode() for data in both.files(machine, ".md").values()}


@pytest.mark.parametrize("name", ["palace.yaml", "logs/moves.jsonl", "sessions/lost.json"])
def test_a_copy_of_what_people_own_is_named_and_neither_read_nor_deleted(tmp_path, name):
    palace = index_notes(tmp_path, {"bird.md": "# Heron"})
    path = ".palace/" + name.replace(".", " (Ann's conflicted copy 2026-11-29).")
    write_notes(tmp_path, {path: "manifest: [<", ".palace/.index/lock (Conflicted copy 2026)": ""})
    assert palace.index().failed == () and palace.searches.list() == []
    told = [f"{path}: {f.message}" for f in palace.doctor().findings]
    assert told == [str(p) for p in palace.status().problems] and "merge it by hand" in told[0]
    assert (tmp_path / path).exists()
