"""The first step of a search among notes: its candidates beside the answer of ``palace query``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from memory_palace.bench.datasets.items import Collection, EvalQuestion
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.own import read_notes
from memory_palace.bench.datasets.pages import load_pages
from memory_palace.bench.given import GARDEN, Given, checkout
from memory_palace.bench.golden import Pair, read_pairs
from memory_palace.bench.metrics import paired_interval
from memory_palace.bench.product import as_notes, name_notes, open_product
from memory_palace.bench.vectors import loading
from memory_palace.embedding.base import Embedder
from memory_palace.palace import Palace
from memory_palace.places import PALACE

_K = 5


@dataclass(frozen=True, slots=True)
class FirstStep:
    """Shares of goals with a right note among the first hits of a query, and the candidates."""

    set: str
    goals: int
    query_at_1: float
    query_at_5: float
    candidates_at_1: float
    candidates_at_5: float
    difference: float
    """Of the two at 5, with its 95 % interval over goals."""
    low: float
    high: float


def measure_first_steps(given: Given, embedder: Embedder) -> Iterator[FirstStep]:
    """Ask the goals of each set that is at hand, as a query and as a search."""
    for name, collections in _read_sets(given):
        ranks: list[tuple[int, int]] = []
        for collection in collections:
            given.progress(name, len(ranks), len(ranks))
            ranks += _ask(collection, given.cache, embedder)
        yield _sum_up(name, ranks)


def _read_sets(given: Given) -> Iterator[tuple[str, Sequence[Collection]]]:
    golden = checkout("tests/golden")
    sample = read_pairs(golden / "sample_palace.md")
    yield "sample palace", [_pair_up(checkout(PALACE), sample, prefix=f"{PALACE}/")]
    if given.data is None:
        return
    yield "garden", [_pair_up(given.find(GARDEN), read_pairs(golden / "garden.md"))]
    pages = load_pages(given.find("multilingual-help"))
    yield "help, English", [one for one in pages if one.group == "en"]
    talks, labels = given.find_talks()
    sessions = load_locomo(talks, unit="session", gold=labels)
    yield "LoCoMo, sessions", [as_notes(one) for one in sessions]


def _pair_up(folder: Path, pairs: Sequence[Pair], *, prefix: str = "") -> Collection:
    questions = (
        EvalQuestion(f"q{n}", pair.question, frozenset({pair.path.removeprefix(prefix)}))
        for n, pair in enumerate(pairs)
    )
    return Collection(folder.name, read_notes(folder), tuple(questions))


def _ask(collection: Collection, folder: Path, embedder: Embedder) -> Iterator[tuple[int, int]]:
    """Yield for each goal the rank of the first right note in both, 0 where there is none."""
    kept = [q for q in collection.questions if q.gold and not q.is_abstention]
    palace = open_product(collection, folder, embedder)
    names = name_notes(collection)
    with loading(embedder):
        for question in kept:
            gold = {names[one] for one in question.gold if one in names}
            yield (
                _rank(_query(palace, question.text), gold),
                _rank(_search(palace, question.text), gold),
            )


def _query(palace: Palace, goal: str) -> Sequence[str]:
    return palace.rank_paths([goal], limit=_K)[0]


def _search(palace: Palace, goal: str) -> list[str]:
    """Return the candidates of the first step; one search changes its goal, as many would begin."""
    searches = palace.searches
    if searches.list():
        searches.change_goal(None, goal)
    else:
        searches.start(goal)
    session, record = searches.step()
    return [session.nodes[found["node_id"]] for found in record["retrieval_topk"]]


def _rank(paths: Sequence[str], gold: set[str]) -> int:
    return next((n for n, path in enumerate(paths, 1) if path in gold), 0)


def _sum_up(name: str, ranks: Sequence[tuple[int, int]]) -> FirstStep:
    query, search = zip(*ranks, strict=True)
    found = [[float(rank > 0) for rank in one] for one in (query, search)]
    firsts = [fmean(rank == 1 for rank in one) for one in (query, search)]
    difference, low, high = paired_interval(*found)
    return FirstStep(
        name,
        len(ranks),
        firsts[0],
        fmean(found[0]),
        firsts[1],
        fmean(found[1]),
        difference,
        low,
        high,
    )
