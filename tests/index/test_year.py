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
from importing_exports import uuid, write_lines
from writing_notes import write_notes

from memory_palace.changes import changing
from memory_palace.index import commit
from memory_palace.palace import Palace

HELP = DATA / "multilingual-help" / "notes"
START = datetime(2031, 1, 1, tzinfo=UTC).timestamp()
"""Later than the clock of whatever runs this, as the change times of files are real ones."""
DAY = 86_400.0
SETTINGS = "usage_log: 'on'\nrooms: {Archive: archive_basement, Agents: chambers}\n"
COPY = ".sync-conflict-20310101-120000-ABCDEFG"


def cut_notes(folders: list[Path], rng: Random) -> Iterator[str]:
    """Yield the sections of others' notes in any order, then mixtures of their paragraphs."""
    files = [file for folder in folders for file in sorted(folder.rglob("*.md"))]
    texts = [
        re.sub(r"\A---\n.*?\n---\n", "", file.read_text("utf-8"), flags=re.S) for file in files
    ]
    cut = [part.strip() for text in texts for part in re.split(r"(?m)^(?=#{1,4} )", text)]
    sections = [part for part in cut if len(part) > 80]
    rng.shuffle(sections)
    yield from sections
    paragraphs = [part for section in sections for part in section.split("\n\n")[1:]]
    while True:
        yield "\n\n".join(rng.sample(paragraphs, 3))


def name_note(text: str, number: int) -> str:
    words = re.sub(r"[\W_]+", " ", text.partition("\n")[0])[:40].strip()
    return f"Notes {number % 30}/{words} {number}.md"


class Year:
    """A palace in use, and what happens to it each day."""

    other_model = "none"

    def __init__(self, root: Path, folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
        self.rng, self.root, self.now, self.made = Random(38), root, START, 0
        self.texts, self.patch = cut_notes(folders, self.rng), monkeypatch
        self.changed: dict[bytes, int] = {}
        """When undated notes last changed of which a later mtime says less, by their digests."""
        write_notes(root, {".palace/palace.yaml": SETTINGS})
        self.palace = Palace.init(root, here=True)
        clock = type("Clock", (datetime,), {"now": lambda _: datetime.fromtimestamp(self.now, UTC)})
        monkeypatch.setattr(changing, "datetime", clock)
        monkeypatch.setattr("time.time", lambda: self.now)
        monkeypatch.setattr("time.time_ns", lambda: int(self.now * 1e9))

    def notes(self) -> list[Path]:
        """Return the notes outside the archive."""
        found = (Path(folder) / name for folder, _, names in os.walk(self.root) for name in names)
        return sorted(
            path
            for path in found
            if path.suffix == ".md"
            and not {".palace", "Archive"} & {*path.parts}
            and COPY not in path.stem
        )

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        os.utime(path, (self.now, self.now))

    def add(self, root: Path) -> None:
        text, self.made = next(self.texts), self.made + 1
        self.write(root / name_note(text, self.made), f"{text}\n")

    def edit(self, path: Path) -> None:
        parts = path.read_text("utf-8").rstrip("\n").split("\n\n")
        parts.insert(self.rng.randint(1, len(parts)), next(self.texts).split("\n\n")[-1])
        if len(parts) > 4:
            parts.pop(self.rng.randint(1, len(parts) - 1))
        self.write(path, "\n\n".join(parts) + "\n")

    def touch(self, path: Path) -> None:
        digest = sha256(path.read_bytes()).digest()
        self.changed.setdefault(digest, path.stat().st_mtime_ns)
        os.utime(path, (self.now, self.now))

    def pass_day(self, day: int, of: int, notes: int) -> None:
        """Use a day of so many, after which there are so many notes."""
        rng, palace = self.rng, self.palace
        self.now += DAY * (1 + {of // 3: 365, of // 3 + 1: -365, of // 2: -2}.get(day, 0))
        there = self.notes()
        for path in rng.sample(there, 10):
            self.edit(path)
        renamed, touched, gone = rng.sample(there, 3)
        renamed.rename(renamed.with_name(f"{renamed.stem} again.md"))
        self.touch(touched)
        if day % 3 == 0:
            gone.unlink()
        for _ in range(notes - len(there) + 1):
            self.add(self.root)
        if day == of // 10:
            palace.index(force=True, embedder=self.other_model)
        elif day == of // 10 + 2:
            palace.index(force=True, embedder="hashing")
        elif day == of // 5:
            self.patch.setattr(commit, "FORMAT", commit.FORMAT + 1)
            self.changed.clear()  # an index of another format counts as none
        elif day == of // 4 + 2:
            self.patch.setattr(commit, "TOKENIZER", "words-of-a-later-version")
        palace.index()
        if day % 8 == 1:
            palace.remember(next(self.texts)[:400], agent=rng.choice(["wren", "sable"]))
        if day % (of // 24 + 5) == 0:
            palace.cold_zone.archive(rng.choice(palace.snapshot().paths), apply=True)
        if day % 10 == 0:
            self.import_chats(day)
        if day % (of // 8 + 5) == 4:
            self.sync(is_whole=day % 2 == 0)
        path = rng.choice(palace.snapshot().paths)
        palace.read(path)
        palace.query(path)

    def import_chats(self, day: int) -> None:
        """Import what a harness has of two sessions, one of which goes on all year."""
        for session, count in ((1, day // 10 + 2), (day + 1, 4)):
            texts = [next(self.texts)[:300] for _ in range(count)]
            lines = [
                {
                    "type": ("user", "assistant")[turn % 2],
                    "uuid": uuid(turn),
                    "parentUuid": uuid(turn - 1),
                    "sessionId": uuid(session),
                    "timestamp": f"2030-04-01T08:{turn:02d}:00.000Z",
                    "message": {"role": ("user", "assistant")[turn % 2], "content": text},
                }
                for turn, text in enumerate(texts, start=1)
            ]
            write_lines(self.root.with_name("chats") / "-home" / f"{uuid(session)}.jsonl", lines)
        self.palace.import_export(self.root.with_name("chats"), apply=True)
        self.palace.index()

    def sync(self, *, is_whole: bool) -> None:
        """Receive what another machine changed in the same folder meanwhile, index and logs too.

        Both have changed the loser of a conflict, which stays as a copy. A sync that is not
        ``is_whole`` has sent the other's commit record, and none of its segments.
        """
        other = self.root.with_name("other")
        shutil.copytree(self.root, other)
        before = read_files(other)
        both = self.rng.sample(self.notes(), 3)
        self.edit(other / both[0].relative_to(self.root))
        self.edit(other / both[1].relative_to(self.root))
        (other / both[2].relative_to(self.root)).unlink()
        self.add(other)
        Palace(other).remember(next(self.texts)[:200], agent="wren")
        self.edit(both[0])
        self.palace.remember(next(self.texts)[:200], agent="wren")
        ours, theirs = read_files(self.root), read_files(other)
        for name in sorted(before.keys() | theirs.keys()):
            file = self.root / name
            if theirs.get(name) == before.get(name) or (not is_whole and "seg-" in name):
                continue
            if name in ours and ours[name] != before.get(name):
                file.rename(file.with_name(f"{file.stem}{COPY}{file.suffix}"))
            if name not in theirs:
                file.unlink(missing_ok=True)
            else:
                file.parent.mkdir(exist_ok=True)
                shutil.copy2(other / name, file)
        if not is_whole:
            self.changed.clear()
        shutil.rmtree(other)
        self.palace.index()

    def copy(self, root: Path) -> Palace:
        """Return a palace of the same notes whose index is made anew."""
        shutil.copytree(self.root, root, ignore=shutil.ignore_patterns(".index"))
        for path in root.rglob("*.md"):
            if was := self.changed.get(sha256(path.read_bytes()).digest()):
                os.utime(path, ns=(was, was))
        palace = Palace(root)
        palace.index(embedder="hashing")
        return palace

    def questions(self, count: int) -> Iterator[str]:
        """Yield titles and first sentences of notes."""
        for number, path in enumerate(self.rng.sample(self.notes(), count)):
            lines = [line for line in path.read_text("utf-8").split("\n") if line.strip("#- ")]
            yield lines[0] if number % 2 else lines[-1][:200]


def read_files(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and path.name != "lock")
    return {path.relative_to(root).as_posix(): sha256(path.read_bytes()).digest() for path in files}


def measure(palace: Palace) -> int:
    """Return the bytes of the index, without the generation before, kept until the next commit."""
    names = commit.read_commit(palace.paths.commit).files()
    files = (file for name in names for file in palace.paths.index.glob(f"{name}.*"))
    return sum(file.stat().st_size for file in files)


OWN, OTHERS = [ROOT / "references", ROOT / "palace"], [GARDEN, HELP / "en", HELP / "ja"]
LONG = [
    pytest.mark.long,
    pytest.mark.skipif(not GARDEN.exists() or not HELP.exists(), reason="no notes of others"),
]


@pytest.mark.parametrize(
    ("folders", "days", "first", "last", "questions", "model"),
    [
        pytest.param(OWN, 10, 40, 60, 15, "none", id="ten days"),
        pytest.param(OTHERS, 365, 200, 5_000, 200, "minilm", id="a year", marks=LONG),
    ],
)
def test_after_a_year_the_index_is_small_and_answers_like_a_fresh_one(
    tmp_path, monkeypatch, folders, days, first, last, questions, model
):
    year = Year(tmp_path / "notes", folders, monkeypatch)
    year.other_model = model
    for _ in range(first):
        year.add(year.root)
    year.palace.index(embedder="hashing")
    for day in range(1, days + 1):
        year.pass_day(day, days, first + (last - first) * day // days)
        assert len(list(year.palace.paths.index.iterdir())) <= 200
    palace, fresh = year.palace, year.copy(tmp_path / "fresh")
    assert measure(palace) <= 1.15 * measure(fresh)
    assert palace.doctor().findings == ()
    for question in year.questions(questions):
        found, wanted = palace.query(question), fresh.query(question)
        assert [(hit.path, hit.score, hit.confidence) for hit in found.hits] == [
            (hit.path, hit.score, hit.confidence) for hit in wanted.hits
        ]
        assert found.freshness == "current"
