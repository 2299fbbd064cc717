"""How well `palace verify` tells statements on people's notes, beside simple baselines.

The statements were written by reading, without sight of the checker. ``label`` says what they are
(right, wrong, nowhere) and ``kind`` what was changed. Copied sentences are not in the files: a
place in a note, the digest of the sentence there, and the edit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from benchmarks.datasets.reading import read_jsonl, read_text, take
from benchmarks.given import GARDEN, checkout
from benchmarks.golden import copy_vault
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import UsageError
from memory_palace.features.checking.checker import ACCEPTED, Verdict
from memory_palace.features.checking.wording import Wording
from memory_palace.language.sentences import split_sentences
from memory_palace.language.words import tokenize
from memory_palace.markdown.markup import strip_markup
from memory_palace.models import Matrix
from memory_palace.palace import Palace

MODEL = "minilm"
RIGHT, PARAPHRASE, ALL = "right", "paraphrase", "all"
HELD_DIGEST = "7e736753186df9d0bc5182adeabb47275597a70cfd9b0d806b3562a754042486"
"""SHA-256 of the half that nobody looked at, fixed before a rule was made."""
REFUSED_BY_BASELINES = 0.15
"""Share of the right paraphrases that a baseline refuses: its threshold is chosen for it."""
_TIMES, _STEPS, _RATE, _RIDGE = 5, 300, 0.5, 0.01


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, what is true of it, and the note that it is on."""

    text: str
    root: Path
    note: str | None
    label: str
    kind: str
    set_name: str
    """``balanced``, ``copied``, ``true`` or ``nowhere``."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """What a system said of the statements of one kind, as shares."""

    system: str
    set_name: str
    kind: str
    statements: int
    accepted: float
    contradicted: float
    not_found: float


def load_statements(half: str, data: Path) -> list[Statement]:
    """Read ``dev`` or ``held``, with the notes of the folder ``data``.

    Raise ``UsageError`` where the held half is not what was fixed, or a copied sentence is gone.
    """
    path = checkout("tests/checking") / f"statements_{half}.jsonl"
    if half == "held" and sha256(read_text(path).encode()).hexdigest() != HELD_DIGEST:
        raise UsageError(f"{path} is not what was fixed before the rules were made")
    people, pages = checkout("tests/people"), data / "multilingual-help" / "notes"
    roots = {
        "garden": data / GARDEN,
        "help": pages / "en",
        "help-de": pages / "de",
        "vets": people / "notes_vets",
        "choir": people / "notes_choir",
    }
    found = []
    for number, record in read_jsonl(path):
        where = f"{path}:{number}"
        root = roots[str(take(record, "notes", where))]
        text = str(record["statement"]) if "statement" in record else _copy(record, root, where)
        note = record["note"] and str(record["note"])
        label, kind, name = (str(take(record, key, where)) for key in ("label", "kind", "set"))
        found.append(Statement(text, root, note, label, kind, name))
    return found


def _copy(record: Mapping[str, object], root: Path, where: str) -> str:
    """Return a sentence of a note with the edit that a record has."""
    start, length = int(str(take(record, "start", where))), int(str(take(record, "length", where)))
    text = read_text(root / str(record["note"]))[start : start + length]
    if sha256(text.encode()).hexdigest()[:16] != record["digest"]:
        raise UsageError(f"{where}: the sentence is not in {record['note']} any more")
    edit = record.get("edit")
    if not isinstance(edit, list):
        return text
    first, last, words = edit
    return f"{text[:first]}{words}{text[last:]}"


def count_kinds(
    system: str, statements: Sequence[Statement], verdicts: Sequence[Verdict]
) -> list[KindRow]:
    """Return a row for each kind of each set, and of each set one of all its wrong statements."""
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for each, verdict in zip(statements, verdicts, strict=True):
        groups.setdefault((each.set_name, each.kind), []).append(verdict)
    return [
        KindRow(
            system,
            *key,
            len(found),
            round(sum(verdict in ACCEPTED for verdict in found) / len(found), 3),
            round(found.count(Verdict.CONTRADICTED) / len(found), 3),
            round(found.count(Verdict.NOT_FOUND) / len(found), 3),
        )
        for key, found in sorted(groups.items())
    ]


class PalaceJudge:
    """Asks `palace verify` in a copy of the notes, indexed below ``folder`` where there is none."""

    def __init__(self, folder: Path, *, is_named: bool) -> None:
        self._folder, self._is_named = folder, is_named
        self._opened: dict[Path, Palace] = {}

    def __call__(self, statement: Statement) -> Verdict:
        """Return the verdict on a statement: of its note alone, or of all notes."""
        notes = statement.root
        if notes not in self._opened:
            root = self._folder / notes.name
            if not root.exists():
                copy_vault(notes, root)
                Palace(root).index(embedder=MODEL)
            self._opened[notes] = Palace(root)
        is_named = self._is_named and statement.note
        against = [f"palace/project_rooms/vault/{statement.note}"] if is_named else []
        return self._opened[notes].memories.verify(statement.text, against).verdict


def measure_systems(statements: Sequence[Statement], folder: Path) -> Iterator[KindRow]:
    """Yield the rows of `palace verify`, with the note named and with none, and of baselines."""
    for is_named in (True, False):
        judge = PalaceJudge(folder, is_named=is_named)
        name = f"palace verify, {'the note named' if is_named else 'nothing named'}"
        yield from count_kinds(name, statements, list(map(judge, statements)))
    for name, scores in (
        ("best cosine of a sentence", score_cosines(statements)),
        ("most words in one sentence", score_words(statements)),
    ):
        pairs = zip(scores, statements, strict=True)
        own = sorted(score for score, each in pairs if each.kind == PARAPHRASE)
        least = own[int(len(own) * REFUSED_BY_BASELINES)] if own else 0.0
        verdicts = [Verdict.SUPPORTED if s >= least else Verdict.NOT_FOUND for s in scores]
        yield from count_kinds(name, statements, verdicts)


@cache
def _split(root: Path, note: str | None) -> list[str]:
    """Return the sentences of a note, or of all notes where none is named."""
    paths = [root / note] if note else sorted(root.rglob("*.md"))
    texts = (strip_markup(path.read_text("utf-8", "replace")) for path in paths)
    return [sentence for text in texts for sentence in split_sentences(text)] or [""]


def score_cosines(statements: Sequence[Statement]) -> list[float]:
    """Return the best cosine with a sentence of the note, or of all notes."""
    embedder = get_embedder(MODEL)
    embed = cache(lambda *note: embedder.embed_passages(_split(*note)))
    return [
        float(np.max(embed(each.root, each.note) @ embedder.embed_passages([each.text])[0]))
        for each in statements
    ]


def score_words(statements: Sequence[Statement]) -> list[float]:
    """Return the largest share of a statement's words that one sentence has."""
    read = cache(lambda *note: [Wording(sentence).matter for sentence in _split(*note)])
    matters = [(Wording(each.text).matter, each) for each in statements]
    return [
        max(len(matter & other) for other in read(each.root, each.note)) / max(1, len(matter))
        for matter, each in matters
    ]


def score_alone(statements: Sequence[Statement]) -> list[float]:
    """Return what a bag of words says of statements without notes: logistic regression in folds.

    Both statements of a pair, which follow each other, are in the same fold.
    """
    folds = np.array([at // 2 % _TIMES for at in range(len(statements))])
    bags = [Counter(tokenize(each.text)) for each in statements]
    terms = {stem: at for at, stem in enumerate(sorted(set().union(*bags)))}
    table: Matrix = np.zeros((len(bags), len(terms) + 1), np.float32)
    table[:, -1] = 1
    for row, bag in zip(table, bags, strict=True):
        row[[terms[stem] for stem in bag]] = [1 + math.log(bag[stem]) for stem in bag]
    right = np.array([each.label == RIGHT for each in statements], np.float32)
    scores = np.zeros(len(bags))
    for fold in range(_TIMES):
        known, wanted = table[folds != fold], right[folds != fold]
        weights = np.zeros(table.shape[1], np.float32)
        for _ in range(_STEPS):
            error = wanted - 1 / (1 + np.exp(-known @ weights))
            weights += _RATE * (known.T @ error / len(known) - _RIDGE * weights)
        scores[folds == fold] = table[folds == fold] @ weights
    return [float(score) for score in scores]


def measure_auc(scores: Sequence[float], statements: Sequence[Statement]) -> float:
    """Return how often a right statement scores above a wrong one; ties count half."""
    right, wrong = (
        np.array([s for s, e in zip(scores, statements, strict=True) if (e.label == RIGHT) == is_])
        for is_ in (True, False)
    )
    above = (right[:, None] > wrong).mean() + (right[:, None] == wrong).mean() / 2
    return float(above)
