"""After many pushes a store answers as one that was pushed at once, and as the files do."""

import re
from pathlib import Path
from random import Random

import pytest
from store.pushing import Store, push_and_read
from store.serving import Database

from benchmarks.datasets.locomo import load_locomo
from benchmarks.golden import read_pairs
from memory_palace.features.store.reader import StoreReader

ROOT = Path(__file__).parents[2]
TALKS = ROOT.parent / "shared" / "data" / "locomo" / "locomo_dev.json"
GOLDEN = [pair.question for pair in read_pairs(ROOT / "tests/golden/sample_palace.md")]
NOW = 1_794_700_000.0
ROUNDS, CHANGES = 4, 12


class Editor:
    """Somebody who writes, moves and removes notes, by chance but the same each time."""

    def __init__(self, notes: Path, seed: int) -> None:
        self._notes, self._random = notes, Random(seed)
        self._kept: list[str] = []
        """Paragraphs that were taken away: some come back elsewhere, with their vectors known."""

    def change(self) -> None:
        files = sorted(file for file in self._notes.rglob("*.md") if ".index" not in file.parts)
        file = self._random.choice(files)
        ways = (self._edit, self._edit, self._move, self._archive, self._copy, self._remove)
        self._random.choice(ways)(file)

    def _edit(self, file: Path) -> None:
        parts = file.read_text("utf-8").split("\n\n")
        if len(parts) > 2:
            self._kept.append(parts.pop(self._random.randrange(1, len(parts))))
        if self._kept and self._random.random() < 0.6:
            parts.insert(self._random.randrange(1, len(parts) + 1), self._random.choice(self._kept))
        file.write_text("\n\n".join(parts), "utf-8")

    def _move(self, file: Path) -> None:
        self._put(file, self._random.choice(["chambers", "grand_hall/Über uns", "loose"]))

    def _archive(self, file: Path) -> None:
        is_cold = "archive_basement" in file.parts
        self._put(file, "chambers" if is_cold else "archive_basement/2025/chambers")

    def _put(self, file: Path, folder: str) -> None:
        target = self._notes / folder / f"{self._random.randrange(100)} {file.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)

    def _copy(self, file: Path) -> None:
        file.with_name(f"copy of {file.name}").write_bytes(file.read_bytes())

    def _remove(self, file: Path) -> None:
        file.unlink()


def write_talk(notes: Path) -> list[str]:
    """Write two talks of other people where they are at hand; return questions of them."""
    asked = []
    for number, talk in enumerate([*load_locomo(TALKS)][:2] if TALKS.exists() else ()):
        for session in talk.documents:
            name = re.sub(r"[^0-9]", "-", session.id)
            path = notes / "grand_hall" / f"talk {number}" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join(turn.text for turn in session.passages), "utf-8")
        asked += [question.text for question in talk.questions[::60]]
    return asked


def answers(ask, questions):
    """Return what is shown, outside of the archive and with it."""
    ways = ({"neighbors": 1}, {"include_cold": True, "lexical": True})
    found = [ask(text, as_of=NOW, limit=10, **way) for text in questions for way in ways]
    return [
        ([(hit.path, hit.role, hit.chunk, hit.text) for hit in result], result.is_answered)
        for result in found
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_chain_of_pushes_answers_as_one_push_and_as_the_files(sample, database, server, seed):
    ask_files = sample.query
    questions = [*GOLDEN[::5], *write_talk(sample.paths.notes)]
    store, editor = Store(database, sample), Editor(sample.paths.notes, seed)
    store.push()
    with StoreReader(store.address) as reader:
        for turn in range(ROUNDS):
            for _ in range(CHANGES):
                editor.change()
            store.push()
            one = [questions[turn % len(questions)]]
            assert answers(reader.query, one) == answers(ask_files, one)
        chained = answers(reader.query, questions)
    store.connection.close()
    assert chained == answers(ask_files, questions)
    again = Database(server)
    with push_and_read(again, sample) as reader:
        assert chained == answers(reader.query, questions)
    again.close()
