"""Runs: one system asked one question set, a line per question, so that a stopped one resumes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from memory_palace.bench.configuration import digest_data, digest_run
from memory_palace.bench.corpora import open_corpus
from memory_palace.bench.cost import Meter, RunCost, read_cost, write_cost
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.metrics import score_ranking
from memory_palace.bench.product import product_grep, product_ranker
from memory_palace.bench.systems import (
    WORDS_ALONE,
    Ranker,
    grep_ranker,
    mode_profile,
    profile_ranker,
)
from memory_palace.bench.vectors import RememberingEmbedder
from memory_palace.embedding.base import Embedder
from memory_palace.embedding.registry import NO_VECTORS, get_embedder
from memory_palace.errors import UsageError
from memory_palace.index.recipes import name_recipe
from memory_palace.models import Vector
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.question import join_phrases
from memory_palace.storage.atomic import write_atomic
from memory_palace.storage.logs import append_record, read_records

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""
_KEPT = 10
_HEADER = {"name", "system", "configuration"}
_Header: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system gave for one question."""

    id: str
    group: str
    category: str
    is_abstention: bool
    is_incomplete: bool
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    """The first ten units, best first."""
    ranked_scores: tuple[float, ...]
    """What the system itself scored them."""
    scores: dict[str, float]
    """Of every measure; empty where there is no gold."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    name: str
    system: str
    answers: tuple[Answer, ...]
    cost: RunCost
    embedder: str = ""
    """Empty where the system makes no vectors."""


def run_system(
    name: str,
    collections: Sequence[Collection],
    system: str | Profile,
    *,
    embedder: Embedder,
    cache: Path,
    is_product: bool = False,
    progress: Progress = lambda what, done, total: None,
) -> Run:
    """Ask every question that an earlier, stopped run of the same configuration has not asked.

    The file of answers holds nothing that differs between two runs; what they cost stands beside.
    ``is_product`` asks as ``palace query`` does. What compares words alone makes no vectors.
    """
    recipe = _recipe(collections, system)
    if (recipe if isinstance(recipe, str) else recipe.name) in WORDS_ALONE:
        embedder = get_embedder(NO_VECTORS)
    kind = f"{name_recipe(embedder)}{', product' * is_product}"
    configuration = digest_run(collections, recipe, kind)
    header = _head(name, system, configuration, embedder)
    path = cache / "runs" / _name_file(header, digest_data(collections))
    path.parent.mkdir(parents=True, exist_ok=True)
    done = _read_done(path, header)
    before = read_cost(path.with_suffix(".json"), configuration=configuration if done else "")
    meter = Meter()
    folder = cache if embedder.dimension else None
    remembering = RememberingEmbedder(
        embedder, folder, progress=lambda made, total: progress("embedding", made, total)
    )
    asker = _Asker(recipe, remembering, cache, meter, is_product)
    order = [question.id for collection in collections for question in collection.questions]
    is_complete = len(done) == len(order)
    try:
        for collection in collections:
            for answer in asker.ask(collection, done):
                append_record(path, asdict(answer), is_durable=False)
                done[answer.id] = answer
                progress("asking", len(done), len(order))
    finally:
        remembering.save()
        cost = before if is_complete else before + meter.read()
        write_cost(path.with_suffix(".json"), cost, configuration=configuration)
    answers = tuple(done[identity] for identity in order)
    return Run(name, header["system"], answers, cost, header["embedder"])


def read_run(path: Path) -> Run:
    """Read the answers of a run. Raise ``UsageError`` where there are none."""
    if not path.exists():
        raise UsageError(f"{path} does not exist; list the runs with `palace bench list`")
    lines = list(read_records(path))
    if not lines or not lines[0].keys() >= _HEADER:
        raise UsageError(f"{path}:1: this is not a run; list the runs with `palace bench list`")
    header, *rows = lines
    cost = read_cost(path.with_suffix(".json"), configuration=header["configuration"])
    answers = tuple(_answer(row, f"{path}:{n}") for n, row in enumerate(rows, start=2))
    made_by = str(header.get("embedder", ""))
    return Run(str(header["name"]), str(header["system"]), answers, cost, made_by)


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks the questions of one collection after the other."""

    recipe: str | Profile
    embedder: Embedder
    cache: Path
    meter: Meter
    is_product: bool

    def ask(self, collection: Collection, done: dict[str, Answer]) -> Iterator[Answer]:
        """Yield the answers that are not done."""
        waiting = [question for question in collection.questions if question.id not in done]
        if not waiting:
            return
        with self.meter.preparing():
            ranker = self._ranker(collection)
            matrix = self.embedder.embed_queries([question.text for question in waiting])
        for question, vector in zip(waiting, matrix, strict=True):
            with self.meter.asking():
                found = ranker(question, vector)
            units = [unit for unit, _ in found.units]
            gains = dict(question.gains)
            scores = score_ranking(units, question.gold, gains) if question.gold else {}
            scores |= found.figures if scores else {}
            yield Answer(
                question.id,
                collection.group,
                question.category,
                question.is_abstention,
                question.is_incomplete,
                tuple(sorted(question.gold)),
                tuple(units[:_KEPT]),
                tuple(round(score, 6) for _, score in found.units[:_KEPT]),
                {measure: round(value, 6) for measure, value in scores.items()},
            )

    def _ranker(self, collection: Collection) -> Ranker:
        if isinstance(self.recipe, str):
            return (product_grep if self.is_product else grep_ranker)(collection)
        if self.is_product:
            return product_ranker(self.recipe, collection, self.cache, self.embedder)
        signals = self.recipe.weights.keys()
        needs = self.recipe.needs
        corpus = open_corpus(collection, self.cache, self.embedder, detail=needs)
        phrases = self._phrases(collection) if "bridge" in signals else {}
        return profile_ranker(self.recipe, collection, corpus, phrases=phrases)

    def _phrases(self, collection: Collection) -> dict[str, Vector]:
        """Return the vector of each question's noun phrases, by question id."""
        texts = {q.id: text for q in collection.questions if (text := join_phrases(q.text))}
        return dict(zip(texts, self.embedder.embed_queries(list(texts.values())), strict=True))


def _recipe(collections: Sequence[Collection], system: str | Profile) -> str | Profile:
    """Return the profile that a mode stands for, or ``grep``, which is none."""
    if isinstance(system, Profile) or system == "grep":
        return system
    ranks_passages = bool(collections) and collections[0].ranks_passages
    return mode_profile(system, ranks_passages=ranks_passages)


def _head(name: str, system: str | Profile, configuration: str, embedder: Embedder) -> _Header:
    return {
        "name": name,
        "system": system if isinstance(system, str) else system.name,
        "embedder": embedder.name if embedder.dimension else "",
        "configuration": configuration,
    }


def _name_file(header: _Header, asked: str) -> str:
    """Return a name that a file can have: ``beir-scifact--hybrid--minilm--0a1b2c3d.jsonl``."""
    parts = header["name"], header["system"], header["embedder"], asked
    return "--".join(re.sub(r"[^\w.+-]+", "-", part) for part in parts if part) + ".jsonl"


def _read_done(path: Path, header: _Header) -> dict[str, Answer]:
    """Return the answers in the file; start it again where they are of another configuration."""
    rows = list(read_records(path))
    if not rows or rows[0] != header:
        rows = [header]
        path.unlink(missing_ok=True)
        append_record(path, header, is_durable=False)
    whole, _, torn = path.read_bytes().rpartition(b"\n")
    if torn:
        write_atomic(path, whole + b"\n")
    return {row["id"]: _answer(row, f"{path}:{n}") for n, row in enumerate(rows[1:], start=2)}


def _answer(row: dict[str, Any], where: str) -> Answer:
    try:
        lists = {name: tuple(row[name]) for name in ("gold", "ranked", "ranked_scores")}
        return Answer(**row | lists)
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"{where}: this answer has no {error}; another version wrote it, so run it again"
        ) from error
