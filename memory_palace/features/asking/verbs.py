"""``palace query`` and ``palace list``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, Option

from memory_palace.cli.group import (
    Group,
    IncludeCold,
    Json,
    ask_below,
    check_cold,
    fields_of,
    reach_store,
)
from memory_palace.config import SEVEN, PalacePaths
from memory_palace.errors import UsageError
from memory_palace.features.asking.answers import Answer, Format, day_of
from memory_palace.index.embedders import advise_asker
from memory_palace.index.snapshot import check_freshness
from memory_palace.models import NoteRecord, Problem, QueryResult
from memory_palace.palace import Palace
from memory_palace.query import Query
from memory_palace.retrieval.excerpts import show_whole
from memory_palace.shown import Shown, inner, plural, say_behind, show_date

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

verbs = Group()
_REQUESTED = "words and facts only, as requested"
_LINKED = 2
"""Default of ``--neighbors``, for the titles of linked notes."""
WHICH = "type priority room folder tags since until"
RANKED = "budget_bytes min_confidence rerank"


AskedStore = Annotated[
    str | None,
    Option(
        "--store", metavar="NAME|ADDRESS", help="Ask a palace in PostgreSQL instead of a folder."
    ),
]


@verbs.verb("query")
def query(
    palace: Palace | None,
    text: Annotated[list[str] | None, Argument(help="The question.")] = None,
    *,
    asked: Query = fields_of(
        Query, f"limit {WHICH} when include_cold neighbors profile as_of {RANKED}"
    ),
    details: Annotated[bool, Option("--details", help="Show how each score was made.")] = False,
    raw: Annotated[bool, Option("--raw", help="Short for --profile raw.")] = False,
    mode: Annotated[
        Literal["vector", "lexical"],
        Option("--mode", help="lexical compares words and facts only, without a model."),
    ] = "vector",
    full: Annotated[bool, Option("--full", help="Print whole passages.")] = False,
    format: Annotated[
        Format | None,
        Option("--format", help="How to print the answer; --json is short for --format json."),
    ] = None,
    store: AskedStore = None,
    as_json: Json = False,
) -> Answer:
    """Find the notes that answer TEXT; without TEXT, list those that match the filters.

    Example: palace query why did we drop MQTT --details
    """
    if as_json and format not in (None, "json"):
        raise UsageError(f"--json contradicts --format {format}; give one of them")
    if raw and asked.profile not in (None, "raw"):
        raise UsageError(f"--raw contradicts --profile {asked.profile}; give one of them")
    form: Format = "json" if as_json else format or "text"
    linked = _LINKED if form == "text" or (form == "json" and details) else 0
    is_listed, shows_all = bool(asked.neighbors), details or asked.min_confidence is not None
    asked = replace(
        asked,
        text=" ".join(text or ()),
        profile="raw" if raw else asked.profile,
        lexical=mode == "lexical",
        neighbors=linked if asked.neighbors is None else asked.neighbors,
    )
    paths: PalacePaths | None = None
    if store is not None:
        result, said = _ask_store(store, asked, full=full)
    else:
        palace = palace or Palace.discover()  # which raises if there is none
        paths = palace.paths
        result = palace.ask(ask_below(palace, asked))
        if full:
            snapshot = palace.snapshot(include_cold=asked.include_cold)
            most = asked.budget_bytes
            hits = show_whole(result.hits, snapshot, palace.paths, max_bytes=most)
            result = replace(result, hits=tuple(hits))
        said = [*_remark_quotes(result), *_remark(palace, result, asked)]
    root = paths.root if paths is not None else None
    answer = Answer.of(result, is_whole=full, details=details, root=root, neighbors=is_listed)
    return replace(answer, format=form, shows_all=shows_all, said=said, sources=paths)


def _ask_store(store: str, asked: Query, *, full: bool) -> tuple[QueryResult, list[str]]:
    """Ask a palace in a store; return the result, with ``full`` in whole passages, and remarks."""
    check_cold(SEVEN, asked)
    result, unknown = reach_store("ask")(store, asked, whole=full)
    said = [*_remark_quotes(result), *map(_say_unknown, unknown)]
    if result.mode == "lexical":
        why = _REQUESTED if asked.lexical else "the notes were indexed without vectors"
        why = f"{result.unread_by} reads English alone" if result.unread_by else why
        said.append(f"mode: lexical; {why}")
    return result, said


def _remark(palace: Palace, result: QueryResult, asked: Query) -> Iterator[str]:
    """Yield the remarks on an answer, for stderr."""
    if "#" in result.text:
        from memory_palace.retrieval.question import (
            bear_tag,  # delayed: few have any
            find_unknown_tags,
        )

        snapshot = palace.snapshot()
        found = find_unknown_tags(result.text, lambda tag: bool(bear_tag(snapshot, tag).any()))
        yield from map(_say_unknown, found)
    if result.mode == "lexical":
        yield f"mode: lexical; {_why_lexical(palace, result)}"
    elif result.awaiting:
        known = palace.snapshot().commit.rows - result.awaiting
        yield f"found by meaning so far: {known:,} {_of_passages(palace)}"
    if result.freshness == "stale":
        yield say_behind(result.behind)
    elif result.freshness == "unchecked":
        yield "freshness: unchecked"
    if asked.since or asked.until:
        yield from _say_copied(palace.snapshot(include_cold=asked.include_cold).told_dates)
    if palace.config.cold_hint and not asked.include_cold and result.mode == "vector":
        better = palace.query(result.text, limit=1, include_cold=True, profile="raw", neighbors=0)
        best = max((hit.contributions[0].value for hit in result.hits), default=0.0)
        if better and better[0].note.is_cold and better[0].score > best:
            yield "the cold zone holds a better match; ask with --include-cold"


def _say_unknown(tag: str) -> str:
    return f"no note has the tag #{tag}; it was searched as a word"


def _remark_quotes(result: QueryResult) -> Iterator[str]:
    for quote in result.unmatched_quotes:
        yield f'no note holds "{quote}"; its words were searched one by one'


def _say_copied(dates: NDArray[np.float64]) -> list[str]:
    """Return the remark on notes without a date (0), which --since and --until leave out."""
    copied = int((dates == 0).sum())
    return [f"{plural(copied, 'note')} left out: only a copy dates the files"] if copied else []


def _of_passages(palace: Palace) -> str:
    """Return the number of all passages, and the command that embeds the remaining ones."""
    return f"of {palace.snapshot().commit.rows:,} passages; `palace index` goes on with the others"


def _why_lexical(palace: Palace, result: QueryResult) -> str:
    if result.unread_by:
        return advise_asker(result.unread_by, palace.config)
    commit = palace.snapshot().commit
    if commit.dimension:
        return _REQUESTED
    if commit.awaiting:
        return f"found by meaning so far: 0 {_of_passages(palace)}"
    awaited = palace.awaited_model()
    if awaited is None:
        return f"the index was made with `--embedder {commit.embedder}`"
    if awaited.is_ready:
        return f"{awaited.name} is here now; `palace index` makes vectors with it"
    return f"run `palace models fetch {awaited.name}`, then `palace index`"


@dataclass(frozen=True, slots=True)
class ListedNote:
    """The index record of a note, without its text."""

    path: str
    title: str
    type: str
    priority: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    links: tuple[str, ...]
    date: str
    date_source: str
    evergreen: bool
    valid_from: str | None
    valid_until: str | None
    superseded_by: tuple[str, ...]
    cold: bool
    problems: tuple[Problem, ...]
    day: str = inner()
    """The day that the note or git gives; empty if only the mtime is known."""

    @classmethod
    def of(cls, note: NoteRecord) -> ListedNote:
        validity = note.validity
        return cls(
            path=note.path,
            title=note.title,
            type=note.type,
            priority=note.priority,
            tags=note.tags,
            aliases=note.aliases,
            links=tuple(link.target for link in note.links),
            date=show_date(note.date.timestamp),
            date_source=note.date.source,
            evergreen=note.is_evergreen,
            valid_from=day_of(validity.valid_from),
            valid_until=day_of(validity.valid_until),
            superseded_by=validity.superseded_by,
            cold=note.is_cold,
            problems=note.problems,
            day=note.date.day,
        )

    def __str__(self) -> str:
        day = self.day or f"file {self.date}"
        return f"{day}  {self.type:<10} {self.priority or '-':<6}  {self.path}  {self.title}"


@dataclass(frozen=True, slots=True)
class NoteList(Shown):
    """Notes, by path or date."""

    notes: tuple[ListedNote, ...]
    said: tuple[str, ...] = inner()

    def lines(self) -> Iterable[str]:
        return map(str, self.notes)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return self.said if self.notes else ("no note matches", *self.said)


@verbs.verb("list")
def list_notes(
    palace: Palace,
    asked: Query = fields_of(Query, WHICH),
    sort: Annotated[
        Literal["path", "date"], Option("--sort", help="path, or date with the newest first.")
    ] = "path",
    include_cold: IncludeCold = False,
) -> NoteList:
    """List notes by their metadata; `palace graph neighbors` lists them by their links.

    Example: palace list --type project --since 30d --sort date
    """
    asked = ask_below(palace, replace(asked, include_cold=include_cold))
    notes = palace.list_notes(asked)
    snapshot = palace.snapshot(include_cold=include_cold)
    if sort == "date":
        told = dict(zip(snapshot.paths, snapshot.told_dates.tolist(), strict=True))
        notes.sort(key=lambda note: (-told[note.path], note.path))
    said = _say_copied(snapshot.told_dates) if asked.since or asked.until else []
    if behind := check_freshness(palace.paths, palace.config, snapshot).behind:
        said.append(say_behind(behind))
    return NoteList(tuple(map(ListedNote.of, notes)), tuple(said))
