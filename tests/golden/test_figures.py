"""How well the golden questions are answered, guarded without any other data.

`figures.md` holds how well each profile answers the golden questions, and in which order `hybrid`
ranks. Any weight that moves by a factor of three moves a line of it. The hashing embedder needs no
model and gives the same vectors everywhere; figures with minilm are compared where it is.
"""

import random
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from statistics import mean

import pytest
from copying_palaces import ask, copy_sample, measure_recall
from evaluation_data import GARDEN
from remembering import remember_questions

from benchmarks.golden import Pair, copy_vault, read_pairs
from memory_palace.embedding.registry import is_available
from memory_palace.palace import Palace

HERE = Path(__file__).parent
TALKS = "palace/project_rooms/talks"
AS_OF = 1_794_700_000.0
"""Middle of November 2026: every question is asked then."""
DEPTH = 10
PAIRS = read_pairs(HERE / "sample_palace.md") + read_pairs(HERE / "talks.md")


@pytest.fixture(scope="session", params=["hashing", "minilm"])
def sample(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Palace:
    """The sample palace with the talks beside it."""
    if not is_available(request.param):
        pytest.skip(f"needs {request.param}; palace models fetch {request.param}")
    root = tmp_path_factory.mktemp("sample")
    palace = copy_sample(root, embedder=request.param)
    shutil.copytree(HERE / "talks", root / TALKS)
    palace.index()
    remember_questions(palace)  # four profiles ask the same
    return palace


def rank(palace: Palace, profile: str) -> list[list[str]]:
    """Return the paths of the first hits for every question."""
    return [
        [hit.path for hit in palace.query(
            pair.question, limit=DEPTH, profile=profile, neighbors=0, as_of=AS_OF).hits]
        for pair in PAIRS
    ]  # fmt: skip


def place(pair: Pair, paths: Sequence[str]) -> int:
    return paths.index(pair.path) + 1 if pair.path in paths else 0


def summary(embedder: str, profile: str, ranked: Sequence[Sequence[str]]) -> str:
    places = [place(pair, paths) for pair, paths in zip(PAIRS, ranked, strict=True)]
    first, five = places.count(1), sum(0 < n <= 5 for n in places)
    reciprocal = sum(1 / n for n in places if n) / len(places)
    return f"| {embedder} | {profile} | {first} | {five} | {reciprocal:.3f} |"


def orders(ranked: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line per question: where its note is, what comes first, and a digest of the ten."""
    for pair, paths in zip(PAIRS, ranked, strict=True):
        digest = sha256("\n".join(paths).encode()).hexdigest()[:8]
        first = Path(paths[0]).stem
        yield f"| {pair.question} | {place(pair, paths) or '–'} | {first} | {digest} |"


def expected(start: str) -> list[str]:
    lines = (HERE / "figures.md").read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith(start)]


def differing(found: Sequence[str], wanted: Sequence[str]) -> str:
    changed = "\n".join(line for line in found if line not in wanted)
    return f"these lines of tests/golden/figures.md are now:\n{changed}" if changed else ""


def test_each_profile_answers_as_many_questions_as_it_did(sample: Palace) -> None:
    name = sample.snapshot().commit.embedder
    found = [summary(name, p, rank(sample, p)) for p in ("hybrid", "raw", "bm25", "compound")]
    assert found == expected(f"| {name} |"), differing(found, expected(f"| {name} |"))


def test_hybrid_ranks_in_the_order_it_did(sample: Palace) -> None:
    if sample.snapshot().commit.embedder != "hashing":
        pytest.skip("orders are compared with the embedder that is the same everywhere")
    found = list(orders(rank(sample, "hybrid")))
    wanted = [line for pair in PAIRS for line in expected(f"| {pair.question} |")]
    assert found == wanted, differing(found, wanted)


# --- Metadata cannot spoil them ------------------------------------------------------------------


@pytest.fixture(scope="session")
def opened(tmp_path_factory):
    """Index each set once, whatever the order of the tests."""
    if not is_available("minilm"):
        pytest.skip("needs minilm; palace models fetch minilm")
    built: dict[str, Palace] = {}

    def open_set(name):
        if name not in built:
            root = tmp_path_factory.mktemp(name)
            if name == "garden":
                copy_vault(GARDEN, root)
                Palace(root).index(embedder="minilm")
            else:
                copy_sample(root, embedder="minilm")
            built[name] = Palace(root)
            remember_questions(built[name])  # metadata is shuffled twenty times
        return built[name]

    return open_set


@pytest.fixture(params=["sample_palace", pytest.param("garden", marks=pytest.mark.long)])
def asked(request, opened):
    name = request.param
    if name == "garden" and not GARDEN.is_dir():
        pytest.skip("the garden vault is not here")
    prefix = "palace/project_rooms/vault/" if name == "garden" else ""
    return opened(name), read_pairs(HERE / f"{name}.md"), prefix


@contextmanager
def shuffled(palace, seed):
    """Deal the dates and priorities of the opened snapshot to other notes, at random."""
    snapshot = palace.snapshot()
    order = list(range(len(snapshot.paths)))
    random.Random(seed).shuffle(order)
    kept = {name: getattr(snapshot, name) for name in ("dates", "told_dates", "priorities")}
    snapshot.__dict__.update({name: values[order] for name, values in kept.items()})
    try:
        yield
    finally:
        snapshot.__dict__.update(kept)


def test_at_most_half_of_the_questions_share_a_rare_word():
    pairs = [p for name in ("sample_palace", "garden") for p in read_pairs(HERE / f"{name}.md")]
    assert len(pairs) == 30
    assert sum(pair.shares_rare_word for pair in pairs) <= 15


def test_compound_is_no_worse_than_raw_even_when_metadata_is_shuffled(asked):
    palace, pairs, prefix = asked
    raw = measure_recall(pairs, ask(palace, profile="raw"), prefix=prefix)
    compound = measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix)
    draws = []
    for seed in range(20):
        with shuffled(palace, seed):
            draws.append(measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix))
    for recalls in ([compound], draws):
        assert mean(recall.at_1 for recall in recalls) >= raw.at_1 - 0.02
        assert mean(recall.at_5 for recall in recalls) >= raw.at_5 - 0.02


def test_the_literal_formula_is_why_there_is_a_gate(asked):
    palace, pairs, prefix = asked
    literal = measure_recall(pairs, ask(palace, profile="compound", gate=False), prefix=prefix)
    gated = measure_recall(pairs, ask(palace, profile="compound"), prefix=prefix)
    assert literal.at_5 < gated.at_5


@pytest.mark.long
def test_nine_questions_in_ten_are_answered_and_hybrid_answers_more_than_its_parts_alone(opened):
    if not GARDEN.is_dir():
        pytest.skip("the garden vault is not here")
    found = dict.fromkeys(("hybrid", "compound", "raw", "bm25"), 0.0)
    questions = 0
    for name, prefix in (("sample_palace", ""), ("garden", "palace/project_rooms/vault/")):
        pairs = read_pairs(HERE / f"{name}.md")
        questions += len(pairs)
        for profile in found:
            recall = measure_recall(pairs, ask(opened(name), profile=profile), prefix=prefix)
            found[profile] += recall.at_5 * len(pairs)
    assert round(found["compound"]) / questions >= 0.90
    assert round(found["hybrid"]) / questions >= 0.93
    assert found["hybrid"] >= max(found["raw"], found["bm25"])
