"""``palace anchors``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.anchors.policy import source_of
from memory_palace.anchors.tier import Anchor, Tier
from memory_palace.cli.answers import anchors_record
from memory_palace.cli.index import NOTHING_CHANGED, what_is_kept
from memory_palace.cli.options import SHORT_WAIT_SECONDS, Budget, Json, Verbose, Wait, open_palace
from memory_palace.cli.printing import plural, print_answer, say, to_record
from memory_palace.cli.progress import progress_line
from memory_palace.models import Hit
from memory_palace.palace import Palace

app = Typer(no_args_is_help=True, help="Build and ask the anchors: terms, and where they lead.")


@app.command("build")
def build(
    ctx: Context,
    theta: Annotated[
        float | None,
        Option("--theta", min=0.0, max=1.0, help="Minimum cosine of anchor and passage."),
    ] = None,
    wait: Wait = 30.0,
    as_json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Discover the anchors again and list where each leads. Run `palace index` first.

    Example: palace anchors build --theta 0.8
    """
    palace = open_palace(ctx)
    with progress_line(verbose=verbose, stopped=NOTHING_CHANGED) as advance:
        built = palace.anchors.build(theta=theta, wait_seconds=wait, progress=advance)
    empty = f"{built.empty} anchors without any"
    lines = [
        f"anchors     {built.anchors}, {built.discovered} new, {built.pruned} pruned",
        f"passages    {built.passages}, {built.entries} entries, {empty}",
        f"thresholds  passage {built.theta:.4f}, question {built.sem_theta:.4f}",
    ]
    print_answer(to_record(built), lines, as_json=as_json)
    for place in built.quarantined:
        say(f"{place}: matches implausibly many anchors; no anchor leads to it")


@app.command("update")
def update(ctx: Context, wait: Wait = SHORT_WAIT_SECONDS) -> None:
    """Index what changed and update the anchors, as every `palace index` does.

    Example: palace anchors update
    """
    palace = open_palace(ctx)
    with progress_line(stopped=what_is_kept) as advance:
        report = palace.index(takes_up=False, wait_seconds=wait, progress=advance)
    for problem in report.problems:
        say(str(problem))
    changed = len(report.added) + len(report.changed) + len(report.moved) + len(report.removed)
    print(f"{plural(changed, 'note')} changed; {plural(report.embedded, 'chunk')} embedded")


@app.command("lookup")
def look_up(
    ctx: Context,
    text: Annotated[list[str], Argument(help="What is being talked about.")],
    limit: Annotated[
        int | None, Option("-k", "--top-k", min=1, help="Maximum number of passages.")
    ] = None,
    project: Annotated[
        list[str] | None, Option("--project", help="Folder that pronouns refer to; repeatable.")
    ] = None,
    budget: Budget = None,
    as_json: Json = False,
) -> None:
    """Print the passages that the anchors in TEXT lead to, and how they were found.

    Example: palace anchors lookup can we talk about the radio link
    """
    palace = open_palace(ctx)
    result = palace.look_up(
        " ".join(text), limit=limit, projects=project or None, budget_bytes=budget
    )
    passages = [_passage(hit, palace) for hit in result]
    lines = (
        line
        for passage in passages
        for line in (
            "{path}:{line}  {score:.6f}  "
            "(anchor {anchor:.6f}, query {query:.6f}, source {source})".format(**passage),
            f"  {passage['snippet']}",
        )
    )
    print_answer(anchors_record(result) | {"passages": passages}, lines, as_json=as_json)
    if as_json:
        return
    found = result.anchors
    if found is None or not found.fired:
        say("no anchor matches; use `palace query` instead")
        return
    names = (f"{anchor.display} ({anchor.how} {anchor.strength:.2f})" for anchor in found.fired)
    say(f"answered by {found.answered_by}: {', '.join(names)}")


@app.command("report")
def report(ctx: Context, as_json: Json = False) -> None:
    """Show the settings, the state of the vocabulary, and anchors worth keeping for good.

    To keep an anchor for good, add a line `- term` to grand_hall/anchors.md.

    Example: palace anchors report
    """
    palace = open_palace(ctx)
    tiers = palace.anchors.tiers()
    settings = to_record(palace.config.anchors)
    if tiers:
        settings["theta"], settings["sem_theta"] = tiers[0].theta, tiers[0].sem_theta
    anchors = [anchor for tier in tiers for anchor in tier.anchors]
    states = Counter("curated" if a.is_curated else a.state for a in anchors)
    record = {
        "settings": settings,
        "states": dict(sorted(states.items())),
        "pruned": [a.display for a in tiers[0].pruned] if tiers else [],
        "quarantined": [place for tier in tiers for place in tier.quarantined],
        "promote": [anchor.display for anchor in _promotable(anchors)],
    }
    lines = [f"{name:<14} {value}" for name, value in settings.items()]
    print_answer(record, [*lines, *_state_lines(tiers, anchors, states)], as_json=as_json)
    if not tiers and not as_json:
        say("there are no anchors; run `palace anchors build`")


def _state_lines(
    tiers: tuple[Tier, ...], anchors: list[Anchor], states: Counter[str]
) -> Iterator[str]:
    if not tiers:
        return
    yield f"{'anchors':<14} " + ", ".join(f"{n} {state}" for state, n in sorted(states.items()))
    yield f"{'pruned':<14} {len(tiers[0].pruned)}"
    yield from (f"{'quarantined':<14} {place}" for tier in tiers for place in tier.quarantined)
    for anchor in _promotable(anchors):
        yield f"{'promote':<14} {anchor.display}  ({anchor.salience:.3f})"


def _promotable(anchors: list[Anchor]) -> list[Anchor]:
    """Return the ten most salient anchors that nobody has listed and that do not fade."""
    steady = [a for a in anchors if a.state == "active" and not a.is_curated]
    return sorted(steady, key=lambda anchor: (-anchor.salience, anchor.key))[:10]


@app.command("export")
def export(
    ctx: Context, folder: Annotated[Path, Argument(help="Folder to write the three files to.")]
) -> None:
    """Write hippocampus-index.json, hippocampus-embeds.npz and hippocampus-meta.json.

    Example: palace anchors export /tmp/anchors
    """
    for path in open_palace(ctx).anchors.export(folder):
        print(path)


def _passage(hit: Hit, palace: Palace) -> dict[str, Any]:
    anchor, query = (part.value for part in hit.contributions)
    return {
        "path": hit.path,
        "line": hit.chunk.first_line if hit.chunk else 1,
        "last_line": hit.chunk.last_line if hit.chunk else 1,
        "headings": list(hit.chunk.heading_path) if hit.chunk else [],
        "source": source_of(hit.path, palace.config.sources, palace.paths.rooms),
        "score": hit.score,
        "anchor": anchor,
        "query": query,
        "snippet": hit.snippet,
    }
