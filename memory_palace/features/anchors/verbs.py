"""``palace graph anchors``."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.options import Json, open_palace
from memory_palace.cli.progress import keep_vectors, progress_line
from memory_palace.errors import UsageError
from memory_palace.features.anchors.anchor_file import KINDS
from memory_palace.features.anchors.policy import source_of
from memory_palace.features.asking.answers import fired_anchors
from memory_palace.language.visible import visible
from memory_palace.shown import plural, print_answer, say, to_record

app = Typer(no_args_is_help=True, help="Build and ask the anchors: terms, and where they lead.")


@app.command("build")
def build(ctx: Context, as_json: Json = False) -> None:
    """Discover the anchors again and list where each leads. Run `palace index` first.

    Example: palace graph anchors build
    """
    palace = open_palace(ctx)
    with progress_line(stopped="stopped; the anchors are as they were") as advance:
        built = palace.anchors.build(progress=advance)
    lines = [
        f"anchors     {built.anchors}",
        f"passages    {built.passages}, {built.entries} entries, {built.empty} anchors without any",
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
) -> None:
    """Index what changed and update the anchors, as every `palace index` does.

    Example: palace graph anchors update
    """
    palace = open_palace(ctx)
    with progress_line(stopped=keep_vectors) as advance:
        report = palace.index(takes_up=False, wait_seconds=10.0, progress=advance)
    for problem in report.problems:
        say(str(problem))
    changed = len(report.added) + len(report.changed) + len(report.moved) + len(report.removed)
    print(f"{plural(changed, 'note')} changed; {plural(report.embedded, 'chunk')} embedded")
    root = palace.paths.root.resolve()
    known = {root / path for path in palace.snapshot(include_cold=True).paths}
    for path in written or ():
        if (path if path.exists() else root / path).resolve() not in known:
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
    as_json: Json = False,
) -> None:
    """Rank passages for TEXT with its anchors in view, where it has any; else print nothing.

    Example: palace graph anchors lookup can we talk about the radio link
    """
    palace = open_palace(ctx)
    result = palace.look_up(" ".join(text), limit=limit, projects=project or None)
    passages = [
        {
            "path": hit.path,
            "line": hit.chunk.first_line if hit.chunk else 1,
            "last_line": hit.chunk.last_line if hit.chunk else 1,
            "headings": list(hit.chunk.heading_path) if hit.chunk else [],
            "source": source_of(hit.path, palace.config.sources, palace.paths.rooms),
            "score": hit.score,
            "confidence": hit.confidence,
            "anchor": sum(p.value for p in hit.contributions if p.signal == "anchor"),
            "snippet": hit.snippet,
        }
        for hit in result
    ]
    form = "{path}:{line}  {score:.6f}  (anchor {anchor:.2f}, source {source})\n  {snippet}"
    lines = (form.format(**passage) for passage in passages)
    by = result.anchors.answered_by if result.anchors else None
    found = {"answered_by": by, "anchors": to_record(fired_anchors(result))}
    print_answer(found | {"passages": passages}, lines, as_json=as_json)
    if as_json:
        return
    if result.anchors is None or not result.anchors.fired:
        say("no anchor matches; `palace graph anchors list` shows them")
    else:
        say(f"answered by {found['answered_by']}: {', '.join(map(str, result.anchors.fired))}")


@app.command("list")
def list_anchors(ctx: Context, as_json: Json = False) -> None:
    """List the anchors: what each is, and how many notes it leads to.

    Curated ones are never dropped: add a line `- term` to grand_hall/anchors.md.

    Example: palace graph anchors list
    """
    book = open_palace(ctx).anchors.book()
    found: list[dict[str, Any]] = [
        {"anchor": a.display, "kind": a.kind, "other_names": list(a.aliases), "notes": notes}
        for a, notes in zip(book.anchors, map(book.notes_of, count()), strict=False)
    ]
    found.sort(key=lambda record: (KINDS.index(record["kind"]), record["anchor"].casefold()))
    width = min(max((len(record["anchor"]) for record in found), default=0), 40)
    lines = (
        visible(f"{r['anchor']:<{width}}  {r['kind']}, {plural(len(r['notes']), 'note')}")
        for r in found
    )
    theta = book.file.theta if book.file else None
    print_answer({"threshold": theta, "anchors": found}, lines, as_json=as_json)
    if not book.file and not as_json:
        say("there are no anchors; run `palace graph anchors build`")


@app.command("export")
def export(
    ctx: Context, folder: Annotated[Path, Argument(help="Folder to write the three files to.")]
) -> None:
    """Write hippocampus-index.json, hippocampus-embeds.npz and hippocampus-meta.json.

    Example: palace graph anchors export /tmp/anchors
    """
    for path in open_palace(ctx).anchors.export(folder):
        print(path)
