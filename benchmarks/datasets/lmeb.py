"""Memory tasks of a public leaderboard and their relatives, each a conversation or a BEIR folder.

Zhao et al. 2026, "LMEB: Long-horizon Memory Embedding Benchmark" (arXiv 2603.12572). A folder holds
``NAME.json``, conversations in LoCoMo's schema whose turns are ranked, or ``NAME/``, a BEIR folder.
There ``scene`` of a query names a line of ``candidates.jsonl``: the documents it may rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets.beir import load_beir
from benchmarks.datasets.items import Collection
from benchmarks.datasets.locomo import load_locomo
from benchmarks.datasets.reading import read_jsonl, take, take_list
from memory_palace.errors import UsageError


def find_tasks(folder: Path) -> dict[str, Path]:
    """Return the file or folder of each task by its name; conversations go before documents.

    Raise ``UsageError`` where there is none.
    """
    found = {path.parent.name: path.parent for path in sorted(folder.glob("*/corpus.jsonl"))}
    found |= {path.stem: path for path in sorted(folder.glob("*.json"))}
    if not found:
        raise UsageError(f"{folder} has no task: neither NAME.json nor NAME/corpus.jsonl")
    return dict(sorted(found.items()))


def load_task(path: Path) -> list[Collection]:
    """Return the collections of one task; the category of a question is its subset."""
    if path.suffix == ".json":
        return list(load_locomo(path, is_adversarial=True))
    whole = load_beir(path)
    file = path / "candidates.jsonl"
    return list(_split(whole, path, file)) if file.exists() else [whole]


def _split(whole: Collection, folder: Path, file: Path) -> Iterator[Collection]:
    """Yield a collection for each scene, with its own documents and questions."""
    queries = folder / "queries.jsonl"
    scenes = {
        str(take(record, "_id", f"{queries}:{number}")): str(
            take(record, "scene", f"{queries}:{number}")
        )
        for number, record in read_jsonl(queries)
    }
    documents = {document.id: document for document in whole.documents}
    for number, record in read_jsonl(file):
        at = f"{file}:{number}"
        scene = str(take(record, "scene_id", at))
        names = [str(name) for name in take_list(record, "candidate_doc_ids", at)]
        if missing := [name for name in names if name not in documents]:
            raise UsageError(f"{at}: {missing[0]!r} is not in {folder / 'corpus.jsonl'}")
        asked = tuple(q for q in whole.questions if scenes[q.id] == scene)
        if asked:
            yield Collection(scene, tuple(documents[name] for name in names), asked)
