"""``palace seek`` and ``palace seek locus``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from typer import Argument, Option

from memory_palace.changes.changing import Outcome
from memory_palace.cli.group import Apply, Group, Limit, Tags
from memory_palace.errors import UsageError
from memory_palace.features.seek.loci import LocusList
from memory_palace.features.seek.loop import StepRecord
from memory_palace.features.seek.nodes import NodePlace, Pose2D
from memory_palace.features.seek.search_session import SearchSession
from memory_palace.language.visible import visible_line
from memory_palace.notes.note import NoteText, write_line_range
from memory_palace.palace import Palace
from memory_palace.shown import ABSENT, SPREAD, Absent, Shown, print_json

seek = Group("Pursue a goal over several steps.")
locus = Group("Manage loci: notes that have a place.")
Name = Annotated[
    str | None, Argument(help="Name of a search, or its beginning; the last one by default.")
]


@seek.verb("start")
def start(
    palace: Palace,
    goal: Annotated[str, Argument(help="What to look for, in at most 500 characters.")],
    on_loci: Annotated[bool, Option("--loci", help="Search loci instead of all notes.")] = False,
    top_k: Limit = 5,
) -> SearchSession:
    """Start a search. It writes only files of its own, in .sessions.

    Example: palace seek start "red backpack" --loci
    """
    return palace.searches.start(goal, on_loci=on_loci, k=top_k)


@dataclass(frozen=True, slots=True)
class ShownNode:
    """A node, its place, and its score where it is a candidate."""

    node_id: int
    place: NodePlace = field(metadata=SPREAD)
    score: float | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class StepShown(Shown):
    """A step as it is logged, and where it leads."""

    record: StepRecord = field(metadata=SPREAD)
    next: ShownNode | None
    """Where the step leads."""
    candidates: tuple[ShownNode, ...]
    """The best first."""

    def lines(self) -> Iterable[str]:
        record, node = self.record, self.next
        where = f" {node.node_id} {node.place.where}" if node else ""
        told = f"{record['target_status']}; {record['next_action']}{where}"
        return [f"step {record['step']}: {told}"]

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        record, best = self.record, self.record["retrieval_best_score"]
        if best is not None and not as_json:
            verb = "reaches" if record["retrieval_threshold_pass"] else "is below"
            threshold = record["retrieval_threshold"]
            yield f"best score {best:.3f} {verb} the threshold {threshold:.3f}"
        if record["rejection_reason"] and not as_json:
            yield f"the proposal was refused: {record['rejection_reason']}"


@seek.verb("step")
def step(
    palace: Palace,
    name: Name = None,
    goal: Annotated[
        str | None, Option("--goal", help="Another goal; nodes that were ruled out count again.")
    ] = None,
) -> StepShown:
    """Take one step: retrieve, propose, verify, and say where to look next.

    Example: palace seek step
    """
    if goal is not None:
        name = palace.searches.change_goal(name, goal).id
    session, record = palace.searches.step(name)
    to, found = record["next_node_id"], record["retrieval_topk"]
    return StepShown(
        record,
        None if to is None else ShownNode(to, session.places[to]),
        tuple(ShownNode(c["node_id"], session.places[c["node_id"]], c["score"]) for c in found),
    )


@dataclass(frozen=True, slots=True)
class SessionRead(Shown):
    """A search, and the lines that were read of the note at a node."""

    session: SearchSession = field(metadata=SPREAD)
    reading: NoteText

    def lines(self) -> Iterable[str]:
        return [self.reading.text]

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        note = self.reading
        where = visible_line(write_line_range(note.path, note.first_line, note.last_line))
        what = f"{where} of {note.total_lines} lines"
        if (note.first_line, note.last_line) == (1, note.total_lines):
            what = visible_line(note.path)
        if not as_json:
            yield f"read {what}; end the search with --found WORDS, or take another step"


@seek.verb("observe")
def observe(
    palace: Palace,
    name: Name = None,
    node: Annotated[
        int | None, Option("--node", min=0, help="Node; where the last step leads by default.")
    ] = None,
    found: Annotated[
        str | None, Option("--found", help="Words that the target note contains.")
    ] = None,
    reject: Annotated[
        str | None, Option("--reject", help="Why this is not the target; may be empty.")
    ] = None,
    seen: Annotated[
        bool | None, Option("--seen/--not-seen", help="At a locus: whether the target is in view.")
    ] = None,
) -> SearchSession | SessionRead:
    """Report what is at a node. Without options, read the note there.

    Of a long note the lines that bear on the goal are read, and those around them. --found ends
    the search if the note contains these words. Two sightings at one locus make a target visible;
    --seen after an approach, in a later step, ends the search. Three looks that miss the target
    close a locus, --reject closes it at once.

    Example: palace seek observe --found "the pump was moved to the shed"
    """
    if sum(value is not None for value in (found, reject, seen)) > 1:
        raise UsageError("give only one of --found, --reject, --seen and --not-seen")
    searches = palace.searches
    if found is not None:
        return searches.confirm(name, node, found)
    if reject is not None:
        return searches.reject(name, node, " ".join(reject.split()))
    if seen is not None:
        near = 0.0 if seen else None  # counts after an approach alone, and who approached is there
        return searches.sight(name, node, is_hit=seen, distance_metres=near)
    return SessionRead(*searches.read(name, node))


@dataclass(frozen=True, slots=True)
class SessionsShown(Shown):
    """Searches, the last changed one last."""

    sessions: Sequence[SearchSession]

    def lines(self) -> Iterable[str]:
        for each in self.sessions[:-1]:
            yield next(iter(each.lines()))
        yield from self.sessions[-1].lines()


@seek.verb("status")
def status(
    palace: Palace,
    name: Annotated[
        str | None, Argument(help="Name of a search, or its beginning; all by default.")
    ] = None,
) -> SessionsShown:
    """List the searches, the last changed one in full, or show the state of one.

    Example: palace seek status
    """
    found = [palace.searches.show(name)] if name else palace.searches.list()
    if not found:
        raise UsageError("there is no search; start one with `palace seek start GOAL`")
    return SessionsShown(found)


@seek.verb("log")
def log(palace: Palace, name: Name = None) -> None:
    """Print the log of a search, one JSON object per line.

    Example: palace seek log red-backpack
    """
    for record in palace.searches.log(name):
        print_json(record)


@locus.verb("add")
def add(
    palace: Palace,
    title: Annotated[str, Argument(help="Title of the new note.")],
    at: Annotated[str, Option("--at", help="X,Y or X,Y,YAW in metres and radians.")],
    tag: Tags = None,
    summary: Annotated[str, Option("--summary", help="What is seen there.")] = "",
    apply: Apply = False,
) -> Outcome:
    """Create a note that has a place. An existing one gets its place in its front matter.

    Example: palace seek locus add Cellar --at 2.5,-1 --tag wine --summary "Rows of bottles" --apply
    """
    try:
        pose = Pose2D(*map(float, at.split(",")))
    except (ValueError, TypeError) as error:
        raise UsageError(f"{at!r} is not a place; write X,Y or X,Y,YAW: 2.5,-1") from error
    return palace.loci.add(
        title, pose=pose, tags=tag or (), summary=" ".join(summary.split()), apply=apply
    )


@locus.verb("list")
def list_loci(palace: Palace) -> LocusList:
    """List the loci by id.

    Example: palace seek locus list
    """
    return palace.loci.read()
