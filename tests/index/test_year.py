"""A year of use in fast motion: the index is as small, and answers as well, as one made anew."""

import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from evaluation_data import DATA, GARDEN, ROOT
from writing_notes import write_notes

from memory_palace.changes import changing
from memory_palace.index import commit
from memory_palace.index.segment import SOURCES
from memory_palace.palace import Palace

HELP = DATA / "multilingual-help" / "notes"
START = datetime(2031, 1, 1, tzinfo=UTC).timestamp()
"""Later than the clock of whatever runs this, as the change times of files are real ones."""
DAY = 86_400.0
SETTINGS = "usage_log: 'on'\nrooms: {Archive: archive_basement, Agents: chambers}\n"
COPY = ".sync-conflict-20310101-120000-ABCDEFG"


def cut_notes(folders: list[Path], rng: Random) -> Iterator[str]:
    """Yield the sections of others' notes in any order, then mixtures of their paragraphs."""
    texts = [file.read_text("utf-8") for folder in folders for file in sorted(folder.rglob("*.md"))]
    bodies = [re.sub(r"(?s)\A---\n.*?\n---\n", "", text) for text in texts]
    cut = [part.strip() for text in bodies for part in re.split(r"(?m)^(?=#{1,4} )", text)]
    sections = [part for part in cut if len(part) > 80]
    rng.shuffle(sections)
    yield from sections
    paragraphs = [part for section in sections for part in section.split("\n\n")[1:]]
    while True:
        yield "\n\n".join(rng.sample(paragraphs, 3))


class Year:
    """A palace in use, and what happens to it each day."""

    def __init__(self, root: Path, folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng, self.root, self.now, self.made = Random(38), root, START, 0
        self.texts, self.patch = cut_notes(folders, self.rng), monkeypatch
        self.changed: dict[bytes, set[int]] = {}
        """Times of files before they were written, by the digest of what they had."""
        write_notes(root, {".palace/palace.yaml": SETTINGS})
        self.palace = Palace.init(root, here=True)
        clock = type("Clock", (datetime,), {"now": lambda _: datetime.fromtimestamp(self.now, UTC)})
        monkeypatch.setattr(changing, "datetime", clock)
        monkeypatch.setattr("time.time", lambda: self.now)
        monkeypatch.setattr("time.time_ns", lambda: int(self.now * 1e9))

    def notes(self) -> list[Path]:
        """Return the notes outside the archive."""
        found = (Path(folder) / name for folder, _, names in os.walk(self.root) for name in names)
        other = re.compile(rf"/\.palace/|/Archive/|{COPY}|(?<!\.md)\Z")
        return sorted(path for path in found if not other.search(path.as_posix()))

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        if path.exists():
            before = self.changed.setdefault(sha256(path.read_bytes()).digest(), set())
            before.add(path.stat().st_mtime_ns)
        path.write_text(text, "utf-8")
        os.utime(path, (self.now, self.now))

    def add(self, root: Path) -> None:
        text, self.made = next(self.texts), self.made + 1
        words = re.sub(r"[\W_]+", " ", text.partition("\n")[0])[:40].strip()
        self.write(root / f"Notes {self.made % 30}" / f"{words} {self.made}.md", f"{text}\n")

    def edit(self, path: Path) -> None:
        parts = path.read_text("utf-8").rstrip("\n").split("\n\n")
        parts.insert(self.rng.randint(1, len(parts)), next(self.texts).split("\n\n")[-1])
        if len(parts) > 4:
            parts.pop(self.rng.randint(1, len(parts) - 1))
        self.write(path, "\n\n".join(parts) + "\n")

    def pass_day(self, day: int, of: int, notes: int) -> None:
        """Use a day of so many, after which there are so many notes."""
        rng, palace = self.rng, self.palace
        self.now += DAY * (1 + {of // 3: 365, of // 3 + 1: -365, of // 2: -2}.get(day, 0))
        there = self.notes()
        for path in rng.sample(there, 10):
            self.edit(path)
        renamed, touched, gone = rng.sample(there, 3)
        renamed.rename(renamed.with_name(f"{renamed.stem} again.md"))
        self.write(touched, touched.read_text("utf-8"))
        if day % 3 == 0:
            gone.unlink()
        for _ in range(notes - len(there) + 1):
            self.add(self.root)
        if day == of // 60 + 1:
            palace.index(force=True, embedder="none")
        elif day == of // 60 + 3:
            palace.index(force=True, embedder="hashing")
        elif day == of // 5:
            self.patch.setattr(commit, "FORMAT", commit.FORMAT + 1)
        elif day == of // 4 + 2:
            self.patch.setattr(commit, "TOKENIZER", "words-of-a-later-version")
        palace.index()
        if day % 8 == 1:
            palace.remember(next(self.texts)[:400], agent=rng.choice(["wren", "sable"]))
        if day % (of // 24 + 5) == 0:
            palace.cold_zone.archive(rng.choice(palace.snapshot().paths), apply=True)
        if day % 10 == 0:  # the chat goes on
            chat = self.root.with_name("WhatsApp Chat with Wren.txt")
            with chat.open("a", encoding="utf-8") as lines:
                lines.writelines(
                    f"0{n}/04/2030, 08:00 - Wren: {next(self.texts)}\n" for n in (1, 2)
                )
            palace.import_export(chat, apply=True)
            palace.index()
        if day % (of // 8 + 5) == 4:
            self.sync(is_whole=day % 2 == 0)
        path = rng.choice(palace.snapshot().paths)
        palace.read(path)
        palace.query(path)

    def sync(self, *, is_whole: bool) -> None:
        """Receive what another machine changed in the same folder meanwhile, index and logs too.

        Our version of what both changed stays as a conflict copy. A sync that is not ``is_whole``
        brings the other's commit record without its segments.
        """
        other = self.root.with_name("other")
        shutil.copytree(self.root, other)
        before, (both, edited, gone) = read_files(other), self.rng.sample(self.notes(), 3)
        for path in (
            both,
            other / both.relative_to(self.root),
            other / edited.relative_to(self.root),
        ):
            self.edit(path)
        (other / gone.relative_to(self.root)).unlink()
        self.add(other)
        for palace in (Palace(other), self.palace):
            palace.remember(next(self.texts)[:200], agent="wren")
        ours, theirs = read_files(self.root), read_files(other)
        for name in sorted(before.keys() | theirs.keys()):
            file = self.root / name
            if theirs.get(name) == before.get(name) or (not is_whole and "seg-" in name):
                continue
            if name in ours and ours[name] != before.get(name):
                file.rename(file.with_stem(f"{file.stem}{COPY}"))
            file.unlink(missing_ok=True)
            if name in theirs:
                file.parent.mkdir(exist_ok=True)
                shutil.copy2(other / name, file)
        shutil.rmtree(other)
        self.palace.index()

    def copy(self, root: Path) -> Palace:
        """Return a palace of the same notes whose index is made anew.

        An undated note has the day of its file, or an earlier one with the same text.
        """
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns(".index"))
        known = self.palace.snapshot(include_cold=True)
        for name, date, source in zip(known.paths, known.dates, known.date_sources, strict=True):
            if SOURCES[source] == "mtime":
                path = root / name
                was = self.changed.get(sha256(path.read_bytes()).digest(), set())
                times = (path.stat().st_mtime_ns, *sorted(was))
                time = next(time for time in times if time // 10**9 // DAY == date // DAY)
                os.utime(path, ns=(time, time))
        palace = Palace(root)
        palace.index(embedder="hashing")
        return palace


def read_files(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and path.name != "lock")
    return {path.relative_to(root).as_posix(): sha256(path.read_bytes()).digest() for path in files}


def ask(palace: Palace, path: Path) -> list[tuple[object, ...]]:
    """Ask for a note by its first line and by its last; return the ranked hits."""
    lines = path.read_text("utf-8").strip().split("\n")
    found = [palace.query(line[:200]) for line in (lines[0], lines[-1])]
    assert {one.freshness for one in found} == {"current"}
    return [(hit.path, hit.score, hit.confidence) for one in found for hit in one.hits]


OWN, OTHERS = [ROOT / "references", ROOT / "palace"], [GARDEN, HELP / "en", HELP / "ja"]
ABSENT = pytest.mark.skipif(not (GARDEN.exists() and HELP.exists()), reason="no notes of others")
DAYS = pytest.param(OWN, 10, 40, 60, 8, id="ten days")
YEAR = (OTHERS, 365, 200, 5_000, 100)


@pytest.mark.parametrize(
    ("folders", "days", "first", "last", "asked"),
    [DAYS, pytest.param(*YEAR, id="a year", marks=[pytest.mark.long, ABSENT])],
)
def test_after_a_year_the_index_is_small_and_answers_like_a_fresh_one(
    tmp_path, monkeypatch, folders, days, first, last, asked
):
    year = Year(tmp_path / "notes", folders, monkeypatch)
    for _ in range(first):
        year.add(year.root)
    palace = year.palace
    palace.index(embedder="hashing")
    for day in range(1, days + 1):
        year.pass_day(day, days, first + (last - first) * day // days)
        assert len(list(palace.paths.index.iterdir())) <= 200
    fresh = year.copy(tmp_path / "fresh")
    sizes = [  # without the generation before, which is kept until the next commit
        sum(ref.array_bytes + ref.line_bytes for ref in one.snapshot().commit.segments)
        for one in (palace, fresh)
    ]
    assert sizes[0] <= 1.15 * sizes[1]
    assert {found.what for found in palace.doctor().findings} <= {"copy"}  # of our logs
    for path in year.rng.sample(year.notes(), asked):
        assert ask(palace, path) == ask(fresh, path)
