"""Runs as one HTML page that needs no network: tables that sort, and pictures for both themes."""

from __future__ import annotations

import base64
import platform
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import TypeAlias

from memory_palace.bench.metrics import MEASURES, interval
from memory_palace.bench.plots import draw_runs
from memory_palace.bench.report import SHOWN, compare_runs, core, summarise
from memory_palace.bench.runs import Run
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.language.visible import visible_line
from memory_palace.plotting.picture import Picture
from memory_palace.plotting.themes import DARK, LIGHT
from memory_palace.view.page import write_policy

_COMPARED = ("any@5", "ndcg@10", "mrr")
_WORDS = ' class="words"'
_Cell: TypeAlias = str | int | float | tuple[str, float] | None
"""A name, a figure, or words that are sorted by a figure."""


def render_report(runs: Sequence[Run]) -> bytes:
    """Return the page as UTF-8; the first run is the one that the others are compared with."""
    style, script = _read("report.css"), _read("report.js")
    title = _text("Runs of " + ", ".join(dict.fromkeys(run.name for run in runs)))
    parts = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{write_policy(script, style)}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n",
        f"<h1>{title}</h1>\n",
        *_sections(runs),
        f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "".join(parts).encode()


def _sections(runs: Sequence[Run]) -> Iterator[str]:
    yield from _conditions(runs)
    measures = [
        *MEASURES,
        *(m for m in SHOWN if any(m in summarise(core(r.answers)) for r in runs)),
    ]
    yield _table(
        "Measures",
        "Means over the questions that have an answer and whole labels. The interval is of any@5, "
        "95 %, by bootstrap.",
        ["Run", "Questions", "any@5, 95 %", *measures],
        (_measured(run, measures) for run in runs),
    )
    if len(runs) > 1:
        yield _table(
            f"Compared with {_name(runs[0])}",
            "Question by question, on those that both were asked: the mean difference with its "
            "95 % paired interval, questions won and lost, and p of McNemar's or the sign test.",
            ["Run", "Measure", "Value", "Difference", "95 %", "Won", "Lost", "p", "Questions"],
            _compared(runs),
        )
    categories = list(_by_category(runs))
    if categories:
        yield _table(
            "By kind of question",
            "any@5 with its 95 % interval.",
            ["Run", "Kind", "Questions", "any@5", "95 %"],
            categories,
        )
    yield from _pictures(runs)
    yield _table(
        "Cost",
        "Of the machine that the runs were made on; compare only what was measured there.",
        ["Run", "Questions", "Ranking s", "CPU s", "Preparing CPU s", "Peak MiB"],
        (_cost(run) for run in runs),
    )


def _conditions(runs: Sequence[Run]) -> Iterator[str]:
    embedders = dict.fromkeys(run.embedder for run in runs if run.embedder)
    asked = sorted({len(run.answers) for run in runs})
    facts = {
        "Systems": ", ".join(dict.fromkeys(run.system for run in runs)),
        "Embedders": ", ".join(embedders) or "none: words alone",
        "Questions": " or ".join(f"{count:,}" for count in asked),
        "Page written with": f"memory-palace {version('memory-palace')}, "
        f"Python {platform.python_version()}, numpy {version('numpy')}",
    }
    rows = "".join(f"<dt>{name}</dt><dd>{_text(fact)}</dd>\n" for name, fact in facts.items())
    yield f"<dl>\n{rows}</dl>\n"


def _name(run: Run) -> str:
    return f"{run.system} ({run.embedder})" if run.embedder else run.system


def _measured(run: Run, measures: Sequence[str]) -> list[_Cell]:
    answers = core(run.answers)
    means = summarise(answers)
    scored = [answer.scores["any@5"] for answer in answers if answer.scores]
    between = _between(*interval(scored)) if scored else None
    return [_name(run), len(answers), between, *(means.get(measure) for measure in measures)]


def _compared(runs: Sequence[Run]) -> Iterator[list[_Cell]]:
    for run in runs[1:]:
        for measure in _COMPARED:
            try:
                d = compare_runs(runs[0], run, measure=measure)
            except UsageError as error:
                yield [_name(run), str(error), *([None] * 7)]
                break
            change = (_signed(d.mean), d.mean)
            between = f"{_signed(d.low)} to {_signed(d.high)}", d.low
            figures = (
                d.won,
                d.lost,
                (f"{d.p:.4f}" if d.p >= 0.0001 else "< 0.0001", d.p),
                d.questions,
            )
            yield [_name(run), measure, d.value, change, between, *figures]


def _by_category(runs: Sequence[Run]) -> Iterator[list[_Cell]]:
    for run in runs:
        answers = [answer for answer in core(run.answers) if answer.scores]
        categories = sorted({answer.category for answer in answers})
        if len(categories) < 2:
            continue
        for category in categories:
            values = [a.scores["any@5"] for a in answers if a.category == category]
            mean = sum(values) / len(values)
            yield [_name(run), category, len(values), mean, _between(*interval(values))]


def _cost(run: Run) -> list[_Cell]:
    cost = run.cost
    seconds = (cost.wall_seconds, cost.cpu_seconds, cost.prepare_cpu_seconds)
    peak = (f"{cost.peak_mib:,.0f}", cost.peak_mib)
    return [_name(run), cost.questions, *((f"{value:.1f}", value) for value in seconds), peak]


def _between(low: float, high: float) -> tuple[str, float]:
    return f"{low:.3f} to {high:.3f}", low


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "\u2212")


def _pictures(runs: Sequence[Run]) -> Iterator[str]:
    try:
        shown = [_figure(picture) for picture in draw_runs(runs)]
    except MissingPartError as error:
        yield f'<h2>Pictures</h2>\n<p class="dim">Left out: {_text(str(error))}</p>\n'
        return
    if shown:
        yield f'<h2>Pictures</h2>\n<div class="pictures">{"".join(shown)}</div>\n'


def _figure(picture: Picture) -> str:
    light, dark = (
        "data:image/svg+xml;base64," + base64.b64encode(picture.encode(theme)).decode()
        for theme in (LIGHT, DARK)
    )
    title = _text(picture.title)
    return (
        '<figure><picture><source media="screen and (prefers-color-scheme: dark)" '
        f'srcset="{dark}"><img src="{light}" alt="{title}"></picture>'
        "</figure>\n"
    )


def _table(title: str, says: str, columns: Sequence[str], rows: Iterable[Sequence[_Cell]]) -> str:
    name = _text(title)
    heads = "".join(
        f'<th scope="col"{_WORDS * (column in ("Measure", "Kind"))}>'
        f'<button type="button">{_text(column)}</button></th>'
        for column in columns
    )
    body = "".join(f"<tr>{_row(row)}</tr>\n" for row in rows)
    return (
        f'<h2>{name}</h2>\n<p class="dim">{_text(says)}</p>\n'
        f'<div class="wide" role="region" tabindex="0" aria-label="{name}"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n"
    )


def _row(cells: Sequence[_Cell]) -> str:
    first, *rest = cells
    return f'<th scope="row">{_text(str(first))}</th>' + "".join(map(_cell, rest))


def _cell(cell: _Cell) -> str:
    if cell is None:
        return "<td>–</td>"
    if isinstance(cell, str):
        return f'<td class="words">{_text(cell)}</td>'
    words, value = cell if isinstance(cell, tuple) else (_write(cell), cell)
    return f'<td data-value="{value:.6g}">{_text(words)}</td>'


def _write(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def _text(text: str) -> str:
    return escape(visible_line(text))


def _read(name: str) -> str:
    return (files("memory_palace.bench") / "page" / name).read_text("utf-8")
