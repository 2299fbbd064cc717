"""Runs: one system asked one question set, a line per question, so that a stopped one resumes."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from memory_palace.bench.corpus import open_corpus
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.metrics import score_ranking
from memory_palace.bench.systems import Ranker, grep_ranker, mode_profile, profile_ranker
from memory_palace.bench.vectors import VectorCache
from memory_palace.embedding.base import Embedder
from memory_palace.errors import UsageError
from memory_palace.index.fingerprint import index_fingerprint
from memory_palace.retrieval.profiles import Profile
from memory_palace.storage.atomic import write_atomic

Progress = Callable[[int, int], None]
_KEPT = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """What a system gave for one question."""

    id: str
    group: str
    category: str
    is_abstention: bool
    gold: tuple[str, ...]
    ranked: tuple[str, ...]
    scores: dict[str, float]


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    name: str
    system: str
    answers: tuple[Answer, ...]
    cost: dict[str, float]
    """Wall and CPU seconds of this process's part, and its peak memory in MiB."""


def run_system(
    name: str,
    collections: Sequence[Collection],
    system: str | Profile,
    *,
    embedder: Embedder,
    cache: Path,
    progress: Progress = lambda done, total: None,
) -> Run:
    """Ask every question that an earlier, stopped run of the same configuration has not asked.

    The file of answers holds nothing that differs between two runs; what they cost stands beside.
    """
    label = system if isinstance(system, str) else system.name
    path = cache / "runs" / f"{name}--{label}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    header = _header(name, collections, system, embedder)
    done = _read_done(path, header)
    started, cpu = time.perf_counter(), time.process_time()
    vectors = VectorCache(cache, embedder)
    total = sum(len(collection.questions) for collection in collections)
    with path.open("a", encoding="utf-8") as file:
        for collection in collections:
            for answer in _ask(collection, system, embedder, cache, vectors, done):
                file.write(json.dumps(asdict(answer), sort_keys=True, ensure_ascii=False) + "\n")
                file.flush()
                done[answer.id] = answer
            progress(len(done), total)
    vectors.save()
    cost = {
        "wall_seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - cpu,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    write_atomic(path.with_suffix(".json"), json.dumps(cost, sort_keys=True).encode())
    order = [question.id for collection in collections for question in collection.questions]
    return Run(name, label, tuple(done[identity] for identity in order), cost)


def read_run(path: Path) -> Run:
    """Read the answers of a run. Raise ``UsageError`` where there are none."""
    if not path.exists():
        raise UsageError(f"there is no run {path}; `palace bench list` names those there are")
    header, *rows = _read_lines(path)
    cost_path = path.with_suffix(".json")
    cost = json.loads(cost_path.read_bytes()) if cost_path.exists() else {}
    answers = tuple(_answer(row) for row in rows)
    return Run(str(header["name"]), str(header["system"]), answers, cost)


def _ask(
    collection: Collection,
    system: str | Profile,
    embedder: Embedder,
    cache: Path,
    vectors: VectorCache,
    done: dict[str, Answer],
) -> Iterable[Answer]:
    waiting = [question for question in collection.questions if question.id not in done]
    if not waiting:
        return
    ranker = _ranker(collection, system, embedder, cache, vectors)
    matrix = vectors.questions([question.text for question in waiting])
    for question, vector in zip(waiting, matrix, strict=True):
        ranked = tuple(ranker(question, vector))
        scores = score_ranking(ranked, question.gold, dict(question.gains)) if question.gold else {}
        yield Answer(
            question.id,
            collection.group,
            question.category,
            question.is_abstention,
            tuple(sorted(question.gold)),
            ranked[:_KEPT],
            {measure: round(value, 6) for measure, value in scores.items()},
        )


def _ranker(
    collection: Collection,
    system: str | Profile,
    embedder: Embedder,
    cache: Path,
    vectors: VectorCache,
) -> Ranker:
    if system == "grep":
        return grep_ranker(collection)
    profile = (
        system
        if isinstance(system, Profile)
        else mode_profile(system, ranks_passages=collection.ranks_passages)
    )
    corpus = open_corpus(collection, cache, embedder, vectors)
    return profile_ranker(profile, collection, corpus)


def _header(
    name: str, collections: Sequence[Collection], system: str | Profile, embedder: Embedder
) -> dict[str, str]:
    ranks_passages = collections[0].ranks_passages if collections else False
    label = system if isinstance(system, str) else system.name
    recipe: object = label
    if system != "grep":
        profile = (
            system
            if isinstance(system, Profile)
            else mode_profile(system, ranks_passages=ranks_passages)
        )
        recipe = [
            dict(profile.weights), sorted(profile.capped), profile.cap, profile.preserves_rank
        ]  # fmt: skip
    asked = [(q.id, q.text, sorted(q.gold)) for c in collections for q in c.questions]
    held = [(d.id, d.text, [p.text for p in d.passages]) for c in collections for d in c.documents]
    content = json.dumps([recipe, asked, held, index_fingerprint(embedder)]).encode()
    return {"name": name, "system": label, "configuration": sha256(content).hexdigest()[:16]}


def _read_done(path: Path, header: dict[str, str]) -> dict[str, Answer]:
    """Return the answers there are; begin the file anew where they are of something else."""
    rows = _read_lines(path) if path.exists() else []
    if not rows or rows[0] != header:
        write_atomic(path, (json.dumps(header, sort_keys=True) + "\n").encode())
        return {}
    text = "".join(json.dumps(r, sort_keys=True, ensure_ascii=False) + "\n" for r in rows[1:])
    write_atomic(path, (json.dumps(header, sort_keys=True) + "\n" + text).encode())
    return {row["id"]: _answer(row) for row in rows[1:]}


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines of a run; a torn last one is dropped."""
    rows = []
    for line in path.read_text("utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def _answer(row: dict[str, Any]) -> Answer:
    fields: dict[str, Any] = {**row, "gold": tuple(row["gold"]), "ranked": tuple(row["ranked"])}
    return Answer(**fields)
