"""``palace index``."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from typer import Context, Option

from memory_palace.cli.options import SHORT_WAIT_SECONDS, Json, Quiet, Verbose, Wait, open_palace
from memory_palace.cli.progress import progress_line
from memory_palace.embedding.registry import DEFAULT, NO_VECTORS, find_ready, get_embedder
from memory_palace.errors import MissingPartError, NotesFailedError, UsageError
from memory_palace.features.upkeep.init import say_next, say_outside
from memory_palace.features.upkeep.models import (
    advice_record,
    describe_advice,
    offer_model,
    write_share,
)
from memory_palace.index.advice import ModelAdvice, advise, choose_for, remember_advice
from memory_palace.index.context import EMBEDDING
from memory_palace.index.values import IndexReport
from memory_palace.notes.ignoring import SUFFIXES
from memory_palace.palace import Palace
from memory_palace.shown import Shown, plural, print_answer, say, to_record
from memory_palace.table import STORES, load

Verify = Annotated[
    bool,
    Option(
        "--verify", help="Hash every note and index file, mend what differs; push it all again."
    ),
]
DryRun = Annotated[bool, Option("--dry-run", help="Report what would change; write nothing.")]
Embedder = Annotated[str | None, Option("--embedder", help="Embedder for a first or forced build.")]
KeepStructure = Annotated[
    bool | None,
    Option(
        "--structure/--no-structure",
        help="Keep names, phrases and relations as well, for --profile structured.",
        show_default=False,
    ),
]
Preferred = Annotated[
    str | None,
    Option(
        "--prefer",
        help="Embedder to build with where it is ready; another is said, with the reason.",
        show_default=False,
    ),
]
CHANGES = ("added", "changed", "moved", "removed")
"""What may have happened to a note, as an index report calls it."""
NOTHING_CHANGED = "stopped; the anchors are as they were"
Nightly = Annotated[bool, Option("--nightly", help="Rebuild the anchors afterwards.")]
Watch = Annotated[
    bool, Option("--watch", help="Index notes as they change afterwards, until interrupted.")
]


def index_notes(
    ctx: Context,
    force: Annotated[bool, Option("--force", help="Embed every note again.")] = False,
    verify: Verify = False,
    dry_run: DryRun = False,
    embedder: Embedder = None,
    prefer: Preferred = None,
    structure: KeepStructure = None,
    nightly: Nightly = False,
    watch: Watch = False,
    store: StoreToPush = None,
    wait: Wait = SHORT_WAIT_SECONDS,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Bring the index up to date with the notes. Only what changed is embedded.

    Example: palace index --verify
    """
    if watch and (dry_run or store):
        raise UsageError("--watch contradicts --dry-run and --store; leave one out")
    palace, is_told = open_palace(ctx), False
    if prefer and not embedder:
        embedder, force = _prefer(palace, prefer, force=force, quiet=quiet)
    if not (quiet or dry_run or embedder):
        is_told = _announce_model(palace, as_json=as_json)
    pushes = store is not None and not dry_run
    opened = load(STORES["push"])(store, palace, trusts=not verify) if pushes else nullcontext()
    with opened as push:
        with progress_line(quiet=quiet, verbose=verbose, stopped=what_is_kept) as advance:
            report = palace.index(
                force=force,
                verify=verify,
                dry_run=dry_run,
                embedder=embedder,
                structure=structure,
                wait_seconds=wait,
                progress=advance,
            )
        pushed = push(force=force, verify=verify, wait=wait) if push else None
    _show(palace, report, pushed, as_json=as_json, quiet=quiet)
    if nightly and not dry_run:
        _build_anchors(palace, wait, quiet=quiet, verbose=verbose)
    _say_after(palace, report, is_told=is_told, as_json=as_json, quiet=quiet)
    if watch:
        _watch(palace, quiet=quiet)
    _raise_failed(report)


def _watch(palace: Palace, *, quiet: bool) -> None:
    """Index what changes until the process is interrupted or ended; queries go on meanwhile."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    def report(done: IndexReport) -> None:
        for problem in done.problems:
            say(str(problem))
        counts = {name: len(getattr(done, name)) for name in CHANGES}
        changes = [f"{count} {name}" for name, count in counts.items() if count]
        if changes and not quiet:
            print(f"{', '.join(changes)}; {done.embedded} chunks embedded", flush=True)

    palace.watch(report, stop=stop, warn=say)


def _show(
    palace: Palace, report: IndexReport, pushed: Shown | None, *, as_json: bool, quiet: bool
) -> None:
    for problem in report.problems:
        say(str(problem))
    if as_json or not quiet:
        record = _record(report) | advice_record(advise(palace.paths, palace.config))
        lines = [*_lines(report, palace), *(pushed.lines() if pushed else ())]
        record |= {"pushed": to_record(pushed)} if pushed else {}
        print_answer(record, lines, as_json=as_json)


def _raise_failed(report: IndexReport) -> None:
    if report.failed:
        count = plural(len(report.failed), "note")
        raise NotesFailedError(f"{count} not indexed in full (named above); the others were")


def _prefer(palace: Palace, wanted: str, *, force: bool, quiet: bool) -> tuple[str | None, bool]:
    """Return the embedder to ask for, and whether to embed all again: the index has another's.

    Say which one makes the vectors, and why; one that the settings name goes before ``wanted``.
    """
    has_index = palace.paths.commit.exists()
    committed = palace.snapshot().commit.embedder if has_index else None
    used, asked = palace.config.embedder or wanted, None
    why = "the settings say so"
    if not palace.config.embedder:
        try:
            get_embedder(wanted)
            asked, why = wanted, "it is ready here"
        except MissingPartError as error:
            ready = find_ready(choose_for(advise(palace.paths, palace.config).share))
            used, why = committed or ready or NO_VECTORS, str(error)
    if not quiet:
        say(f"{used} makes the vectors: {why}")
    return asked, force or (asked is not None and committed not in (None, asked))


def _say_after(
    palace: Palace, report: IndexReport, *, is_told: bool, as_json: bool, quiet: bool
) -> None:
    if quiet:
        return
    if not report.added and not report.unchanged:
        say_outside(palace.paths)
    if not report.is_dry_run:
        _advise(palace, is_told=is_told)
    if not (as_json or report.is_dry_run):
        say_next(palace.paths.root, 'query "what you want to know"')


def _build_anchors(palace: Palace, wait: float, *, quiet: bool, verbose: bool) -> None:
    with progress_line(quiet=quiet, verbose=verbose, stopped=NOTHING_CHANGED) as advance:
        built = palace.anchors.build(wait_seconds=max(wait, 30.0), progress=advance)
    if not quiet:
        say(f"{plural(built.anchors, 'anchor')} lead to {plural(built.entries, 'passage')}")


def _announce_model(palace: Palace, *, as_json: bool) -> bool:
    """Offer the model that is missing, or say that the one has come which was awaited.

    Before a first build, which may take long, say that another model would serve these notes
    better; return whether that was said.
    """
    awaited, is_first = palace.awaited_model(), not palace.paths.commit.exists()
    if awaited is None:
        return is_first and _announce_first(palace)
    if not awaited.is_ready:
        offer_model(awaited.name, asks=not as_json and is_first)
        return False
    passages = f"{awaited.passages:,} passage" + "s" * (awaited.passages != 1)
    say(
        f"{awaited.name} is here now: {passages} get vectors; "
        f"`--embedder {NO_VECTORS}` keeps to words"
    )
    return False


def what_is_kept(phase: str, done: int, total: int) -> str:
    """Say what a stopped build leaves for the next; vectors are kept, whatever it was doing."""
    if phase != EMBEDDING:
        return "stopped; the index is as it was; run `palace index` to go on"
    return f"stopped; {done:,} of {total:,} vectors are kept; run `palace index` to go on"


def _lines(report: IndexReport, palace: Palace) -> Iterator[str]:
    yield "would do:" if report.is_dry_run else "done:"
    for name in CHANGES:
        yield f"  {name:<10} {len(getattr(report, name))}"
    yield f"  {'unchanged':<10} {report.unchanged}"
    by_words = "none: words alone answer"
    embedded = f"{report.embedded} chunks with {report.embedder}"
    yield f"  {'embedded':<10} {by_words if report.embedder == NO_VECTORS else embedded}"
    yield f"  {'reused':<10} {report.reused} chunks"
    yield f"  {'failed':<10} {len(report.failed)}"
    yield f"  {'seconds':<10} {report.seconds:.2f}"
    if report.left_out:
        count = sum(_count_notes(palace.paths.root / path) for path in report.left_out)
        verb = "is" if count == 1 else "are"
        yield f"{plural(count, 'note')} {verb} left out: `palace status --details`"


def _count_notes(path: Path) -> int:
    """Count a note, or those in a folder."""
    names = chain.from_iterable(files for _, _, files in os.walk(path))
    return sum(
        name.lower().endswith(SUFFIXES) for name in (names if path.is_dir() else [path.name])
    )


def _record(report: IndexReport) -> dict[str, Any]:
    moved = [{"from": old, "to": new} for old, new in report.moved]
    record: dict[str, Any] = to_record(report)
    return record | {"moved": moved}


def _announce_first(palace: Palace) -> bool:
    advice = advise(palace.paths, palace.config)
    name = choose_for(advice.share)[0]
    if not (advice.embedder or palace.config.embedder) and name != DEFAULT:
        say(f"{write_share(advice.share)} of the notes are not English: {name} makes the vectors")
    return _say_advice(advice, palace)


def _say_advice(advice: ModelAdvice, palace: Palace) -> bool:
    """Say which embedder would serve the notes better, if one would; return whether it would."""
    if advice.embedder:
        say(describe_advice(advice, palace.config))
    return bool(advice.embedder)


def _advise(palace: Palace, *, is_told: bool) -> None:
    """Say which embedder would serve better, unless somebody was told before, and remember that."""
    advice = advise(palace.paths, palace.config)
    if advice.embedder and not advice.is_told:
        if not is_told:
            _say_advice(advice, palace)
        remember_advice(palace.paths, advice.embedder)


StoreToPush = Annotated[
    str | None,
    Option(
        "--store",
        metavar="NAME|ADDRESS",
        help="Push the index to this store as well, and take vectors that it has.",
        show_default=False,
    ),
]
