"""What is shown of a comparison of models on somebody's own notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from memory_palace.cli.printing import plural

if TYPE_CHECKING:
    from memory_palace.bench.choosing import ModelChoice, ModelScore

_HEAD = ("", "first", "in five", "MRR", "95 %", "s a passage", "MB")


def choice_record(found: ModelChoice) -> dict[str, Any]:
    """Return what JSON has of a comparison."""
    kinds = Counter(question.kind for question in found.sample.questions)
    difference, low, high = found.difference
    return {
        "notes": len(found.sample.paths),
        "passages": len(found.sample.texts),
        "titles": kinds["title"],
        "links": kinds["link"],
        "models": [_score_record(score) for score in found.scores],
        "better": found.best if found.is_clear else None,
        "best": found.best,
        "next": found.other,
        "difference": round(difference, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def _score_record(score: ModelScore) -> dict[str, Any]:
    return {
        "name": score.name,
        "any_at_1": round(score.at_1, 4),
        "any_at_5": round(score.at_5, 4),
        "mrr": round(score.mrr, 4),
        "low": round(score.low, 4),
        "high": round(score.high, 4),
        "embedded": score.embedded,
        "seconds_a_passage": round(score.seconds, 4) if score.embedded else None,
        "megabytes": round(score.megabytes, 1),
    }


def describe_choice(found: ModelChoice) -> Iterator[str]:
    """Yield a comparison as people read it: what was asked, a row for each, and the verdict."""
    kinds = Counter(question.kind for question in found.sample.questions)
    yield (
        f"{plural(len(found.sample.paths), 'note')}, "
        f"{plural(len(found.sample.texts), 'passage')}; asked for by "
        f"{plural(kinds['title'], 'title')} and {plural(kinds['link'], 'link')}"
    )
    yield ""
    for row in (_HEAD, *map(_cells, found.scores)):
        yield f"{row[0]:<10}{row[1]:>7}{row[2]:>9}{row[3]:>7}  {row[4]:<11}{row[5]:>13}{row[6]:>7}"
    yield ""
    yield _verdict(found)


def _cells(score: ModelScore) -> tuple[str, ...]:
    seconds = f"{score.seconds:.3f}" if score.embedded else ""
    size = f"{score.megabytes:.1f}" if score.megabytes else ""
    shares = (f"{value:.2f}" for value in (score.at_1, score.at_5, score.mrr))
    return (score.name, *shares, f"{score.low:.2f}–{score.high:.2f}", seconds, size)


def _verdict(found: ModelChoice) -> str:
    difference, low, high = found.difference
    figures = f"MRR {difference:+.2f}, 95 % {low:+.2f} to {high:+.2f}"
    if found.is_clear:
        return f"{found.best} does better here than {found.other} ({figures})"
    return f"no difference here between {found.best} and {found.other} beyond chance ({figures})"
