"""Promised costs: size of the code, what runs for a question, seconds, bytes, what e5 adds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from memory_palace.bench import scale
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.generate import generated_palace, scratch_folder
from memory_palace.bench.given import (
    BASE,
    GARDEN,
    HOME,
    Given,
    need_models,
    sample_palace,
)
from memory_palace.bench.golden import copy_vault
from memory_palace.bench.reach import watch_command
from memory_palace.bench.timing import Measured, measure_commands, python
from memory_palace.bench.vectors import drawn_minilm, loading
from memory_palace.embedding.registry import is_available
from memory_palace.errors import MissingPartError
from memory_palace.palace import Palace

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


def measure_code(given: Given) -> Iterator[Measured]:
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


def measure_reach(given: Given) -> Iterator[Measured]:
    """Count what runs for a question, and for an index where one note has changed."""
    model = "minilm" if is_available("minilm") else "hashing"
    with sample_palace() as root:
        palace = Palace(root)
        palace.index(embedder=model)
        ran, imported = watch_command(root, "query", scale.QUESTION)
        note = root / palace.snapshot().paths[0]
        note.write_text(note.read_text("utf-8") + "\nOne more line.\n", "utf-8")
        changed, _ = watch_command(root, "index", "-q")
    yield Measured("query, files of ours that run", ran, "files", limit=40, before=60)
    yield Measured("query, modules of ours imported", imported, "modules", limit=60, before=103)
    yield Measured("one note changed, files that run", changed, "files", limit=60, before=82)


def measure_speed(given: Given) -> Iterator[Measured]:
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


def measure_size(given: Given) -> Iterator[Measured]:
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


def measure_build(given: Given) -> Iterator[Measured]:
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


def measure_models(given: Given) -> Iterator[Measured]:
    """Index the sample palace with e5 and with minilm, and ask each a question, cold."""
    need_models("minilm", "e5")
    with sample_palace() as first, sample_palace() as second:
        roots = {"minilm": first, "e5": second}
        builds = [
            scale.command(root, "index", "-q", "--force", "--embedder", name)
            for name, root in roots.items()
        ]
        spent = measure_commands(*builds, runs=3, warmup=0)
        passages = [len(Palace(root).snapshot().row_note) for root in roots.values()]
        asked = measure_commands(
            *(scale.command(root, "query", scale.QUESTION) for root in roots.values()),
            runs=given.runs,
        )
    minilm, e5 = (1000 * s.cpu_seconds / n for s, n in zip(spent, passages, strict=True))
    what = f"index with e5, {passages[1]} passages"
    yield Measured(what, e5, "CPU ms a passage", "minilm", minilm, limit=2)
    minilm, e5 = (cost.cpu_seconds for cost in asked)
    yield Measured("cold query with e5", e5, "CPU s", "minilm", minilm, limit=1.6)
    yield Measured("cold query with e5, peak memory", asked[1].peak_mib, "MiB")
