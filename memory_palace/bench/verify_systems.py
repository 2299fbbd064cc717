"""What accepts an answer or refuses it: ``palace verify``, and what is as simple as can be.

All are given the same: an answer and the text it is to be checked against. ``palace verify`` is
asked as a user asks, in a palace with a copy of the notes and an ordinary index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import TypeAlias, TypedDict, Unpack

import numpy as np

from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.given import GARDEN
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.runs import Progress
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.bench.verify_answers import WrittenAnswer
from memory_palace.checking.verdicts import Verdict
from memory_palace.checking.wording import Wording
from memory_palace.embedding.registry import get_embedder
from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.prose import strip_markup
from memory_palace.palace import Palace
from memory_palace.places import PALACE

MODEL = "minilm"
VAULTS = {"garden": GARDEN, "help": "multilingual-help/notes/en"}
"""Collections that are folders of notes, in the folder of data."""
LEAST_COSINE, LEAST_SHARED = 0.478, 0.2
"""What refuses 15 % of the right paraphrases of the half that rules are made with, or just less."""
_ROOM = f"{PALACE}/project_rooms/vault"


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What a system made of one answer."""

    verdict: Verdict
    cites_source: bool = False
    """Whether the note that the answer is about is among those cited."""


@dataclass(frozen=True, slots=True)
class SourcePalace:
    """A palace with the notes of one collection, and the path of each source in it."""

    palace: Palace
    paths: Mapping[str, str]


@contextmanager
def open_source(answer: WrittenAnswer, embedder: RememberingEmbedder) -> Iterator[SourcePalace]:
    """Give a palace with the source of an answer for its only note; it has an index."""
    name = answer.source_name
    path = f"{_ROOM}/{name.removesuffix('.md').replace(':', ' ')}.md"
    with scratch_folder() as root:
        Palace.init(root)
        (root / path).parent.mkdir(parents=True)
        (root / path).write_bytes(f"{answer.source_text}\n".encode())
        _index(root, embedder)
        yield SourcePalace(Palace(root), {name: path})


@contextmanager
def open_vault(
    vault: str, answers: Sequence[WrittenAnswer], data: Path, embedder: RememberingEmbedder
) -> Iterator[SourcePalace]:
    """Give a palace with a copy of the vault that the answers are on; it has an index."""
    with scratch_folder() as root:
        prefix = copy_vault(data / VAULTS[vault], root)
        names = {answer.source_name for answer in answers}
        paths = {name: prefix + name.removeprefix(f"{VAULTS[vault]}/") for name in names}
        _index(root, embedder)
        yield SourcePalace(Palace(root), paths)


def _index(root: Path, embedder: RememberingEmbedder) -> None:
    with loading(embedder):
        Palace(root).index(embedder=MODEL)
    embedder.save()


class VerifyOptions(TypedDict, total=False):
    """What ``palace verify`` is told besides the answer and the notes."""

    by_words: bool
    model: str
    prompt: str | None
    entailment: str


def ask_named(
    answers: Sequence[WrittenAnswer],
    data: Path,
    cached: Path,
    progress: Progress,
    **how: Unpack[VerifyOptions],
) -> list[AnswerOutcome]:
    """Verify each answer against its note.

    Each source has a palace of its own: whatever is named, a palace reads all its notes first.
    """
    embedder = RememberingEmbedder(get_embedder(MODEL), cached)
    found: dict[int, AnswerOutcome] = {}
    by_source = sorted(range(len(answers)), key=lambda place: answers[place].source_name)
    for name, places in groupby(by_source, key=lambda place: answers[place].source_name):
        chosen = list(places)
        with open_source(answers[chosen[0]], embedder) as opened:
            for place in chosen:
                progress("verify", len(found), len(answers))
                against = [opened.paths[name]]
                found[place] = _ask(opened, answers[place], against, **how)
    return [found[place] for place in range(len(answers))]


def ask_vault(
    answers: Sequence[WrittenAnswer], data: Path, cached: Path, progress: Progress, *, vault: str
) -> list[AnswerOutcome]:
    """Verify each answer against nothing named: the search of the palace finds the passages."""
    embedder = RememberingEmbedder(get_embedder(MODEL), cached)
    with open_vault(vault, answers, data, embedder) as opened:
        outcomes = []
        for done, answer in enumerate(answers):
            progress("verify", done, len(answers))
            outcomes.append(_ask(opened, answer, []))
        return outcomes


def _ask(
    opened: SourcePalace,
    answer: WrittenAnswer,
    against: Sequence[str],
    **how: Unpack[VerifyOptions],
) -> AnswerOutcome:
    """Return the verdict, the model's where one is asked; one that says nothing accepts nothing."""
    checked = opened.palace.memories.verify(answer.text, against, **how)
    cited = {passage.note for sentence in checked.sentences for passage in sentence.compared}
    cited |= {each.check.passage.note for each in checked.sentences if each.check.passage}
    verdict = checked.verdict
    if checked.judged_by is not None:
        verdict = checked.model_verdict or Verdict.NOT_FOUND
    return AnswerOutcome(verdict, opened.paths[answer.source_name] in cited)


def accept_near(
    answers: Sequence[WrittenAnswer], data: Path, cached: Path, progress: Progress
) -> list[AnswerOutcome]:
    """Accept what comes near enough to one sentence of its source by the cosine of both."""
    embedder = RememberingEmbedder(get_embedder(MODEL), cached)
    scores = []
    for done, answer in enumerate(answers):
        progress("cosines", done, len(answers))
        mine = embedder.embed_passages([answer.text])[0]
        scores.append(float(np.max(embedder.embed_passages(_split(answer.source_text)) @ mine)))
    embedder.save()
    return accept_above(scores, LEAST_COSINE)


def accept_alike(
    answers: Sequence[WrittenAnswer], data: Path, cached: Path, progress: Progress
) -> list[AnswerOutcome]:
    """Accept what shares enough of its content words with one sentence of its source."""
    read = cache(lambda text: [Wording(sentence) for sentence in _split(text)])
    scores = [
        max(Wording(answer.text).share_matter(sentence) for sentence in read(answer.source_text))
        for answer in answers
    ]
    return accept_above(scores, LEAST_SHARED)


def accept_all(
    answers: Sequence[WrittenAnswer], data: Path, cached: Path, progress: Progress
) -> list[AnswerOutcome]:
    """Accept everything."""
    return [AnswerOutcome(Verdict.SUPPORTED)] * len(answers)


def accept_above(scores: Sequence[float], least: float) -> list[AnswerOutcome]:
    """Accept every answer whose score is not less than ``least``."""
    return [AnswerOutcome(Verdict.SUPPORTED if s >= least else Verdict.NOT_FOUND) for s in scores]


@cache
def _split(text: str) -> list[str]:
    return split_sentences(strip_markup(text)) or [text]


AnswerSystem: TypeAlias = Callable[
    [Sequence[WrittenAnswer], Path, Path, Progress], list[AnswerOutcome]
]
NAMED = "palace verify, note named"
SEARCHED = "palace verify, nothing named"
SYSTEMS: Mapping[str, AnswerSystem] = {
    NAMED: ask_named,
    f"{NAMED}, words alone": partial(ask_named, by_words=True),
    **{f"{SEARCHED}, {vault}": partial(ask_vault, vault=vault) for vault in VAULTS},
    "best cosine of a sentence": accept_near,
    "most shared words": accept_alike,
    "everything accepted": accept_all,
}
"""By name, ours first; with nothing named, those of one vault are searched for there."""


def list_judges(
    model: str | None, prompt: str | None, entailment: str | None
) -> dict[str, AnswerSystem]:
    """Return the systems in which a model of language judges alone, or a model of entailment too.

    ``prompt`` stands for the instructions of the former.
    """
    found: dict[str, AnswerSystem] = {}
    if model is not None:
        found[f"model {model}"] = partial(ask_named, model=model, prompt=prompt)
    if entailment is not None:
        found[f"{NAMED}, entailment {entailment}"] = partial(ask_named, entailment=entailment)
    return found


def choose_asked(system: str, answers: Sequence[WrittenAnswer]) -> list[WrittenAnswer]:
    """Return what a system can be asked about: without a name, what is on notes of its vault."""
    vault = system.removeprefix(f"{SEARCHED}, ")
    return [answer for answer in answers if vault in (system, answer.collection)]
