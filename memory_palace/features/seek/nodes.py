"""Nodes of a search, and which of them a goal may mean: meaning and words, blended and guarded."""

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
"""As far as JSON numbers are exact everywhere."""
_JOINTS = re.compile(r"[-‐‑_/]")


@dataclass(frozen=True, slots=True)
class Pose2D:
    """A place and a direction."""

    x: float
    y: float
    """Metres."""
    yaw: float = 0.0
    """Radians, counter-clockwise from the x axis."""

    def __post_init__(self) -> None:
        for name in ("x", "y", "yaw"):
            if not math.isfinite(value := getattr(self, name)):
                raise UsageError(f"{name} of a pose must be a finite number, not {value}")

    def distance_to(self, other: Pose2D) -> float:
        return math.hypot(self.x - other.x, self.y - other.y)


@dataclass(frozen=True, slots=True)
class NodePlace:
    """Where a node is: the note it stands in, and a pose or the lines that bear on the goal."""

    path: str
    title: str
    pose: Pose2D | None = None
    """``None`` where the search is among notes."""
    lines: tuple[int, int] | None = None
    """First and last line of the passage; ``None`` for a locus, and where nothing bears on it."""

    @property
    def where(self) -> str:
        """The path, with the lines that bear on the goal as ``palace show`` takes them."""
        return self.path if self.lines is None else write_line_range(self.path, *self.lines)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> NodePlace:
        """Take apart what the schema of sessions has checked."""
        pose, lines = value["pose"], value["lines"]
        place = Pose2D(**pose) if pose else None
        return cls(value["path"], value["title"], place, tuple(lines) if lines else None)


@dataclass(frozen=True, slots=True)
class MemoryNode:
    """A place that is remembered, and what was seen there."""

    node_id: int
    pose: Pose2D
    embedding: tuple[float, ...] | None = None
    """Of any length but zero; ``None`` where the text is embedded when it is asked for."""
    tags: tuple[str, ...] = ()
    summary: str = ""

    def __post_init__(self) -> None:
        check_node_id(self.node_id)
        if self.embedding is not None and not any(self.embedding):
            raise UsageError(f"the embedding of node {self.node_id} is zero; leave it out")

    @property
    def text(self) -> str:
        """What is embedded and compared by words: the summary, then the tags."""
        return " ".join((self.summary, *self.tags))


def check_node_id(value: object) -> int:
    """Return a node's id; raise ``UsageError`` for anything but a whole number from 0."""
    if type(value) is not int or not 0 <= value <= MOST_ID:
        raise UsageError(
            f"the id of a node must be a whole number from 0 to {MOST_ID}, not {value!r:.40}"
        )
    return value


@lru_cache(maxsize=4096)
def goal_words(text: str) -> frozenset[str]:
    """Return the distinct stems of a goal's content words, of all words where it has no other.

    A hyphen separates words, and a word that is said twice counts once: the document's way makes
    "red-backpack" miss "red backpack", and "red red backpack" score below "red backpack".
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
"""The blend of source document 004."""
RAMP = 0.05
"""The width of the document's guard around one half; ours rises through its upper half."""
CHANCE = 0.005
"""How often the best of unrelated texts may pass, by the fit. At most two in a hundred did on the
development half of our goals: kinds that are unrelated hold places that are half related."""
TAIL = 0.01
"""The share of unrelated cosines that the tail is fitted to."""
_NOWHERE = np.zeros(0, np.int64)


class NodeCandidate(TypedDict):
    """One node and its score in [0, 1], as it stands in beliefs and logs."""

    node_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Shelf:
    """Things to search, in the order of their ids; every array has one value for each."""

    ids: NDArray[np.int64]
    compared: int
    """How many vectors a goal is compared with."""
    cosines: Callable[[Vector], Scores]
    """Cosines with a unit vector."""
    holders: Callable[[str], NDArray[np.int64]]
    """Positions of what holds a word, each once."""

    def word_shares(self, words: Collection[str]) -> Scores:
        """Return the share of the words that each holds."""
        shares: Scores = np.zeros(len(self.ids), np.float32)
        for word in words:
            shares[self.holders(word)] += 1
        return shares / np.float32(max(len(words), 1))


class NodeStore:
    """Nodes in memory by id; what they are searched by is made once for each embedder."""

    def __init__(self, nodes: Iterable[MemoryNode] = ()) -> None:
        """Keep nodes; raise ``UsageError`` where two have one id."""
        self.nodes = sorted(nodes, key=lambda node: node.node_id)
        self._shelves: dict[str, Shelf] = {}
        for one, other in pairwise(self.nodes):
            if one.node_id == other.node_id:
                raise UsageError(f"two nodes have id {one.node_id}; give one another id")

    def shelve(self, embedder: Embedder) -> Shelf:
        """Return what the nodes are searched by."""
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
    """Return one unit vector per node, those of nodes that bring none embedded together."""
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
    """Shelve the loci, whose ids ``numbers`` has by path, each by its best passage and its words.

    One that is not in the index is left out.
    """
    place = {path: number for number, path in enumerate(snapshot.paths)}
    known = sorted((number, place[path]) for path, number in numbers.items() if path in place)
    ids, chosen = np.array(known, np.int64).reshape(-1, 2).T
    slots = np.full(len(snapshot.paths) + 1, -1, np.int64)  # the last is for dead rows
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
    """Return the ``k`` best of a shelf; without a vector words alone decide."""
    words = goal_words(goal_text)
    if not words or not len(shelf.ids):
        return []
    cosines = np.zeros(len(shelf.ids), np.float32) if vector is None else shelf.cosines(vector)
    scores = blend(cosines, shelf.word_shares(words))
    rows = np.flatnonzero(~np.isin(shelf.ids, sorted(exclude)))
    rows = rows[np.argsort(-scores[rows], kind="stable")][: max(k, 0)]  # of equals the lower id
    found = zip(shelf.ids[rows].tolist(), scores[rows].tolist(), strict=True)
    return [NodeCandidate(node_id=node_id, score=score) for node_id, score in found]


def blend(cosines: Scores, shares: Scores) -> NDArray[np.float64]:
    """Return scores in [0, 1] from cosines and shares of words, monotone in both.

    ``.8 (cos + 1) / 2 + .2 share``, guarded twice. Without a common word a ramp takes what is no
    more alike than chance down to 0: the document's guard halves what is near one half and spares
    what is below, so that its least alike node comes second. And a part of the words counts by its
    cube: half of "cold beer" is in every note on a cold day.
    """
    alike = (cosines + np.float32(1)) * np.float32(0.5)
    scores = np.float32(MEANING) * alike + np.float32(WORDS) * shares * shares * shares
    ramp = np.clip((alike - np.float32(0.5)) / np.float32(RAMP), 0, 1)
    np.multiply(scores, ramp, out=scores, where=shares <= 0)
    np.clip(scores, 0, 1, out=scores)
    rounded: NDArray[np.float64] = scores.astype(np.float64).round(6)
    return rounded


def score_threshold(null: Null | None, compared: int) -> float:
    """Return the least score at which the best of ``compared`` vectors is not chance.

    Without vectors (``null`` is ``None``) every word of the goal has to be there.
    """
    one = np.ones(1, np.float32)
    if null is None:
        return float(blend(0 * one, one)[0])
    cosine = np.float32(null.cosine_threshold(compared)) * one
    return float(blend(cosine, 0 * one)[0])


class Null(NamedTuple):
    """Cosines of unrelated goals and texts: where their tail starts and how fast it falls."""

    start: float
    """The cosine that ``TAIL`` of them exceed."""
    excess: float
    """By how much those exceed it on average."""

    def cosine_threshold(self, count: int, *, chance: float = CHANCE) -> float:
        """Return the cosine that the best of ``count`` unrelated texts reaches with ``chance``.

        Peaks over a threshold with an exponential tail (Pickands 1975; Coles 2001, section 4),
        the chance shared out among the texts (Bonferroni).
        """
        found = self.start + self.excess * math.log(max(count, 1) * TAIL / chance)
        return min(max(found, 0.0), 1.0)


def calibrate(embedder: Embedder) -> Null:
    """Embed goals and texts of 64 subjects and measure those that have nothing to do together."""
    goals, texts = read_probes()
    cosines = embedder.embed_queries(goals) @ embedder.embed_passages(texts).T
    unrelated = cosines[~np.eye(len(goals), dtype=bool)].astype(np.float64)
    start, excess = find_tail(unrelated, TAIL)
    return Null(round(start, 4), round(max(excess, 1e-4), 4))


@cache
def read_probes() -> tuple[list[str], list[str]]:
    """Return the goals, and for each of them in the same place the one text that is related."""
    lines = files(__package__).joinpath("probes.txt").read_text("utf-8").splitlines()
    pairs = [line.partition(" | ") for line in lines]
    return [goal for goal, _, _ in pairs], [text for _, _, text in pairs]
