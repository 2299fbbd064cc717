"""A picture of one search: where its places are, its candidates, and its state over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_palace.navigation.loci import Locus
from memory_palace.navigation.search_session import SearchSession
from memory_palace.plotting.marks import name_points, name_rows
from memory_palace.plotting.picture import NORMAL, SMALL, Picture
from memory_palace.plotting.themes import Theme

_STATES = ("searching", "likely_in_memory", "visible", "done", "unreachable")
_NAMED = 40
"""Places that are named on one picture, those that were looked at first."""


def draw_search(
    session: SearchSession, log: Sequence[Mapping[str, object]], loci: Sequence[Locus]
) -> Picture:
    """Draw candidates by score and the state over time, for loci also the places and the path."""
    candidates = session.belief["candidate_nodes"]
    heights = [4.2] * bool(loci) + [0.9 + 0.24 * max(2, len(candidates)), 1.9]

    def draw(figure: Any, theme: Theme) -> None:
        panels = figure.subplots(len(heights), height_ratios=heights, squeeze=False)[:, 0].tolist()
        if loci:
            _draw_places(panels[0], theme, session, log, loci)
        _draw_candidates(panels[-2], theme, session, log)
        _draw_states(panels[-1], theme, log)
        seen = {record.get("node_id") for record in log if record.get("event") == "observe"}
        first = sorted(loci, key=lambda one: one.node.node_id not in seen)[:_NAMED]
        spots = [(one.node.pose.x, one.node.pose.y, one.title) for one in first]
        if loci:  # last: where names have room depends on all else
            name_points(panels[0], theme, spots)

    simulated = " (looks simulated)" if session.simulated else ""
    title = f"{session.belief['goal_text']}{simulated}"
    return Picture(session.id, title, sum(heights) + 0.8, draw)


def _draw_places(
    axes: Any,
    theme: Theme,
    session: SearchSession,
    log: Sequence[Mapping[str, object]],
    loci: Sequence[Locus],
) -> None:
    poses = {locus.node.node_id: locus.node.pose for locus in loci}
    seen = [record.get("node_id") for record in log if record.get("event") == "observe"]
    path = [poses[node] for node in seen if isinstance(node, int) and node in poses]
    axes.plot([p.x for p in path], [p.y for p in path], color=theme.colour(1), zorder=2)
    for is_closed, marker, label in ((False, "o", "open"), (True, "X", "looked at, not there")):
        own = [pose for node, pose in poses.items() if (node in session.closed) is is_closed]
        colour = theme.dim if is_closed else theme.colour(0)
        xs, ys = [p.x for p in own], [p.y for p in own]
        axes.scatter(xs, ys, c=colour, marker=marker, label=label, zorder=3)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.set(xlabel="x, m", ylabel="y, m", title="places and path")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0.2)


def _draw_candidates(
    axes: Any, theme: Theme, session: SearchSession, log: Sequence[Mapping[str, object]]
) -> None:
    found = session.belief["candidate_nodes"]
    names = [f"{c['node_id']} {Path(session.nodes[c['node_id']]).stem}" for c in found]
    axes.barh(range(len(found)), [c["score"] for c in found], 0.6, color=theme.colour(0))
    name_rows(axes, names)
    limits = [record["retrieval_threshold"] for record in log if "retrieval_threshold" in record]
    axes.set(xlabel="score", xlim=(0, 1), title="candidates")
    if limits:
        axes.axvline(limits[-1], color=theme.ink, linestyle=(0, (4, 3)), linewidth=1)
        axes.annotate(
            "threshold",
            (limits[-1], 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize=SMALL,
        )
    if not found:
        axes.text(0.5, 0.4, "none yet", transform=axes.transAxes, ha="center", fontsize=NORMAL)


def _draw_states(axes: Any, theme: Theme, log: Sequence[Mapping[str, object]]) -> None:
    states = [str(record["target_status"]) for record in log if "target_status" in record]
    places = [_STATES.index(state) for state in states]
    axes.step(range(len(places)), places, where="post", color=theme.colour(0))
    axes.plot(range(len(places)), places, "o", color=theme.colour(0), clip_on=False)
    name_rows(axes, [state.replace("_", " ") for state in _STATES])
    axes.invert_yaxis()
    axes.grid(visible=True, axis="y")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set(xlabel="steps and observations", title="state")
