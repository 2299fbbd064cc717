"""Whether a round of the Red Queen makes memories easier to find, by questions it never saw."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from memory_palace.bench.golden import Pair, copy_palace, copy_vault
from memory_palace.bench.metrics import interval
from memory_palace.changes.changing import read_notes
from memory_palace.graph.resolve import Resolver
from memory_palace.mnemonics.memories import find_embedder
from memory_palace.notes.document import Document
from memory_palace.notes.note_links import find_links
from memory_palace.palace import Palace
from memory_palace.redqueen.cue_index import CueLearner
from memory_palace.redqueen.evolver import patch_note
from memory_palace.redqueen.examined import ExaminedMemory
from memory_palace.redqueen.passages import content_words
from memory_palace.redqueen.round_values import Evolution, Strategy
from memory_palace.redqueen.rounds import load_memories, run

CUT = 5
MEMORIES = 200


@dataclass(frozen=True, slots=True)
class HardeningRow:
    """Recall@5 before and after, over some questions."""

    arm: str
    """What was written: the evolver's patch, or as many random words."""
    seen_by: str
    """``cues``: the Learner's index; ``query``: the whole palace."""
    group: str
    """Memories that were evolved, that were not, or all."""
    questions: int
    """Counted once for each round."""
    before: float
    after: float
    low: float
    high: float
    """95 % interval of the paired difference, by bootstrap over the memories."""
    evolved: float
    """Memories changed, in the mean of the rounds."""

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


def measure_hardening(
    source: Path,
    questions: Sequence[Pair],
    *,
    embedder: str,
    asked: int | None = None,
    seed: int = 1,
    rounds: int = 1,
) -> list[HardeningRow]:
    """Measure one round over copies of a palace; the control gets random words instead.

    ``asked`` is how many questions the Examiner puts, one for each memory where nobody says;
    every memory found weak is evolved. ``rounds`` of that, each over the palace as it was and
    with the next seed, are pooled: they say what one round is worth on average.
    """
    pooled: dict[tuple[str, str], list[_Outcome]] = {}
    evolved = 0
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "before"
        palace = copy_palace(source, base)
        palace.index(embedder=embedder)
        before = {seen: _hits(palace, questions, seen=seen) for seen in ("cues", "query")}
        for turn in range(rounds):
            folder = Path(name) / str(turn)
            arms, changed = _play(base, folder, asked=asked, seed=seed + turn)
            evolved += len(changed)
            for arm, after in arms.items():
                for seen, first in before.items():
                    second = _hits(after, questions, seen=seen)
                    pooled.setdefault((arm, seen), []).extend(
                        _Outcome(q.path, q.path in changed, x, y)
                        for q, x, y in zip(questions, first, second, strict=True)
                    )
            shutil.rmtree(folder)
    return [
        row
        for (arm, seen), outcomes in pooled.items()
        for row in _rows(arm, seen, outcomes, evolved / rounds)
    ]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Whether one question found its memory, before and after one round."""

    memory_id: str
    is_evolved: bool
    before: float
    after: float


def _play(
    base: Path, folder: Path, *, asked: int | None, seed: int
) -> tuple[dict[str, Palace], set[str]]:
    """Play a round on a copy, write random words into another; return both, and what changed."""
    names = ("evolver", "random words")
    for arm in names:
        shutil.copytree(base, folder / arm)
    evolved, control = (Palace(folder / arm) for arm in names)
    done = run(
        evolved,
        strategy=Strategy.RANDOM,
        question_count=asked or len(_load(evolved)),
        seed=seed,
        evolve_at_most=None,
        apply=True,
        allow_uncommitted=True,
    )
    changed = set(done.outcome.paths)
    made = [e for e in done.session.evolutions if e.memory_id in changed]
    _write_random(control, made, seed=seed)
    return dict(zip(names, (evolved, control), strict=True)), changed


def build_vault_palace(
    vault: Path, root: Path, *, count: int = MEMORIES, seed: int = 0
) -> list[Pair]:
    """Make a palace of ``count`` notes of a vault; return how other notes name them.

    Chosen are notes that some link calls by a text that is not their name, by chance among
    them. Link texts that hold the whole subject, or that name two of the notes, are no questions.
    """
    copy_vault(vault, root / "whole")
    whole = Palace(root / "whole")
    documents = read_notes(whole).documents
    named = _link_texts(documents)
    memories = load_memories(whole, read_notes(whole), now=datetime.now(UTC))
    known = sorted(path for path in named if path in memories)
    random.Random(seed).shuffle(known)
    chosen = sorted(known[:count])
    target = Palace.init(root / "chosen")
    for path in chosen:
        place = target.paths.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(documents[path].data)
    shutil.rmtree(whole.paths.root)
    texts = [(text, path) for path in chosen for text in sorted(named[path])]
    uses = {text: sum(text == other for other, _ in texts) for text, _ in texts}
    return [Pair(text, path) for text, path in texts if uses[text] == 1]


def _link_texts(documents: Mapping[str, Document]) -> dict[str, set[str]]:
    """Return the texts, folded, by which notes call each other where that is not the name."""
    paths = list(documents)
    resolver = Resolver(paths, [documents[path].texts("aliases") for path in paths])
    named: dict[str, set[str]] = {}
    for source, document in documents.items():
        for link in find_links(document.body):
            found = resolver.resolve(link.target, source)
            if not link.alias or link.is_embed or found.state != "resolved":
                continue
            path = paths[found.places[0]]
            text = " ".join(link.alias.casefold().split())
            names = [documents[path].title, documents[path].stem, *documents[path].texts("aliases")]
            is_name = any(name.casefold() in text for name in names if name)
            if path != source and not is_name and content_words(text):
                named.setdefault(path, set()).add(text)
    return named


def _hits(palace: Palace, questions: Sequence[Pair], *, seen: str) -> list[float]:
    """Say of every question whether its memory is among the first five."""
    if seen == "query":
        ranked = [
            [hit.path for hit in palace.query(q.question, limit=CUT, neighbors=0).hits]
            for q in questions
        ]
    else:
        memories = _load(palace)
        cues = [memories[id].cue for id in sorted(memories)]
        learner = CueLearner(find_embedder(palace))
        answers = asyncio.run(learner.recall([question.question for question in questions], cues))
        ranked = [list(answer.recalled) for answer in answers]
    return [float(q.path in paths) for q, paths in zip(questions, ranked, strict=True)]


def _load(palace: Palace) -> dict[str, ExaminedMemory]:
    return load_memories(palace, read_notes(palace), now=datetime.now(UTC))


def _write_random(palace: Palace, made: Sequence[Evolution], *, seed: int) -> None:
    """Write as many anchors of as many words as the evolver did, drawn from all memories."""
    library = read_notes(palace)
    words = sorted({w for memory in _load(palace).values() for w in content_words(memory.content)})
    rng = random.Random(seed)
    for evolution in made:
        document = library.documents[evolution.memory_id]
        anchors = tuple(
            " ".join(rng.choice(words) for _ in anchor.split()) for anchor in evolution.anchors
        )
        patched = patch_note(document, Evolution(evolution.memory_id, anchors=anchors))
        (palace.paths.root / document.path).write_bytes(patched)
    palace.index()


def _rows(
    arm: str, seen: str, outcomes: Sequence[_Outcome], evolved: float
) -> Iterator[HardeningRow]:
    groups = {
        "all": outcomes,
        "evolved": [outcome for outcome in outcomes if outcome.is_evolved],
        "not evolved": [outcome for outcome in outcomes if not outcome.is_evolved],
    }
    for group, members in groups.items():
        if not members:
            continue
        before = fmean(outcome.before for outcome in members)
        after = fmean(outcome.after for outcome in members)
        memories = [outcome.memory_id for outcome in members]
        gains = [outcome.after - outcome.before for outcome in members]
        low, high = interval(gains, clusters=memories)
        yield HardeningRow(arm, seen, group, len(members), before, after, low, high, evolved)
