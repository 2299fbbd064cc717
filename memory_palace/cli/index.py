"""``palace index``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from memory_palace.cli.options import SCHEMA, Json, Quiet, Wait, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import NotesFailedError
from memory_palace.index.context import Progress
from memory_palace.models import IndexReport


def index_notes(
    ctx: typer.Context,
    force: Annotated[bool, typer.Option("--force", help="Embed every note again.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Hash every note and index file; mend what differs.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done.")] = False,
    embedder: Annotated[
        str | None, typer.Option("--embedder", help="Embedder of the first or a forced build.")
    ] = None,
    structure: Annotated[
        bool | None,
        typer.Option(
            "--structure/--no-structure",
            help="Keep names, phrases and relations, for --profile structured.",
            show_default=False,
        ),
    ] = None,
    enrich: Annotated[
        bool | None,
        typer.Option(
            "--enrich/--no-enrich",
            help="Keep a second vector per passage too, for --profile enriched.",
            show_default=False,
        ),
    ] = None,
    nightly: Annotated[
        bool, typer.Option("--nightly", help="Then build the anchors anew, too.")
    ] = False,
    wait: Wait = 0.0,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Bring the index up to date with the notes; only what changed is embedded.

    Example: palace index --verify
    """
    palace = open_palace(ctx)
    with _progress(quiet=quiet or as_json) as progress:
        report = palace.index(
            force=force,
            verify=verify,
            dry_run=dry_run,
            embedder=embedder,
            structure=structure,
            enrich=enrich,
            wait_seconds=wait,
            progress=progress,
        )
    for problem in report.problems:
        say(str(problem))
    if as_json:
        print_json(_record(report))
    elif not quiet:
        _print_report(report)
    if nightly and not dry_run:
        built = palace.anchors.build(wait_seconds=max(wait, 30.0))
        if not quiet:
            say(f"{built.anchors} anchors lead to {built.entries} passages")
    if report.failed:
        raise NotesFailedError(f"{len(report.failed)} failed, named above; the rest is indexed")


def _print_report(report: IndexReport) -> None:
    print("would do:" if report.is_dry_run else "done:")
    for name in ("added", "changed", "moved", "removed"):
        print(f"  {name:<10} {len(getattr(report, name))}")
    print(f"  {'unchanged':<10} {report.unchanged}")
    print(f"  {'embedded':<10} {report.embedded} chunks with {report.embedder}")
    print(f"  {'reused':<10} {report.reused} chunks")
    print(f"  {'failed':<10} {len(report.failed)}")
    print(f"  {'seconds':<10} {report.seconds:.2f}")


def _record(report: IndexReport) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "dry_run": report.is_dry_run,
        "added": report.added,
        "changed": report.changed,
        "moved": report.moved,
        "removed": report.removed,
        "unchanged": report.unchanged,
        "embedded": report.embedded,
        "reused": report.reused,
        "failed": report.failed,
        "problems": [
            {"path": p.path, "line": p.line, "kind": p.kind, "message": p.message,
             "failure": p.is_failure}
            for p in report.problems
        ],
        "seconds": round(report.seconds, 3),
        "bytes_written": report.bytes_written,
        "bytes_merged": report.bytes_merged,
        "embedder": report.embedder,
    }  # fmt: skip


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Progress]:
    """Show a bar with rate and time left, on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(),
               TextColumn("{task.fields[rate]}"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("chunks", total=None, rate="")

        def advance(done: int, total: int) -> None:
            speed = bar.tasks[0].speed
            rate = f"{speed:.0f}/s" if speed else ""
            bar.update(task, completed=done, total=total, rate=rate)

        yield advance
