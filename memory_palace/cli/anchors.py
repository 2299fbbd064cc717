"""``palace anchors``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import sep
from os.path import relpath
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, Context, Option, Typer

from memory_palace.anchors.policy import source_of
from memory_palace.anchors.terms import TermKind
from memory_palace.anchors.tier import KINDS, Anchor, AnchorFiles
from memory_palace.anchors.why import AnchorsWhy
from memory_palace.cli.answers import anchors_record
from memory_palace.cli.index import NOTHING_CHANGED, what_is_kept
from memory_palace.cli.options import SHORT_WAIT_SECONDS, Budget, Json, Verbose, Wait, open_palace
from memory_palace.cli.printing import plural, print_answer, say, to_record
from memory_palace.cli.progress import progress_line
from memory_palace.errors import UsageError
from memory_palace.language.visible import visible
from memory_palace.models import Hit
from memory_palace.palace import Palace

app = Typer(no_args_is_help=True, help="Build and ask the anchors: terms, and where they lead.")

State = Literal["staged", "active", "fading", "pruned"]


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
        f"threshold   {built.theta:.4f}",
    ]
    print_answer(to_record(built), lines, as_json=as_json)


@app.command("update")
def update(
    ctx: Context,
    written: Annotated[
        list[Path] | None,
        Argument(metavar="[NOTE]...", help="What was written: an error if it is not indexed then."),
    ] = None,
    wait: Wait = SHORT_WAIT_SECONDS,
) -> None:
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
    root, known = palace.paths.root, set(palace.snapshot(include_cold=True).paths)
    for path in written or ():
        here = path if path.exists() else root / path
        if relpath(here.resolve(), root.resolve()).replace(sep, "/") not in known:
            raise UsageError(f"{path} is no note of {root}, or is left out; see `palace doctor`")


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
    """Rank passages for TEXT with its anchors in view, where it has any; else print nothing.

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
            "{path}:{line}  {score:.6f}  (anchor {anchor:.2f}, source {source})".format(**passage),
            f"  {passage['snippet']}",
        )
    )
    print_answer(anchors_record(result) | {"passages": passages}, lines, as_json=as_json)
    if as_json:
        return
    found = result.anchors
    if found is None or not found.fired:
        say("no anchor matches: `palace anchors why` says more, `palace query` asks all notes")
        return
    say(f"answered by {found.answered_by}: {', '.join(map(str, found.fired))}")


@app.command("list")
def list_anchors(
    ctx: Context,
    containing: Annotated[
        str | None, Argument(metavar="[WORDS]", help="Only anchors that contain this.")
    ] = None,
    kind: Annotated[TermKind | None, Option("--kind", help="Only of this kind.")] = None,
    state: Annotated[State | None, Option("--state", help="Only in this state.")] = None,
    as_json: Json = False,
) -> None:
    """List the anchors: what each is, its state, and how many notes it leads to.

    Curated ones are never dropped: add a line `- term` to grand_hall/anchors.md.

    Example: palace anchors list --kind entity
    """
    palace = open_palace(ctx)
    book = palace.anchors.book()
    found = [
        _anchor_record(anchor, [] if anchor.state == "pruned" else book.notes_of(place))
        for place, anchor in enumerate((*book.anchors, *AnchorFiles(book.tiers).pruned))
        if kind in (None, anchor.kind)
        and (anchor.state == state if state else anchor.state != "pruned")
        and (containing or "").casefold() in anchor.display.casefold()
    ]
    found.sort(key=lambda record: (KINDS.index(record["kind"]), record["anchor"].casefold()))
    width = min(max((len(record["anchor"]) for record in found), default=0), 40)
    lines = (visible(f"{r['anchor']:<{width}}  {_describe(r)}") for r in found)
    theta = book.tiers[0].theta if book.tiers else None
    print_answer({"threshold": theta, "anchors": found}, lines, as_json=as_json)
    if not book.tiers and not as_json:
        say("there are no anchors; run `palace anchors build`")


def _describe(record: Mapping[str, Any]) -> str:
    state = "" if record["state"] == "active" else f", {record['state']}"
    return f"{record['kind']}{state}, {plural(len(record['notes']), 'note')}"


def _anchor_record(anchor: Anchor, notes: list[str]) -> dict[str, Any]:
    return {
        "anchor": anchor.display,
        "kind": anchor.kind,
        "state": anchor.state,
        "other_names": list(anchor.aliases),
        "notes": notes,
    }


@app.command("why")
def why(
    ctx: Context,
    text: Annotated[list[str], Argument(help="What is being talked about.")],
    as_json: Json = False,
) -> None:
    """Say which anchors in TEXT fire, where they lead, what was left out, or why none fires.

    Example: palace anchors why can we talk about the radio link
    """
    palace = open_palace(ctx)
    found = palace.anchors.why(" ".join(text), whole=palace.snapshot(include_cold=True))
    print_answer(to_record(found), map(visible, _why_lines(found)), as_json=as_json)


def _why_lines(found: AnchorsWhy) -> Iterator[str]:
    for fired in found.fired:
        yield f"{fired.anchor} ({fired.kind}) leads to {plural(fired.count, 'passage')}"
        yield from (f"  {p.path}:{p.line}  {p.score:.2f}" for p in fired.passages)
    for left in found.left_out:
        yield f"left out: {left.path or left.anchor}: {left.reason}"
    if found.silent:
        yield f"nothing fires: {found.silent}"


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
    anchor = next((p.value for p in hit.contributions if p.signal == "anchor"), 0.0)
    return {
        "path": hit.path,
        "line": hit.chunk.first_line if hit.chunk else 1,
        "last_line": hit.chunk.last_line if hit.chunk else 1,
        "headings": list(hit.chunk.heading_path) if hit.chunk else [],
        "source": source_of(hit.path, palace.config.sources, palace.paths.rooms),
        "score": hit.score,
        "confidence": hit.confidence,
        "anchor": anchor,
        "snippet": hit.snippet,
    }
