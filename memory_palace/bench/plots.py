"""Pictures of what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from memory_palace.bench.metrics import CUTS, interval, share_interval
from memory_palace.bench.report import MeasuredDifference, core
from memory_palace.bench.runs import Answer, Run
from memory_palace.plotting.marks import (
    Point,
    Series,
    add_legend,
    draw_dots,
    draw_lines,
    height_of,
    name_ends,
    share_axis,
)
from memory_palace.plotting.picture import SMALL, Picture
from memory_palace.plotting.themes import Theme

if TYPE_CHECKING:
    from memory_palace.bench.confidence import Bin
    from memory_palace.bench.recall import RecallRow
    from memory_palace.bench.shown import ShownRow
    from memory_palace.bench.two_hops import HierarchyRow
    from memory_palace.bench.verify_set.measuring import VerificationRow

_ROW = 0.17
"""Inches of one dot among those of its group."""


def draw_runs(runs: Sequence[Run]) -> list[Picture]:
    """Draw recall_any@k of runs, recall_any@5 by category, and by the bytes that are shown."""
    name = runs[0].name
    found = {run.system: [a for a in core(run.answers) if a.scores] for run in runs}
    curves = [
        Series(label, [_mean(k, answers, f"any@{k}") for k in CUTS])
        for label, answers in found.items()
        if answers
    ]
    named = sorted({answer.category for answers in found.values() for answer in answers})
    dots = [
        Series(label, [*_by_category(answers, named)])
        for label, answers in found.items()
        if answers
    ]
    height = 1.2 + max(1.5, _ROW * len(named) * len(dots) + 0.1 * len(named))
    return [
        _draw_curves(f"{name}-recall", f"{name}: recall among the first k", curves),
        _draw_groups(
            f"{name}-categories",
            f"{name}: recall among the first five, by category",
            [category or "all" for category in named],
            dots,
            height,
            "recall_any@5, 95 % interval",
        ),
        *_draw_runs_by_bytes(name, found),
    ]


def draw_ablation(name: str, differences: Sequence[MeasuredDifference], *, measure: str) -> Picture:
    """Draw what each configuration gains over the first, with its interval."""
    first = differences[0].first
    points = [Point(d.mean, row, d.low, d.high) for row, d in enumerate(differences)]

    def draw(figure: Any, theme: Theme) -> None:
        axes = figure.subplots()
        axes.axvline(0, color=theme.dim, linewidth=0.8)
        draw_dots(axes, theme, [d.second for d in differences], [Series(measure, points)])
        axes.set(xlabel=f"{measure}, difference, 95 % interval")

    title = f"{name}: gained over {first}, of {differences[0].questions} questions"
    return Picture(f"{name}-{first}", title, height_of(len(differences)), draw)


def draw_hierarchy(rows: Sequence[HierarchyRow]) -> Picture:
    """Draw recall and bytes of two hops beside flat, by size of the set."""

    def series(label: str, value: Callable[[HierarchyRow], float]) -> Series:
        return Series(label, [Point(row.memories, value(row)) for row in rows])

    def recall(label: str, value: Callable[[HierarchyRow], float]) -> Series:
        shares = [(row, value(row)) for row in rows]
        points = [Point(r.memories, v, *share_interval(v, r.questions)) for r, v in shares]
        return Series(label, points)

    panels = [
        [recall("two hops", lambda row: row.recall), recall("flat", lambda row: row.flat_recall)],
        [
            series("two hops, index and memories", lambda row: row.total_bytes),
            series("listing and top-k", lambda row: row.flat_bytes),
            series("top-k alone", lambda row: row.top_k_bytes),
            series("whole corpus", lambda row: row.corpus_bytes),
        ],
    ]

    def draw(figure: Any, theme: Theme) -> None:
        above, below = figure.subplots(2, sharex=True)
        for axes, lines in zip((above, below), panels, strict=True):
            draw_lines(axes, theme, lines)
        share_axis(above, f"recall@{rows[0].k}, 95 % interval")
        above.set(xscale="log")
        below.set_yscale("log")
        below.yaxis.set_major_formatter("{x:,.0f}")
        below.set(xlabel="memories in the set", ylabel="bytes read, logarithmic")
        _tick_sizes(below, [row.memories for row in rows])
        for axes, lines in zip((above, below), panels, strict=True):
            name_ends(axes, theme, lines)

    return Picture("hierarchy", "Hierarchical index beside flat search", 5.6, draw)


def draw_verification(rows: Sequence[VerificationRow]) -> Picture:
    """Draw the share of right verdicts on claims, by check and kind of answer."""
    by_claims = [row for row in rows if row.judged_by == "claims"]
    kinds = list(dict.fromkeys(row.kind for row in by_claims))
    series = [
        Series(
            check,
            [
                Point(row.correct, kinds.index(row.kind), *share_interval(row.correct, row.cases))
                for row in by_claims
                if row.check == check and row.cases
            ],
        )
        for check in dict.fromkeys(row.check for row in by_claims)
    ]
    height = 1.4 + (_ROW * len(series) + 0.1) * len(kinds)
    name, title = f"verification-{rows[0].split}", f"Verification of answers, {rows[0].split}"
    return _draw_groups(
        name, title, kinds, series, height, "right verdicts on claims, 95 % interval"
    )


def draw_reliability(bins: Sequence[Bin]) -> Picture:
    """Draw how often answers of like confidence are right, and how many there are of each."""
    points = [Point(one.confidence, one.right, one.low, one.high) for one in bins]

    def draw(figure: Any, theme: Theme) -> None:
        above, below = figure.subplots(2, height_ratios=(4, 1), sharex=True)
        above.plot([0, 1], [0, 1], color=theme.dim, linewidth=0.8, linestyle=(0, (4, 3)))
        above.annotate(
            "as often\nas said",
            (1, 1),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
            annotation_clip=False,
        )
        draw_lines(above, theme, [Series("", points)])
        share_axis(above, "right answers, 95 % interval")
        colour, most = theme.colour(0), max((one.count for one in bins), default=1)
        below.bar([b.confidence for b in bins], [b.count for b in bins], 0.035, color=colour)
        for one in bins:
            below.annotate(
                f"{one.count:,}",
                (one.confidence, one.count),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
            )
        below.set(
            ylabel="answers", ylim=(0, most * 1.35), yticks=[], xlim=(0, 1), xlabel="confidence"
        )
        below.grid(visible=False)

    return Picture("reliability", "How often answers are right, by their confidence", 5.4, draw)


def draw_by_bytes(name: str, rows: Sequence[ShownRow]) -> Picture:
    """Draw how often a right passage is shown whole, by the bytes that each system shows.

    Of rows by group those over all questions are drawn.
    """
    series = [
        Series(r.system, [Point(r.bytes, r.held, r.low, r.high)]) for r in rows if r.group == "all"
    ]
    return _draw_by_bytes(f"{name}-bytes", f"{name}: what is shown, by its bytes", series)


def draw_recall(rows: Sequence[RecallRow]) -> list[Picture]:
    """Draw how often a gold sentence is said, by the bytes that each system says; one by set."""
    found: dict[tuple[str, str], list[Series]] = {}
    for row in rows:
        if row.held is not None:
            point = Point(row.bytes, row.held.value, row.held.low, row.held.high)
            found.setdefault((row.set, row.half), []).append(Series(row.system, [point]))
    return [
        _draw_by_bytes(f"recall-{name}-{half}", f"Recall, {name} {half}: by bytes said", series)
        for (name, half), series in found.items()
    ]


def _draw_by_bytes(name: str, title: str, series: Sequence[Series]) -> Picture:
    """Draw a row for each system, fewest bytes first: what it reaches, and its bytes beside it.

    As points over bytes, systems with like budgets would hide each other.
    """
    rows = sorted(series, key=lambda one: one.points[0])
    sizes = [one.points[0].x for one in rows]
    reached = [
        Point(one.points[0].y, row, one.points[0].low, one.points[0].high)
        for row, one in enumerate(rows)
    ]

    def draw(figure: Any, theme: Theme) -> None:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        draw_dots(left, theme, [one.label for one in rows], [Series("", reached)])
        share_axis(left, "gold stands there whole,\n95 % interval", along="x")
        right.barh(range(len(rows)), sizes, 0.5, color=theme.colour(0))
        for row, size in enumerate(sizes):
            label = f"{size:,.0f}"
            right.annotate(
                label, (size, row), (4, 0), textcoords="offset points", va="center", fontsize=SMALL
            )
        right.set(xlim=(0, max(*sizes, 1) * 1.3), xticks=[0], xlabel="bytes shown, mean")
        right.tick_params(axis="y", labelleft=False, length=0)
        right.grid(visible=False)

    return Picture(name, title, height_of(len(series), each=0.3), draw)


def _draw_runs_by_bytes(name: str, found: dict[str, list[Answer]]) -> Iterator[Picture]:
    """Yield a picture where the runs say what they show, none where they do not."""
    series = [
        Series(label, [_mean(sum(a.scores["bytes"] for a in own) / len(own), own, "shown")])
        for label, own in found.items()
        if own and all("bytes" in answer.scores for answer in own)
    ]
    if series:
        yield _draw_by_bytes(f"{name}-bytes", f"{name}: what is shown, by its bytes", series)


def _draw_curves(name: str, title: str, series: Sequence[Series]) -> Picture:
    def draw(figure: Any, theme: Theme) -> None:
        axes = figure.subplots()
        draw_lines(axes, theme, series)
        share_axis(axes, "recall_any@k, 95 % interval")
        axes.set(xlabel="k", xticks=CUTS)
        name_ends(axes, theme, series)

    return Picture(name, title, height_of(len(series), least=3.6), draw)


def _draw_groups(
    name: str, title: str, groups: Sequence[str], series: Sequence[Series], height: float, axis: str
) -> Picture:
    def draw(figure: Any, theme: Theme) -> None:
        axes = figure.subplots()
        draw_dots(axes, theme, groups, series)
        share_axis(axes, axis, along="x")
        if len(series) > 1:
            add_legend(figure, theme, [one.label for one in series], lines=False)

    return Picture(name, title, height, draw)


def _mean(at: float, answers: Sequence[Answer], measure: str) -> Point:
    values = [answer.scores[measure] for answer in answers]
    return Point(at, sum(values) / len(values), *interval(values))


def _by_category(answers: Sequence[Answer], named: Sequence[str]) -> Iterator[Point]:
    for row, category in enumerate(named):
        values = [a.scores["any@5"] for a in answers if a.category == category]
        if values:
            yield Point(sum(values) / len(values), row, *interval(values))


def _tick_sizes(axes: Any, sizes: Sequence[int]) -> None:
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.tick_params(axis="x", which="minor", length=0)
