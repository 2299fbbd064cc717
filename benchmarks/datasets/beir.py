"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``.

Thakur et al. 2021, "BEIR: A Heterogenous Benchmark for Zero-shot Evaluation of Information
Retrieval Models". A document is a note with its title as heading.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.datasets.reading import read_jsonl, read_lines, take
from memory_palace.errors import UsageError


def load_beir(folder: Path, *, split: str = "test") -> Collection:
    """Return the whole folder as one collection; only questions with labels are asked."""
    labels = read_qrels(folder / "qrels" / f"{split}.tsv")
    corpus = folder / "corpus.jsonl"
    documents = []
    for number, record in read_jsonl(corpus):
        identity = str(take(record, "_id", f"{corpus}:{number}"))
        title, text = record.get("title", ""), take(record, "text", f"{corpus}:{number}")
        documents.append(EvalDocument(identity, f"# {title}\n\n{text}\n" if title else f"{text}\n"))
    queries = folder / "queries.jsonl"
    questions = []
    for number, record in read_jsonl(queries):
        identity = str(take(record, "_id", f"{queries}:{number}"))
        gains = labels.get(identity, {})
        gold = frozenset(document for document, gain in gains.items() if gain > 0)
        if gold:
            text = str(take(record, "text", f"{queries}:{number}"))
            graded = tuple(sorted(gains.items()))
            kind = str(record.get("subset", ""))
            questions.append(EvalQuestion(identity, text, gold, kind, gains=graded))
    return Collection(folder.name, tuple(documents), tuple(questions))


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read lines of question id, document id and gain, separated by tabs; a header may come first.

    Raise ``UsageError`` with the line where one is something else.
    """
    labels: dict[str, dict[str, int]] = {}
    for number, line in read_lines(path):
        cells = line.split("\t")
        is_labelled = cells[-1].strip().lstrip("-").isdigit()
        if number == 1 and not is_labelled:
            continue
        if len(cells) not in (3, 4) or not is_labelled:
            raise UsageError(f"{path}:{number}: a line is question, document and gain, tab between")
        labels.setdefault(cells[0], {})[cells[-2]] = int(cells[-1])
    return labels
