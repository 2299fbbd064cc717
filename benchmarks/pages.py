"""How well pages are found in each of several languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.report import summarise
from benchmarks.runs import Answer, Run

MEASURES = ("any@5", "MRR", "nDCG@10")


@dataclass(frozen=True, slots=True)
class PageFigures:
    """What a system found of the pages of one language."""

    language: str
    system: str
    embedder: str | None
    """``None`` where the system makes no vectors."""
    questions: int
    any_at_5: float
    mrr: float
    ndcg_at_10: float


@dataclass(frozen=True, slots=True)
class PageMeans:
    """The means over languages, each counting the same, and the worst of them."""

    system: str
    languages: int
    any_at_5: float
    mrr: float
    ndcg_at_10: float
    least: float
    """any@5 of the worst language."""
    least_in: str


def judge_pages(runs: Sequence[Run]) -> Mapping[str, Sequence[PageFigures]]:
    """Return the figures of each language, a row per run, worst language of the first run first."""
    found = {
        language: [_judge(run, language) for run in runs]
        for language in dict.fromkeys(map(_language_of, runs[0].answers))
    }
    return dict(sorted(found.items(), key=lambda pair: (pair[1][0].any_at_5, pair[1][0].mrr)))


def sum_up(found: Mapping[str, Sequence[PageFigures]], *, but: str) -> Iterator[PageMeans]:
    """Yield the means of each system over the languages other than ``but``."""
    others = [figures for language, figures in found.items() if language != but]
    for rows in zip(*others, strict=True):
        worst = min(rows, key=lambda row: row.any_at_5)
        yield PageMeans(
            worst.system,
            len(rows),
            fmean(row.any_at_5 for row in rows),
            fmean(row.mrr for row in rows),
            fmean(row.ndcg_at_10 for row in rows),
            worst.any_at_5,
            worst.language,
        )


def _judge(run: Run, language: str) -> PageFigures:
    answers = [answer for answer in run.answers if _language_of(answer) == language]
    means = summarise(answers)
    figures = (means["any@5"], means["mrr"], means["ndcg@10"])
    return PageFigures(language, run.system, run.embedder or None, len(answers), *figures)


def _language_of(answer: Answer) -> str:
    """Return the language of a question: its kind where one palace holds several."""
    return answer.category or answer.group
