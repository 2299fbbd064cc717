"""``palace index``, ``status``, ``doctor`` and ``init``, and ``palace`` without a verb."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated

from typer import Argument, Option, confirm

from memory_palace.changes.journal import Move
from memory_palace.cli.group import SHORT_WAIT_SECONDS, Group, Quiet, Wait, reach_store
from memory_palace.cli.progress import keep_vectors, progress_line
from memory_palace.config import PalacePaths, find_paths
from memory_palace.embedding.registry import DEFAULT, MINILM, NO_VECTORS, PINNED
from memory_palace.errors import NotesFailedError, UsageError
from memory_palace.features.upkeep.models import name_missing_model, write_share
from memory_palace.index.doctor import Examination, IndexStatus
from memory_palace.index.embedders import ModelAdvice, advise
from memory_palace.index.values import IndexReport
from memory_palace.language.visible import visible
from memory_palace.notes.discovery import advise_sync, count_outside, make_palace
from memory_palace.notes.sources import sources_path
from memory_palace.notes.usage import USAGE, logs_usage
from memory_palace.palace import Palace
from memory_palace.shown import ABSENT, SPREAD, Absent, Shown, inner, plural, say
from memory_palace.table import SOURCES, STATUS, load

verbs = Group()
_Step = tuple[str, str]
"""A command, and its purpose."""
_IN_FULL = "`palace status --details`"
_CHANGES = ("added", "changed", "moved", "removed")
"""Kinds of changes to notes, as named in an index report."""


@dataclass(frozen=True, slots=True)
class Indexed(Shown):
    """The result of an index build, with advice on a better model."""

    report: IndexReport = field(metadata=SPREAD)
    moved: tuple[Move, ...]
    advice: ModelAdvice = field(metadata=SPREAD)
    pushed: Shown | Absent
    """What came of the store that was named."""
    root: Path = inner()
    is_quiet: bool = inner()

    def lines(self) -> Iterator[str]:
        report = self.report
        if self.is_quiet:
            return
        yield "would do:" if report.is_dry_run else "done:"
        embedded = f"{report.embedded} chunks with {report.embedder}"
        counts = {name: len(getattr(report, name)) for name in _CHANGES} | {
            "unchanged": report.unchanged,
            "embedded": "none: words alone answer" if report.embedder == NO_VECTORS else embedded,
            "reused": f"{report.reused} chunks",
            "failed": len(report.failed),
            "seconds": f"{report.seconds:.2f}",
        }
        yield from (f"  {name:<10} {count}" for name, count in counts.items())
        if report.left_out:
            left = [self.root / path for path in report.left_out]
            count = sum(count_outside(path)[0] if path.is_dir() else 1 for path in left)
            verb = "is" if count == 1 else "are"
            yield f"{plural(count, 'note')} {verb} left out: {_IN_FULL}"
        if self.pushed is not ABSENT:
            yield from self.pushed.lines()


Verify = Annotated[
    bool,
    Option(
        "--verify", help="Hash every note and index file, mend what differs; push it all again."
    ),
]
KeepStructure = Annotated[
    bool | None,
    Option(
        "--structure/--no-structure",
        help="Keep names, phrases and relations as well, for --profile structured.",
        show_default=False,
    ),
]
StoreToPush = Annotated[
    str | None,
    Option(
        "--store",
        metavar="NAME|ADDRESS",
        help="Push the index to this store as well.",
        show_default=False,
    ),
]
Embedder = Annotated[str | None, Option("--embedder", help="Embedder for a first or forced build.")]
Watch = Annotated[
    bool, Option("--watch", help="Index notes as they change afterwards, until interrupted.")
]


@verbs.verb("index")
def index(
    palace: Palace,
    force: Annotated[bool, Option("--force", help="Embed every note again.")] = False,
    verify: Verify = False,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Report what would change; write nothing.")
    ] = False,
    embedder: Embedder = None,
    structure: KeepStructure = None,
    nightly: Annotated[bool, Option("--nightly", help="Rebuild the anchors afterwards.")] = False,
    watch: Watch = False,
    store: StoreToPush = None,
    wait: Wait = SHORT_WAIT_SECONDS,
    quiet: Quiet = False,
) -> Iterator[Indexed]:
    """Bring the index up to date with the notes. Only what changed is embedded.

    Example: palace index --verify
    """
    if watch and (dry_run or store):
        raise UsageError("--watch contradicts --dry-run and --store; leave one out")
    is_first = not palace.paths.commit.exists()
    if not (quiet or dry_run or embedder):
        _announce_model(palace)
    pushing: AbstractContextManager[Callable[..., Shown] | None] = nullcontext()
    if store and not dry_run:
        pushing = reach_store("push")(store, palace)
    with pushing as push:
        with progress_line(quiet=quiet, stopped=keep_vectors) as advance:
            report = palace.index(
                force=force,
                verify=verify,
                dry_run=dry_run,
                embedder=embedder,
                structure=structure,
                wait_seconds=wait,
                progress=advance,
            )
        pushed = push(replaces=force, renews=verify, wait=wait) if push else ABSENT
    for problem in report.problems:
        say(str(problem))
    moved = tuple(Move(old, new) for old, new in report.moved)
    advice = advise(palace.paths, palace.config)
    yield Indexed(report, moved, advice, pushed, palace.paths.root, quiet)
    if nightly and not dry_run:
        _build_anchors(palace, wait, quiet=quiet)
    if not quiet:
        _say_after(palace, report, advice if is_first else None)
    if watch:
        _watch(palace, quiet=quiet)
    if report.failed:
        count = plural(len(report.failed), "note")
        raise NotesFailedError(f"{count} not indexed in full (named above); the others were")


def _build_anchors(palace: Palace, wait: float, *, quiet: bool) -> None:
    stopped = "stopped; the anchors are as they were"
    with progress_line(quiet=quiet, stopped=stopped) as advance:
        built = palace.anchors.build(wait_seconds=max(wait, 30.0), progress=advance)
    if not quiet:
        say(f"{plural(built.anchors, 'anchor')} lead to {plural(built.entries, 'passage')}")


def _announce_model(palace: Palace) -> None:
    """Print which model is missing, or that the awaited one is installed."""
    awaited = palace.awaited_model()
    if awaited is not None and not awaited.is_ready:
        name_missing_model(awaited.name)
    elif awaited is not None:
        say(
            f"{awaited.name} is here now: {plural(awaited.passages, 'passage')} get vectors; "
            f"`--embedder {NO_VECTORS}` keeps to words"
        )


def _say_after(palace: Palace, report: IndexReport, advice: ModelAdvice | None) -> None:
    """Print how many notes lie outside, and after a first build which model would be better."""
    if not report.added and not report.unchanged:
        _say_outside(palace.paths)
    if advice and not report.is_dry_run and (better := advice.recommended_embedder):
        is_set = palace.config.embedder
        first = f"set `embedder: {better}` in the settings, then " if is_set else ""
        say(
            f"{write_share(advice.share)} of the notes are not English, which {DEFAULT} does not "
            f"know and {better} does: {first}`{advice.command}`"
        )


def _watch(palace: Palace, *, quiet: bool) -> None:
    """Update the index on every change, until SIGINT or SIGTERM; queries go on meanwhile."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    def report(done: IndexReport) -> None:
        for problem in done.problems:
            say(str(problem))
        counts = {name: len(getattr(done, name)) for name in _CHANGES}
        changes = [f"{count} {name}" for name, count in counts.items() if count]
        if changes and not quiet:
            print(f"{', '.join(changes)}; {done.embedded} chunks embedded", flush=True)

    palace.watch(report, stop=stop, warn=say)


@verbs.verb("init")
def init(
    place: Path | None,
    folder: Annotated[
        list[Path] | None, Argument(help="Folder to make a palace of; else the current one.")
    ] = None,
    here: Annotated[
        bool,
        Option("--here", help="Take the folder as it stands: notes stay, only .palace/ is made."),
    ] = False,
    agents: Annotated[
        bool, Option("--agents", help="Make the palace `agents` of what agents' tools wrote.")
    ] = False,
) -> None:
    """Make FOLDER a palace: palace/ with the seven rooms, or the folder as it stands.

    No note is touched, and running it again changes nothing. Where there are notes outside
    palace/, a terminal is asked which of the two is meant. --agents makes a palace, in your data
    folder, that only reads: memories and rules of Claude, Codex and others, and those of the
    projects FOLDER. Example: palace init --here ~/notes
    """
    if agents:
        for line in load(SOURCES["agents"])(folder or ()):
            print(visible(line))
        say(f"only read, as {sources_path()} has it; `palace index -C agents` indexes them")
        return
    if folder and len(folder) > 1:
        raise UsageError("name one folder; only --agents takes more, each a project")
    root = (folder[0] if folder else place or Path.cwd()).resolve()
    is_new = not here and find_paths(root) is None
    if is_new and sys.stdin.isatty() and (outside := _describe_outside(root)):
        question = f"{outside}.\nTake the folder as it stands? Its notes stay where they are"
        here = confirm(question, default=True)
    paths = make_palace(root, here=here)
    print(visible(str(paths.notes if paths.is_classic else paths.own)))
    _say_outside(paths)
    for remark in advise_sync(paths):
        say(remark)
    if not paths.commit.exists():
        _announce_model(Palace(paths.root))


def _say_outside(paths: PalacePaths) -> None:
    """Print how many notes lie outside a classic palace, and how to include them."""
    if paths.is_classic and (outside := _describe_outside(paths.root)):
        say(f"{outside}; `palace init --here` takes the folder as it stands")


def _describe_outside(root: Path) -> str:
    """Return a remark on the notes below a folder and outside ``palace/``; empty without any."""
    count, is_all = count_outside(root)
    more, verb = "" if is_all else "more than ", "is" if count == 1 else "are"
    return f"{more}{plural(count, 'note')} in {root} {verb} outside palace/" if count else ""


@verbs.verb("doctor")
def doctor(
    palace: Palace,
    fix: Annotated[bool, Option("--fix", help="Rebuild what does not match.")] = False,
) -> Examination:
    """Check that notes, manifest, vectors and digests match; exit 8 if they do not.

    Every note and index file is hashed, every note is cut into chunks again, and a sample of
    vectors is computed again. `palace index --verify --store` writes a store again.

    Example: palace doctor --fix
    """
    return palace.doctor(fix=fix)


_MOST_STEPS = 2
_MOST_TROUBLES = 3
"""Maximum number of problems that are listed without ``--details``."""


@dataclass(frozen=True, slots=True)
class Status(Shown):
    """The state of a palace: on a screen of 24 lines, or in full."""

    status: IndexStatus = field(metadata=SPREAD)
    usage_logged: bool
    advice: ModelAdvice = field(metadata=SPREAD)
    others: Mapping[str, Shown] = field(metadata={**SPREAD, "places": STATUS})
    """Other states, by key of the table's ``STATUS``."""
    palace: Palace = inner()
    is_full: bool = inner(default=False)

    @classmethod
    def of(cls, palace: Palace, *, is_full: bool = False) -> Status:
        """Return the state of a palace; raise ``IndexMissingError`` if it has no index."""
        status, advice = palace.status(), advise(palace.paths, palace.config)
        others = {key: load(place)(palace) for key, place in STATUS.items()}
        usage_logged = logs_usage(palace.paths, palace.config)
        return cls(status, usage_logged, advice, others, palace, is_full)

    def lines(self) -> Iterator[str]:
        for name, texts in (*self._head(), *self._troubles()):
            for text in texts:
                yield f"{name:<11}{text}"
                name = ""  # shown on the first line only
        steps = dict[str, str]()
        for step in islice(_next_steps(self.palace, self.status, self.advice), _MOST_STEPS):
            steps.setdefault(*step)
        if steps:
            yield ""
            width = max(map(len, steps))
            yield from (f"  {command:<{width}}  {what}" for command, what in steps.items())

    def _head(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the name and the lines of each row on notes and index."""
        status, share = self.status, self.advice.share
        yield "palace", [str(self.palace.paths.root.resolve())]
        archived = f" ({status.cold:,} archived)" if status.cold else ""
        noun = "passage" if status.chunks == 1 else "passages"
        yield "notes", [f"{status.notes:,}{archived}, in {status.chunks:,} {noun}"]
        if set(status.rooms) != {"(no room)"}:
            rooms = status.rooms.items()
            yield from ((f"  {room:<18} ", [f"{count:>6,}"]) for room, count in rooms)
        behind = f"{plural(status.behind, 'note')} behind" if status.behind else ""
        compared = "up to date" if status.freshness == "current" else "not compared with the notes"
        yield "sources", (str(one) for one in status.sources if one.notes or self.is_full)
        yield "index", [f"{behind or compared}, built {status.built:%Y-%m-%d %H:%M} UTC"]
        model = status.embedder if status.dimension else "none: words only, no meaning"
        if status.awaiting:
            model += f", so far of {status.chunks - status.awaiting:,} passages"
        yield "model", [f"{model}, {status.dimension} dimensions" if self.is_full else model]
        if share.told and (self.is_full or self.advice.recommended_embedder):
            count = plural(share.told, "passage")
            yield "languages", [f"{write_share(share)} of {count} not English"]
        if not self.is_full:
            return
        counts = f"{plural(status.segments, 'segment')}, {plural(status.dead_rows, 'dead row')}"
        yield "generation", [f"{status.generation}, {counts}"]
        sizes = {name: f"{size / 1024:,.0f} KiB" for name, size in status.index_bytes.items()}
        parts = ", ".join(f"{name} {size}" for name, size in sizes.items())
        yield "size", [f"{sum(status.index_bytes.values()) / 1024:,.0f} KiB: {parts}"]
        yield from ((name, other.lines()) for name, other in self.others.items())

    def _troubles(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the rows of problems, failures first, of left-out files, and of the usage log."""
        status, paths = self.status, self.palace.paths
        troubles = [
            *map(str, sorted(status.problems, key=lambda problem: not problem.is_failure)),
            *(f"the manifest lists a missing file: {path}" for path in status.manifest_orphans),
            *(line for one in self.others.values() for line in one.remarks(as_json=False)),
        ]
        most = len(troubles) if self.is_full else _MOST_TROUBLES
        yield "problems", troubles[:most]
        if more := len(troubles[most:]):
            yield "", [f"and {more:,} more: {_IN_FULL}"]
        left = status.left_out
        if self.is_full:
            names = ((path, path.rstrip("/").rpartition("/")[2]) for path in left)
            hint = "(a line `!{}` in .palaceignore takes it in)"
            yield "left out", (f"{path} {hint.format(name)}" for path, name in names)
        elif left:
            few = left[0] if len(left) == 1 else f"{len(left):,} files and folders"
            yield "left out", [f"{few}: {_IN_FULL}"]
        if self.usage_logged:
            where, settings = paths.shown(paths.logs / USAGE), paths.shown(paths.settings)
            yield "usage", [f"logged in {where};", f"`usage_log: off` in {settings} ends it"]


@verbs.verb("status")
def status(
    palace: Palace,
    details: Annotated[
        bool, Option("--details", help="Everything in full, with the figures of the index.")
    ] = False,
) -> Status:
    """Show what the palace holds, whether the index is up to date, problems, and what to do next.

    Example: palace status
    """
    return Status.of(palace, is_full=details)


def _next_steps(palace: Palace, status: IndexStatus, advice: ModelAdvice) -> Iterator[_Step]:
    """Yield commands that would repair or improve a palace, each with its purpose."""
    if not status.notes:
        yield 'palace new "A title"', "write a first note"
    if status.awaiting:
        yield "palace index", f"make the vectors of {status.awaiting:,} more passages"
    elif not status.dimension:
        yield from _model_steps(palace)
    if status.freshness == "stale":
        yield "palace index", "take in what has changed"
    if advice.recommended_embedder and status.notes:
        yield advice.command, "find notes that are not in English better"


def _model_steps(palace: Palace) -> Iterator[_Step]:
    awaited = palace.awaited_model()
    if awaited is not None and awaited.is_ready:
        yield "palace index", f"find by meaning too: {awaited.name} is here now"
    elif awaited is not None:
        model = PINNED.get(awaited.name, MINILM)
        yield f"palace models fetch {model.name}", f"find by meaning too ({model.download}, once)"
