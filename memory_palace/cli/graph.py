"""``palace graph``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from typer import Context, Option, Typer

from memory_palace.cli.graph_trees import LinkLines, neighbor_tree, route_tree
from memory_palace.cli.options import IncludeCold, Json, Note, open_palace
from memory_palace.cli.printing import plural, print_answer, say
from memory_palace.cli.trees import draw_tree
from memory_palace.errors import CheckFailedError
from memory_palace.graph.router import Edge

app = Typer(no_args_is_help=True, help="Follow and check the links between notes.")


@app.command("neighbors")
def show_neighbors(
    ctx: Context, note: Note, include_cold: IncludeCold = False, as_json: Json = False
) -> None:
    """Draw what a note links to (->) and what links to it (<-), with the line of each link.

    Example: palace graph neighbors control_panel
    """
    palace = open_palace(ctx)
    graph = palace.graph(include_cold=include_cold)
    path = graph.find_note(note)
    near = graph.neighbors(path)
    record = {"path": path, "out": list(near.out), "back": list(near.back)}
    tree = None if as_json else neighbor_tree(path, near, LinkLines(palace, graph))
    print_answer(record, draw_tree(tree) if tree else (), as_json=as_json)


@app.command("route")
def show_route(ctx: Context, start: Note, goal: Note, as_json: Json = False) -> None:
    """Draw the shortest way between two notes, along links in either direction.

    An arrow says which of two notes links to the other; above it stands the line of the link.

    Example: palace graph route constitution "battery failures"
    """
    palace = open_palace(ctx)
    graph = palace.graph()
    route = graph.route(graph.find_note(start), graph.find_note(goal))
    tree = route_tree(route, LinkLines(palace, graph)) if route and not as_json else None
    print_answer({"route": route}, draw_tree(tree) if tree else (), as_json=as_json)
    if not route:
        say("no chain of links connects the two notes")


@app.command("orphans")
def show_orphans(ctx: Context, as_json: Json = False) -> None:
    """List notes without any link in or out.

    Example: palace graph orphans
    """
    orphans = open_palace(ctx).graph().orphans()
    print_answer({"orphans": orphans}, orphans, as_json=as_json)


@app.command("broken")
def show_broken(
    ctx: Context,
    strict: Annotated[
        bool, Option("--strict", help="Exit 8 if a link is broken or ambiguous.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List links that lead nowhere, to several notes, or into the archive.

    Example: palace graph broken
    """
    graph = open_palace(ctx).graph()
    broken, ambiguous, archived = graph.broken(), graph.ambiguous(), graph.archived()
    record = {
        "broken": _records(broken),
        "ambiguous": _records(ambiguous),
        "archived": _records(archived),
    }
    print_answer(record, map(_line, (*broken, *ambiguous, *archived)), as_json=as_json)
    if strict and (broken or ambiguous):
        count = plural(len(broken), "broken link")
        raise CheckFailedError(f"{count}, {len(ambiguous)} ambiguous")


@app.command("export")
def export_graph(ctx: Context) -> None:
    """Print all notes and links as one JSON object.

    Example: palace graph export
    """
    print_answer(open_palace(ctx).graph().export(), as_json=True)


def _line(edge: Edge) -> str:
    targets = f" ({', '.join(edge.targets)})" if edge.targets else ""
    return f"{edge.state:<9}  {edge.source} -> [[{edge.text}]]{targets}"


def _records(edges: Iterable[Edge]) -> list[dict[str, Any]]:
    return [{"path": e.source, "link": e.text, "targets": list(e.targets)} for e in edges]
