"""A picture of one search. matplotlib is imported when something is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.libraries import import_pyplot
from memory_palace.navigation.loci import Locus
from memory_palace.navigation.search_session import SearchSession

_DPI = 120
_STATES = ("searching", "likely_in_memory", "visible", "done", "unreachable")
_LONGEST = 40


def draw_search(
    session: SearchSession, log: Sequence[Mapping[str, object]], loci: Sequence[Locus], path: Path
) -> None:
    """Draw candidates by score and the state over time, for loci also the places and the path.

    Raise ``UsageError`` where ``path`` is neither PNG nor SVG, ``MissingPartError`` without
    matplotlib.
    """
    if path.suffix not in (".png", ".svg"):
        raise UsageError(f"{path} must end in .png or .svg")
    pyplot = import_pyplot()
    count = 3 if loci else 2
    figure, axes = pyplot.subplots(1, count, figsize=(5 * count, 4), squeeze=False)
    panels = list(axes[0])
    if loci:
        _draw_places(panels.pop(0), session, log, loci)
    _draw_candidates(panels[0], session, log)
    _draw_states(panels[1], log)
    simulated = " (looks simulated)" if session.simulated else ""
    figure.suptitle(_plain(session.belief["goal_text"]) + simulated)
    figure.tight_layout()
    figure.savefig(path, dpi=_DPI)
    pyplot.close(figure)


def _draw_places(
    axes: Any, session: SearchSession, log: Sequence[Mapping[str, object]], loci: Sequence[Locus]
) -> None:
    poses = {locus.node.node_id: locus.node.pose for locus in loci}
    closed = [node in session.closed for node in poses]
    colours = ["lightgrey" if is_closed else "tab:blue" for is_closed in closed]
    axes.scatter([p.x for p in poses.values()], [p.y for p in poses.values()], c=colours)
    for locus in loci:
        pose = locus.node.pose
        axes.annotate(_plain(locus.title), (pose.x, pose.y), fontsize=7)
    seen = [record.get("node_id") for record in log if record.get("event") == "observe"]
    path = [poses[node] for node in seen if isinstance(node, int) and node in poses]
    axes.plot([p.x for p in path], [p.y for p in path], color="tab:orange", marker=".")
    axes.set(xlabel="x, m", ylabel="y, m", title="places and path", aspect="equal")


def _draw_candidates(
    axes: Any, session: SearchSession, log: Sequence[Mapping[str, object]]
) -> None:
    found = session.belief["candidate_nodes"]
    names = [f"{c['node_id']} {Path(session.nodes[c['node_id']]).stem}" for c in found]
    axes.barh(range(len(found)), [candidate["score"] for candidate in found])
    axes.set_yticks(range(len(found)), [_plain(name) for name in names])
    axes.invert_yaxis()
    limits = [record["retrieval_threshold"] for record in log if "retrieval_threshold" in record]
    axes.axvline(limits[-1], color="grey", linestyle="--", label="threshold")
    axes.legend()
    axes.set(xlabel="score", xlim=(0, 1), title="candidates")


def _draw_states(axes: Any, log: Sequence[Mapping[str, object]]) -> None:
    states = [str(record["target_status"]) for record in log if "target_status" in record]
    axes.step(range(len(states)), [_STATES.index(state) for state in states], where="post")
    axes.set_yticks(range(len(_STATES)), _STATES)
    axes.set(xlabel="steps and observations", title="state")


def _plain(text: str) -> str:
    """Return text as it stands: ``$`` would start a formula."""
    return visible(text)[:_LONGEST].replace("$", r"\$")
