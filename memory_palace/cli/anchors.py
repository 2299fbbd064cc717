"""``palace anchors``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memory_palace.anchors.policy import source_of
from memory_palace.anchors.tier import Anchor, Tier
from memory_palace.cli.options import SCHEMA, Json, Wait, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.language.visible import visible
from memory_palace.models import Hit, QueryResult

app = typer.Typer(no_args_is_help=True, help="The address book: terms, and where they lead.")


@app.command("build")
def build(
    ctx: typer.Context,
    theta: Annotated[
        float | None, typer.Option("--theta", min=0.0, max=1.0, help="Least cosine, literally.")
    ] = None,
    wait: Wait = 30.0,
    as_json: Json = False,
) -> None:
    """Discover anchors anew and list where each leads; indexing should come first.

    Example: palace anchors build --theta 0.8
    """
    built = open_palace(ctx).anchors.build(theta=theta, wait_seconds=wait)
    if as_json:
        print_json({"schema": SCHEMA, **asdict(built)})
        return
    print(f"anchors     {built.anchors}, {built.discovered} new, {built.pruned} pruned")
    print(f"passages    {built.passages}, {built.entries} entries, {built.empty} anchors without")
    print(f"thresholds  passage {built.theta:.4f}, question {built.sem_theta:.4f}")
    for place in built.quarantined:
        say(f"{place}: matches implausibly many anchors; anchors do not lead to it")


@app.command("update")
def update(ctx: typer.Context, wait: Wait = 0.0) -> None:
    """Index what changed, and lead the anchors to it; every `palace index` does the same.

    Example: palace anchors update
    """
    report = open_palace(ctx).index(wait_seconds=wait)
    for problem in report.problems:
        say(str(problem))
    changed = len(report.added) + len(report.changed) + len(report.moved) + len(report.removed)
    print(f"{changed} notes changed; {report.embedded} chunks embedded")


@app.command("lookup")
def look_up(
    ctx: typer.Context,
    text: Annotated[list[str], typer.Argument(help="What is being talked about.")],
    limit: Annotated[
        int | None, typer.Option("-k", "--top-k", min=1, help="Passages at most.")
    ] = None,
    project: Annotated[
        list[str] | None,
        typer.Option("--project", help="Folder that pronouns stand for; may be repeated."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Bytes of previews at most.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the passages that the anchors of TEXT lead to, and say how they were found.

    Example: palace anchors lookup can we talk about the radio link
    """
    palace = open_palace(ctx)
    result = palace.look_up(
        " ".join(text),
        limit=limit,
        projects=project or None,
        budget_bytes=budget,
    )
    sources = palace.config.sources
    if as_json:
        print_json({"schema": SCHEMA, **_record(result, sources)})
        return
    for hit in result.hits:
        anchor, query = (part.value for part in hit.contributions)
        line = hit.chunk.first_line if hit.chunk else 1
        parts = f"anchor {anchor:.6f}, query {query:.6f}, source {source_of(hit.path, sources)}"
        print(visible(f"{hit.path}:{line}  {hit.score:.6f}  ({parts})"))
        print(visible(f"  {hit.snippet}"))
    found = result.anchors
    if found is None or not found.fired:
        say("no anchor fired; ask `palace query`")
        return
    names = (f"{anchor.display} ({anchor.how} {anchor.strength:.2f})" for anchor in found.fired)
    say(f"answered by {found.answered_by}: {', '.join(names)}")


@app.command("report")
def report(ctx: typer.Context, as_json: Json = False) -> None:
    """Show settings, the state of the vocabulary, and anchors worth keeping for good.

    A line `- term` in palace/grand_hall/anchors.md keeps an anchor; nothing is promoted by itself.

    Example: palace anchors report
    """
    palace = open_palace(ctx)
    tiers = palace.anchors.tiers()
    settings = asdict(palace.config.anchors)
    if tiers:
        settings["theta"], settings["sem_theta"] = tiers[0].theta, tiers[0].sem_theta
    anchors = [anchor for tier in tiers for anchor in tier.anchors]
    states = Counter("curated" if a.is_curated else a.state for a in anchors)
    if as_json:
        print_json(
            {
                "schema": SCHEMA,
                "settings": settings,
                "states": dict(sorted(states.items())),
                "pruned": [a.display for a in tiers[0].pruned] if tiers else [],
                "quarantined": [place for tier in tiers for place in tier.quarantined],
                "promote": [anchor.display for anchor in _promotable(anchors)],
            }
        )
        return
    for name, value in settings.items():
        print(f"{name:<14} {value}")
    _print_states(tiers, anchors, states)


def _print_states(tiers: tuple[Tier, ...], anchors: list[Anchor], states: Counter[str]) -> None:
    if not tiers:
        say("there are no anchors; run `palace anchors build`")
        return
    print(f"{'anchors':<14} " + ", ".join(f"{n} {state}" for state, n in sorted(states.items())))
    print(f"{'pruned':<14} {len(tiers[0].pruned)}")
    for place in (place for tier in tiers for place in tier.quarantined):
        print(visible(f"{'quarantined':<14} {place}"))
    for anchor in _promotable(anchors):
        print(visible(f"{'promote':<14} {anchor.display}  ({anchor.salience:.3f})"))


def _promotable(anchors: list[Anchor]) -> list[Anchor]:
    """Return the ten most salient anchors that nobody has listed and that do not fade."""
    steady = [a for a in anchors if a.state == "active" and not a.is_curated]
    return sorted(steady, key=lambda anchor: (-anchor.salience, anchor.key))[:10]


@app.command("export")
def export(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Folder to write the three files to.")],
) -> None:
    """Write hippocampus-index.json, hippocampus-embeds.npz and hippocampus-meta.json.

    Example: palace anchors export /tmp/anchors
    """
    for path in open_palace(ctx).anchors.export(folder):
        print(path)


def _record(result: QueryResult, sources: Mapping[str, str]) -> dict[str, object]:
    found = result.anchors
    return {
        "answered_by": found.answered_by if found else result.mode,
        "anchors": [
            {"anchor": anchor.display, "how": anchor.how, "strength": anchor.strength}
            for anchor in (found.fired if found else ())
        ],
        "passages": [_passage_record(hit, sources) for hit in result.hits],
    }


def _passage_record(hit: Hit, sources: Mapping[str, str]) -> dict[str, object]:
    anchor, query = (part.value for part in hit.contributions)
    chunk = hit.chunk
    return {
        "path": hit.path,
        "line": chunk.first_line if chunk else None,
        "last_line": chunk.last_line if chunk else None,
        "heading": list(chunk.heading_path) if chunk else [],
        "source": source_of(hit.path, sources),
        "score": hit.score,
        "anchor": anchor,
        "query": query,
        "preview": hit.snippet,
    }
