"""Every figure that is promised, in one table: size of the code, cost of a question, quality.

A part that needs data, weights or an earlier commit says so where they are missing.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import memory_palace
from memory_palace.bench import scale
from memory_palace.bench.anchor_scale import measure_anchor_scale
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.first_minutes import (
    measure_names,
    measure_screen,
    measure_sureness,
    measure_turns,
)
from memory_palace.bench.generate import generated_palace, scratch_folder
from memory_palace.bench.golden import ask, copy_vault, measure_recall, read_pairs
from memory_palace.bench.reach import watch_command
from memory_palace.bench.report import core, summarise
from memory_palace.bench.runs import Progress, run_system
from memory_palace.bench.seeking import measure_retrieval
from memory_palace.bench.shown import Draw
from memory_palace.bench.timing import Measured, measure_commands, python
from memory_palace.bench.vectors import RememberingEmbedder, drawn_minilm, loading
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.palace import Palace

BASE = "1722493"
"""The commit that ``before`` is of."""
HOME = Path(memory_palace.__file__).parent
NOTES = 2_000
TEXT_BYTES = 4_400_000
"""The set whose index is measured: as many notes, of one abstract or two, and as much text."""
_MIB = 1 << 20

_BUILD = """
import shutil, sys
sys.path.insert(0, sys.argv[2])
shutil.rmtree(f"{sys.argv[1]}/palace/.index", ignore_errors=True)
from memory_palace.cli.app import main
main(["-C", sys.argv[1], "index", "-q", "--embedder", "none"])
"""


@dataclass(frozen=True, slots=True)
class Given:
    """What is at hand to measure with."""

    data: Path | None
    """A folder of question sets and vaults, laid out as references/performance.md says."""
    base: Path | None
    """A checkout of the commit ``BASE``."""
    cache: Path
    """Where vectors, indexes and runs are kept."""
    runs: int = 5
    progress: Progress = lambda what, done, total: None
    draw: Draw = lambda root, result: ""

    def find(self, name: str) -> Path:
        """Return a file or folder of the data; raise ``MissingPartError`` where it is not."""
        if self.data is None or not (self.data / name).exists():
            raise MissingPartError(f"needs --data with {name}")
        return self.data / name


def measure_promises(given: Given, parts: list[str]) -> Iterator[Measured]:
    """Yield the figures of the chosen parts, all light ones where none is chosen."""
    if unknown := set(parts) - PARTS.keys():
        raise UsageError(f"unknown part {min(unknown)!r}; choose from {', '.join(PARTS)}")
    for name in parts or [part for part in PARTS if part not in HEAVY]:
        try:
            yield from PARTS[name](given)
        except MissingPartError as error:
            yield Measured(name, None, note=f"skipped: {error}")


def _measure_code(given: Given) -> Iterator[Measured]:
    """Count lines of the product, and of its longest file and function."""
    texts = [path.read_text("utf-8") for path in sorted(HOME.rglob("*.py"))]
    lines = [text.count("\n") for text in texts]
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    skips = sum(text.count("# fmt" + ": skip") for text in texts)
    yield Measured("code, all", sum(lines), "lines", limit=34_000, before=37_574)
    yield Measured("code, longest file", max(lines), "lines", limit=300, before=302)
    yield Measured("code, longest function", max(functions), "lines", limit=45, before=72)
    yield Measured("code, laid out by hand", skips, "marks", limit=10, before=133)


def _measure_reach(given: Given) -> Iterator[Measured]:
    """Count what runs for a question, and for an index where one note has changed."""
    model = "minilm" if is_available("minilm") else "hashing"
    with _sample_palace() as root:
        palace = Palace(root)
        palace.index(embedder=model)
        ran, imported = watch_command(root, "query", scale.QUESTION)
        note = root / palace.snapshot().paths[0]
        note.write_text(note.read_text("utf-8") + "\nOne more line.\n", "utf-8")
        changed, _ = watch_command(root, "index", "-q")
    yield Measured("query, files of ours that run", ran, "files", limit=40, before=60)
    yield Measured("query, modules of ours imported", imported, "modules", limit=60, before=103)
    yield Measured("one note changed, files that run", changed, "files", limit=60, before=82)


def _measure_speed(given: Given) -> Iterator[Measured]:
    """Measure a cold query and a build without a change at 1,000 notes, and the start."""
    with generated_palace(1_000) as root:
        with loading(drawn_minilm()):
            Palace(root).index(embedder="minilm")
        query, peak = scale.measure_query(root, "1,000 notes", "minilm", given.runs, limit=1.35)
        yield replace(query, before=1.48)
        yield peak
        yield next(scale.measure_noop(root, "1,000 notes", given.runs))
    with generated_palace(1_000) as root:
        Palace(root).index(embedder="hashing")
        yield from scale.measure_edit(root, "1,000 notes")
    yield replace(scale.measure_start(given.runs), before=0.17)
    yield scale.measure_init(26_000, given.runs)


def _measure_size(given: Given) -> Iterator[Measured]:
    """Index 2,000 notes, 4.4 MB of text; vectors are drawn, since only their number counts."""
    documents = load_beir(given.find("beir/scifact")).documents
    with scratch_folder() as root, loading(drawn_minilm()):
        palace = Palace.init(root)
        rest = iter(documents)
        written = 0
        for number in range(NOTES):
            text = next(rest).text
            if written + len(text.encode()) < TEXT_BYTES * (number + 1) / NOTES:
                text += f"\n{next(rest).text}"
            written += len(text.encode())
            note = palace.paths.notes / "project_rooms" / f"note {number:04d}.md"
            note.write_text(text, "utf-8")
        palace.index(embedder="minilm")
        size = sum(palace.status().index_bytes.values()) / _MIB
    yield Measured("index of 2,000 notes", size, "MiB", limit=17, before=20.0)


def _measure_build(given: Given) -> Iterator[Measured]:
    """Build the garden's index without a model, and so with the checkout of ``BASE``."""
    if given.base is None:
        raise MissingPartError(f"needs --base, a checkout of {BASE}")
    with scratch_folder() as folder:
        roots = [folder / name for name in ("now", "base")]
        for root in roots:
            copy_vault(given.find(GARDEN), root)
        homes = (HOME.parent, given.base)
        ours, base = measure_commands(
            *(
                python(_BUILD, str(root), str(home))
                for home, root in zip(homes, roots, strict=True)
            ),
            runs=3,
            warmup=0,
        )
    what = "garden built without a model"
    yield Measured(what, ours.cpu_seconds, "CPU s", BASE, base.cpu_seconds, limit=0.6, before=1)


def _measure_golden(given: Given) -> Iterator[Measured]:
    """Ask the thirty golden questions of the sample palace and the garden."""
    first, within = 0.0, 0.0
    embedder = RememberingEmbedder(get_embedder("minilm"), given.cache)
    for name, prefix in (("sample_palace", ""), ("garden", "palace/project_rooms/vault/")):
        pairs = read_pairs(_checkout("tests/golden") / f"{name}.md")
        with _sample_palace() if not prefix else _garden(given) as root, loading(embedder):
            palace = Palace(root)
            palace.index(embedder="minilm")
            recall = measure_recall(pairs, ask(palace, profile="hybrid"), prefix=prefix)
        embedder.save()
        first += recall.at_1 * len(pairs)
        within += recall.at_5 * len(pairs)
    yield _at_least("golden questions answered first", round(first), "of 30", 21, 21)
    yield _at_least("golden questions answered in five", round(within), "of 30", 28, 28)


def _measure_names(given: Given) -> Iterator[Measured]:
    yield from measure_names([_checkout("palace"), given.find(GARDEN)], cache=given.cache)


def _measure_screen(given: Given) -> Iterator[Measured]:
    pairs = read_pairs(_checkout("tests/golden") / "sample_palace.md")
    with _sample_palace() as root:
        Palace(root).index(embedder="minilm" if is_available("minilm") else "hashing")
        yield from measure_screen(root, [pair.question for pair in pairs])


def _measure_locomo(given: Given) -> Iterator[Measured]:
    path, gold = given.find("locomo/locomo_dev.json"), given.find("locomo/gold_dev.jsonl")
    for unit, before in (("turn", 0.820), ("session", 0.951)):
        found = list(load_locomo(path, unit=unit, gold=gold))
        value = _score(given, f"locomo-{unit}", found, "any@5")
        yield _at_least(f"LoCoMo dev, {unit}", value, "any@5", before - 0.003, before)


def _measure_shown(given: Given) -> Iterator[Measured]:
    path, gold = given.find("locomo/locomo_dev.json"), given.find("locomo/gold_dev.jsonl")
    found = list(load_locomo(path, unit="turn", gold=gold))
    yield from measure_turns(found, given.cache, draw=given.draw, progress=given.progress)


def _measure_confidence(given: Given) -> Iterator[Measured]:
    data = given.find("multilingual-help").parent
    yield from measure_sureness(data, _checkout("palace").parent, given.cache)


def _measure_scifact(given: Given) -> Iterator[Measured]:
    value = _score(given, "beir-scifact", [load_beir(given.find("beir/scifact"))], "ndcg@10")
    yield _at_least("SciFact", value, "nDCG@10", 0.715, 0.718)


def _score(given: Given, name: str, found: list[Collection], measure: str) -> float:
    run = run_system(
        name,
        found,
        "hybrid",
        embedder=get_embedder("minilm"),
        cache=given.cache,
        progress=given.progress,
    )
    return round(summarise(core(run.answers))[measure], 3)


GARDEN = "vaults/jackyzha0-garden"
PARTS: Mapping[str, Callable[[Given], Iterator[Measured]]] = {
    "code": _measure_code,
    "reach": _measure_reach,
    "speed": _measure_speed,
    "size": _measure_size,
    "build": _measure_build,
    "golden": _measure_golden,
    "locomo": _measure_locomo,
    "scifact": _measure_scifact,
    "shown": _measure_shown,
    "confidence": _measure_confidence,
    "names": _measure_names,
    "screen": _measure_screen,
    "ranking": lambda given: scale.measure_ranking(),
    "anchors": lambda given: iter(measure_anchor_scale(17_000)),
    "seek": lambda given: iter([measure_retrieval(100_000)]),
}
"""By name; each yields its rows."""
HEAVY = frozenset(
    {"golden", "names", "shown", "confidence", "locomo", "scifact", "ranking", "anchors", "seek"}
)
"""Parts that take minutes of CPU, the first time at least."""
_HIDDEN = shutil.ignore_patterns(".*")


def _at_least(what: str, value: float, unit: str, limit: float, before: float) -> Measured:
    return Measured(what, value, unit, limit=limit, at_least=True, before=before)


def _checkout(name: str) -> Path:
    """Return a folder of the project's own checkout."""
    folder = HOME.parent / name
    if not folder.is_dir():
        raise MissingPartError(f"needs a checkout of the project, which has {name}")
    return folder


@contextmanager
def _sample_palace() -> Iterator[Path]:
    with scratch_folder() as root:
        shutil.copytree(_checkout("palace"), root / "palace", ignore=_HIDDEN)
        yield root


@contextmanager
def _garden(given: Given) -> Iterator[Path]:
    with scratch_folder() as root:
        copy_vault(given.find(GARDEN), root)
        yield root
