"""The same pages in several languages: a folder of notes for each, and questions in all of them.

Below ``notes`` stands a folder for each language. ``questions.jsonl`` has an object a line: its
``lang``, the ``question``, the ``note`` that answers (a path below ``notes``), and ``permalink``,
which is the same for one page in every language.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.datasets.items import Collection, EvalDocument, EvalQuestion
from benchmarks.datasets.reading import read_jsonl, take
from memory_palace.errors import UsageError


def load_pages(folder: Path, *, asked_in: str | None = None) -> Iterator[Collection]:
    """Yield the pages of each language with its own questions, named by the language.

    ``asked_in`` asks the questions of that language of the pages of every other one; those whose
    page is not named there are left out.
    """
    file = folder / "questions.jsonl"
    rows = [
        {key: str(take(row, key, f"{file}:{n}")) for key in ("lang", "question", "note")}
        | {"permalink": str(row.get("permalink") or row["note"]), "place": str(n)}
        for n, row in read_jsonl(file)
    ]
    languages = sorted({row["lang"] for row in rows})
    if asked_in is not None and asked_in not in languages:
        raise UsageError(f"{file} has no questions in {asked_in!r}, but {', '.join(languages)}")
    for language in languages:
        if language != asked_in:
            pages = {r["permalink"]: r["note"] for r in rows if r["lang"] == language}
            asked = [row for row in rows if row["lang"] == (asked_in or language)]
            yield _collect(folder, language, asked, pages)


def join_pages(parts: Iterable[Collection]) -> Collection:
    """Return pages of several languages as one collection; a question's kind is its language."""
    documents, questions = list[EvalDocument](), list[EvalQuestion]()
    for part in parts:
        place = f"{part.group}/{{}}".format
        documents += (replace(page, id=place(page.id)) for page in part.documents)
        questions += (
            replace(asked, gold=frozenset(map(place, asked.gold)), category=part.group)
            for asked in part.questions
        )
    return Collection("together", tuple(documents), tuple(questions))


def _collect(
    folder: Path, language: str, asked: list[dict[str, Any]], pages: Mapping[str, str]
) -> Collection:
    home = folder / "notes" / language
    documents = tuple(
        EvalDocument(path.relative_to(home).as_posix(), path.read_text("utf-8", errors="replace"))
        for path in sorted(home.rglob("*.md"))
    )
    known = {document.id for document in documents}
    questions = []
    for row in asked:
        note = pages.get(row["permalink"], "").removeprefix(f"{language}/")
        if note and note not in known:
            raise UsageError(f"{folder}/questions.jsonl: {home} has no note {note}")
        if note:
            name = f"{language}-{row['place']}"
            questions.append(EvalQuestion(name, row["question"], frozenset({note})))
    return Collection(language, documents, tuple(questions))
