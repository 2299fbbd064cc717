"""Nodes of a search, and their ranking for a goal by cosine and shared words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from memory_palace.embedding.registry import Embedder
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.index.chance import find_tail
from memory_palace.index.snapshot import Snapshot
from memory_palace.index.words import PostingLookup
from memory_palace.language.words import STOPWORDS, tokenize
from memory_palace.models import Matrix, Scores, Vector
from memory_palace.notes.note import write_line_range

MOST_ID = 2**53
"""Largest id; JSON integers are exact up to it everywhere."""
_JOINTS = re.compile(r"[-‐‑_/]")


@dataclass(frozen=True, slots=True)
class Pose2D:
    """A position in the plane and a direction."""

    x: float
    y: float
    """Metres."""
    yaw: float = 0.0
    """Radians, counter-clockwise from the x axis."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "yaw"):
            if not math.isfinite(value := getattr(self, name)):
                raise UsageError(f"{name} of a pose must be a finite number, not {value}")


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where a node is: its note, and a pose or the lines that bear on the goal."""

    path: str
    title: str
    pose: Pose2D | None = None
    """``None`` where the search is among notes."""
    lines: tuple[int, int] | None = None
    """First and last line of the passage; ``None`` for a locus, and where nothing bears on it."""

    @property
    def where(self) -> str:
        """The path, with the lines that bear on the goal in the syntax of ``palace show``."""
        return self.path if self.lines is None else write_line_range(self.path, *self.lines)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NodePlace:
        """Return the place in a JSON value that the session schema has checked."""
        pose, lines = value["pose"], value["lines"]
        place = Pose2D(**pose) if pose else None
        return cls(value["path"], value["title"], place, tuple(lines) if lines else None)


@dataclass(frozen=True, slots=True)
class MemoryNode:
    """A remembered place: its pose, and its text or embedding."""

    node_id: int
    pose: Pose2D
    embedding: tuple[float, ...] | None = None
    """Any nonzero vector; ``None`` if the node's text is embedded on demand."""
    tags: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        check_node_id(self.node_id)
        if self.embedding is not None and not any(self.embedding):
            raise UsageError(f"the embedding of node {self.node_id} is zero; leave it out")

    @property
    def text(self) -> str:
        return " ".join((self.summary, *self.tags))


def check_node_id(value: object) -> int:
    """Return a node id; raise ``UsageError`` unless it is an integer from 0 to ``MOST_ID``."""
    if type(value) is not int or not 0 <= value <= MOST_ID:
        raise UsageError(
            f"the id of a node must be a whole number from 0 to {MOST_ID}, not {value!r:.40}"
        )
    return value


@lru_cache(maxsize=4096)
def goal_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a goal's content words, or of all words if it has no other.

    A hyphen separates words, and a repeated word counts once. By source document 004 "red-backpack"
    misses "red backpack", and "red red backpack" scores below "red backpack".
    """
    parts = _JOINTS.sub(" ", text)
    pairs = list(zip(tokenize(parts, stems=False), tokenize(parts), strict=True))
    content = frozenset(stem for word, stem in pairs if word not in STOPWORDS)
    return content or frozenset(stem for _, stem in pairs)


@lru_cache(maxsize=4096)
def node_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a node's text."""
    return frozenset(tokenize(text))


# --- Ranking ---

MEANING, WORDS = 0.8, 0.2
"""Weights of cosine and shared words, from source document 004."""
RAMP = 0.05
"""Width of the ramp above similarity .5; source document 004 has a guard on both sides of it."""
CHANCE = 0.005
"""Probability, by the fit, that the best of unrelated texts passes. On the development half of our
goals up to .02 passed: places of unrelated kinds can be partly related."""
TAIL = 0.01
"""Share of unrelated cosines that the tail is fitted to."""
_NOWHERE = np.zeros(0, np.int64)


class NodeCandidate(TypedDict):
    """A node and its score in [0, 1], as stored in beliefs and logs."""

    node_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """The search index of nodes, ordered by id; every array has one value per node."""

    ids: NDArray[np.int64]
    compared: int
    """Number of vectors that a goal is compared with."""
    cosines: Callable[[Vector], Scores]
    """Return each node's cosine with a unit vector."""
    holders: Callable[[str], NDArray[np.int64]]
    """Return the positions of the nodes that hold a word, each once."""

    def word_shares(self, words: Collection[str]) -> Scores:
        shares: Scores = np.zeros(len(self.ids), np.float32)
        for word in words:
            shares[self.holders(word)] += 1
        return shares / np.float32(max(len(words), 1))


class NodeStore:
    """In-memory nodes, with one search index (shelf) per embedder."""

    def __init__(self, nodes: Iterable[MemoryNode] = ()) -> None:
        """Sort nodes by id; raise ``UsageError`` if two have the same id."""
        self.nodes = sorted(nodes, key=lambda node: node.node_id)
        self._shelves: dict[str, Shelf] = {}
        for one, other in pairwise(self.nodes):
            if one.node_id == other.node_id:
                raise UsageError(f"two nodes have id {one.node_id}; give one another id")

    def shelve(self, embedder: Embedder) -> Shelf:
        """Return the search index of the nodes, built once per embedder."""
        key = embedder.fingerprint
        if key in self._shelves:
            return self._shelves[key]
        vectors = _vectors_of(self.nodes, embedder)
        postings: dict[str, list[int]] = {}
        for row, node in enumerate(self.nodes):
            for word in node_words(node.text):
                postings.setdefault(word, []).append(row)
        held = {word: np.array(rows, np.int64) for word, rows in postings.items()}
        self._shelves[key] = Shelf(
            np.array([node.node_id for node in self.nodes], np.int64),
            len(self.nodes),
            lambda vector: vectors @ vector,
            lambda word: held.get(word, _NOWHERE),
        )
        return self._shelves[key]


def _vectors_of(nodes: Sequence[MemoryNode], embedder: Embedder) -> Matrix:
    """Return one unit vector per node: the normalized embedding it brings, else its text's."""
    width = embedder.dimension
    vectors: Matrix = np.zeros((len(nodes), width), np.float32)
    bare = [row for row, node in enumerate(nodes) if node.embedding is None]
    if bare:
        vectors[bare] = embedder.embed_passages([nodes[row].text for row in bare])
    for row, node in enumerate(nodes):
        if node.embedding is not None:
            if len(node.embedding) != width:  # a cosine of 0 would count as half a match
                raise WrongEmbedderError(
                    f"node {node.node_id} has an embedding of {len(node.embedding)} numbers, but "
                    f"the embedder makes {width}; leave it out to have the node's text embedded"
                )
            given = np.array(node.embedding, np.float64)
            vectors[row] = given / np.linalg.norm(given)
    return vectors


def shelve_loci(snapshot: Snapshot, numbers: Mapping[str, int]) -> Shelf:
    """Return the search index of loci: cosine of the best passage, and all words.

    ``numbers`` maps paths to ids. Loci that are not in the index are left out.
    """
    place = {path: number for number, path in enumerate(snapshot.paths)}
    known = sorted((number, place[path]) for path, number in numbers.items() if path in place)
    ids, chosen = np.array(known, np.int64).reshape(-1, 2).T
    slots = np.full(len(snapshot.paths) + 1, -1, np.int64)  # the last slot is for dead rows
    slots[chosen] = np.arange(len(chosen))
    row_slots = slots[snapshot.row_note]
    rows = np.flatnonzero(row_slots >= 0)
    lookup = PostingLookup(snapshot, "words")

    def cosines(vector: Vector) -> Scores:
        best: Scores = np.full(len(chosen), -np.inf, np.float32)
        np.maximum.at(best, row_slots[rows], snapshot.similarities(vector)[rows])
        best[np.isneginf(best)] = 0.0  # a note without text
        return best

    def holders(word: str) -> NDArray[np.int64]:
        held = row_slots[lookup.find(word)[0]]
        return np.unique(held[held >= 0])

    return Shelf(ids, len(rows), cosines, holders)


def retrieve_candidates(
    goal_text: str,
    store: NodeStore,
    embedder: Embedder,
    k: int = 5,
    *,
    exclude: Collection[int] = (),
) -> list[NodeCandidate]:
    """Return the ``k`` best nodes for a goal by score, then id; none for a goal without words."""
    if not goal_words(goal_text) or not store.nodes:
        return []
    vector = embedder.embed_queries([goal_text])[0] if embedder.dimension else None
    return search_shelf(goal_text, vector, store.shelve(embedder), k, exclude=exclude)


def search_shelf(
    goal_text: str, vector: Vector | None, shelf: Shelf, k: int, *, exclude: Collection[int] = ()
) -> list[NodeCandidate]:
    """Return the ``k`` best nodes of a shelf; without a vector by shared words alone."""
    words = goal_words(goal_text)
    if not words or not len(shelf.ids):
        return []
    cosines = np.zeros(len(shelf.ids), np.float32) if vector is None else shelf.cosines(vector)
    scores = blend(cosines, shelf.word_shares(words))
    rows = np.flatnonzero(~np.isin(shelf.ids, sorted(exclude)))
    rows = rows[np.argsort(-scores[rows], kind="stable")][: max(k, 0)]  # ties: lower id first
    found = zip(shelf.ids[rows].tolist(), scores[rows].tolist(), strict=True)
    return [NodeCandidate(node_id=node_id, score=score) for node_id, score in found]


def blend(cosines: Scores, shares: Scores) -> NDArray[np.float64]:
    """Return scores in [0, 1] from cosines and shares of words, monotone in both.

    ``.8 (cos + 1) / 2 + .2 share³``; without a shared word, times a ramp that takes similarities at
    chance level to 0. (Source document 004 halves scores near one half and spares lower ones, so
    its least similar node ranks second.) The cube discounts partial matches: half of "cold beer" is
    in every note on a cold day.
    """
    alike = (cosines + np.float32(1)) * np.float32(0.5)
    scores = np.float32(MEANING) * alike + np.float32(WORDS) * shares * shares * shares
    ramp = np.clip((alike - np.float32(0.5)) / np.float32(RAMP), 0, 1)
    np.multiply(scores, ramp, out=scores, where=shares <= 0)
    np.clip(scores, 0, 1, out=scores)
    return scores.astype(np.float64).round(6)


def score_threshold(null: Null | None, compared: int) -> float:
    """Return the least score at which the best of ``compared`` vectors is not chance.

    Without vectors (``null`` is ``None``) all words of the goal are required.
    """
    one = np.ones(1, np.float32)
    if null is None:
        return float(blend(0 * one, one)[0])
    cosine = np.float32(null.cosine_threshold(compared)) * one
    return float(blend(cosine, 0 * one)[0])


class Null(NamedTuple):
    """Exponential tail of the cosines of unrelated goals and texts."""

    start: float
    """Cosine that a share ``TAIL`` of them exceeds."""
    excess: float
    """Mean excess over ``start`` of those above it."""

    def cosine_threshold(self, count: int, *, chance: float = CHANCE) -> float:
        """Return the cosine that the best of ``count`` unrelated texts reaches with ``chance``.

        Peaks over a threshold with an exponential tail (Pickands 1975; Coles 2001, section 4),
        the chance shared out among the texts (Bonferroni).
        """
        found = self.start + self.excess * math.log(max(count, 1) * TAIL / chance)
        return min(max(found, 0.0), 1.0)


def calibrate(embedder: Embedder) -> Null:
    """Return the tail of the cosines between probe goals and texts of different subjects."""
    goals, texts = read_probes()
    cosines = embedder.embed_queries(goals) @ embedder.embed_passages(texts).T
    unrelated = cosines[~np.eye(len(goals), dtype=bool)].astype(np.float64)
    start, excess = find_tail(unrelated, TAIL)
    return Null(round(start, 4), round(max(excess, 1e-4), 4))


@cache
def read_probes() -> tuple[list[str], list[str]]:
    """Return the probe goals and, in parallel, the one related text of each."""
    lines = files(__package__).joinpath("probes.txt").read_text("utf-8").splitlines()
    pairs = [line.partition(" | ") for line in lines]
    return [goal for goal, _, _ in pairs], [text for _, _, text in pairs]
