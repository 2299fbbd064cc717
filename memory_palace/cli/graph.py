"""``palace graph``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from memory_palace.cli.options import SCHEMA, IncludeCold, Json, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import CheckFailedError
from memory_palace.graph.router import Edge
from memory_palace.language.visible import visible

app = typer.Typer(no_args_is_help=True, help="Links between notes.")
Note = Annotated[str, typer.Argument(help="Path, stem, title or alias of a note.")]


@app.command("neighbors")
def show_neighbors(
    ctx: typer.Context, note: Note, include_cold: IncludeCold = False, as_json: Json = False
) -> None:
    """Print what a note links to and what links to it.

    Example: palace graph neighbors control_panel
    """
    graph = open_palace(ctx).graph(include_cold=include_cold)
    path = graph.find_note(note)
    near = graph.neighbors(path)
    if as_json:
        print_json({"schema": SCHEMA, "path": path, "out": near.out, "back": near.back})
        return
    for target in near.out:
        print(visible(f"-> {target}"))
    for source in near.back:
        print(visible(f"<- {source}"))


@app.command("route")
def show_route(ctx: typer.Context, start: Note, goal: Note, as_json: Json = False) -> None:
    """Print the shortest way between two notes, along links in either direction.

    Example: palace graph route constitution "battery failures"
    """
    graph = open_palace(ctx).graph()
    route = graph.route(graph.find_note(start), graph.find_note(goal))
    if as_json:
        print_json({"schema": SCHEMA, "route": route})
    else:
        for path in route:
            print(visible(path))
    if not route:
        say("no links lead from one to the other")


@app.command("orphans")
def show_orphans(ctx: typer.Context, as_json: Json = False) -> None:
    """List notes without any link in or out.

    Example: palace graph orphans
    """
    orphans = open_palace(ctx).graph().orphans()
    if as_json:
        print_json({"schema": SCHEMA, "orphans": orphans})
        return
    for path in orphans:
        print(visible(path))


@app.command("broken")
def show_broken(
    ctx: typer.Context,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 8 where a link is broken or ambiguous.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List links that lead nowhere, to several notes, or into the archive.

    Example: palace graph broken
    """
    graph = open_palace(ctx).graph()
    broken, ambiguous, archived = graph.broken(), graph.ambiguous(), graph.archived()
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "broken": _records(broken),
                "ambiguous": _records(ambiguous),
                "archived": _records(archived),
            }
        )
    else:
        for edge in (*broken, *ambiguous, *archived):
            rest = f" ({', '.join(edge.targets)})" if edge.targets else ""
            print(visible(f"{edge.state:<9}  {edge.source} -> [[{edge.text}]]{rest}"))
    if strict and (broken or ambiguous):
        raise CheckFailedError(f"{len(broken)} links are broken, {len(ambiguous)} ambiguous")


@app.command("export")
def export_graph(ctx: typer.Context) -> None:
    """Print all notes and links as one JSON object.

    Example: palace graph export
    """
    print_json({"schema": SCHEMA, **open_palace(ctx).graph().export()})


def _records(edges: Iterable[Edge]) -> list[dict[str, object]]:
    return [{"source": e.source, "link": e.text, "targets": list(e.targets)} for e in edges]
