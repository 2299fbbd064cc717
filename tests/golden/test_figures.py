"""The figures of the sample palace, guarded without any other data.

`figures.md` holds how well each profile answers the golden questions, and in which order `hybrid`
ranks. Any weight that moves by a factor of three moves a line of it. The hashing embedder needs no
model and gives the same vectors everywhere; figures with minilm are compared where it is.
"""

import shutil
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from remembering import remember_questions

from benchmarks.golden import Pair, read_pairs
from memory_palace.embedding.registry import is_available
from memory_palace.palace import Palace

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
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
    shutil.copytree(ROOT / "palace", root / "palace", ignore=shutil.ignore_patterns(".*"))
    shutil.copytree(HERE / "talks", root / TALKS)
    palace = Palace(root)
    palace.index(embedder=request.param)
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
