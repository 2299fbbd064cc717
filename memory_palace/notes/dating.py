"""When a note is from: what it says, what its name says, what git says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.models import NoteDate
from memory_palace.notes.git import PATHS_ON_A_COMMAND_LINE, is_in_repository, run_git
from memory_palace.notes.note import Days
from memory_palace.notes.rooms import stem_of

_CHANGED = "updated modified lastmodified lastupdated lastmod dateupdated datemodified updatedat"
_DATED = "date day datepublished published publishdate"
_CREATED = "created datecreated createdat creationdate"
"""Fields of front matter, as ``_fold`` writes them, the most telling first."""
_ISO = re.compile(r"(?<!\d)(\d{4})([-_.]?)(\d{2})\2(\d{2})(?:(?<=\d{8})(?:\d{6}|\d{4}))?(?!\d)")
"""``2026-03-01``, ``20260301``, or a moment to the minute or second, as notes are numbered by."""
_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(?:\d{4}[-_.])?(\d{1,2})(?!\d)[^/]*/(\d{1,2})$")
"""``2026/03/01``, ``2026/03-March/1``."""
_YEAR = re.compile(r"(?<!\d)((?:19|20|21)\d\d)(?!\d)")
_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})([-_. ])(\d{1,2})\2(\d{4})(?!\d)")
"""``14-10-2026``, ``14_10_2026``: what grammar reads with slashes."""
_LOG_OPTIONS = "--format=%x01%ct --name-only -z --no-renames --diff-filter=AMR".split()
_EARLIEST, _LATEST = 1900, 2200
_ANY_DAY = date(2000, 12, 31)
"""A leap year, to read days without a year on."""
_SURE = 0.5
_MOST_SPANS = 2
_LONGEST = 80
"""Characters of a field that may be a date in words."""


class Dating(NamedTuple):
    """When a note is from, by its own word."""

    days: tuple[Days, ...]
    """What it is of: its date, the days that its name gives, its beginning; two at most."""
    yearless: date | None
    """A day of any year, where its name gives no more."""
    date: NoteDate | None
    """When it was last changed, as far as it says so: what recency counts from."""


def date_note(values: Mapping[str, Any], path: str, title: str = "", *, locale: str = "") -> Dating:
    """Read when a note is from in its front matter, the name of its file, and its title."""
    dated, created = (_first_moment(values, fields, locale) for fields in (_DATED, _CREATED))
    begun = dated or created
    as_of = begun.date() if begun else None
    named, yearless = days_in_name(path, as_of, locale=locale)
    if not (named or yearless) and title != stem_of(path):
        named, yearless = days_in_name(title, as_of, locale=locale)
    days = [*_one_day(dated), *named, *_one_day(created)]
    own = date_in_front_matter(values, locale=locale) or date_in_name(path, locale=locale)
    return Dating(tuple(dict.fromkeys(days))[:_MOST_SPANS], None if days else yearless, own)


def date_in_front_matter(values: Mapping[str, Any], *, locale: str = "") -> NoteDate | None:
    """Return when a note was changed, else its date, else when it was made."""
    for fields in (_CHANGED, _DATED, _CREATED):
        moment = _first_moment(values, fields, locale)
        if moment is not None:
            return NoteDate(moment.timestamp(), "front matter")
    return None


def date_in_name(path: str, *, locale: str = "") -> NoteDate | None:
    """Return the first day in a file name, such as ``2026-03-01 flour.md``."""
    days, _ = days_in_name(path, locale=locale)
    if not days or days[0][0] != days[0][1]:
        return None
    return NoteDate(datetime.combine(days[0][0], time(), UTC).timestamp(), "file name")


def days_in_name(
    path: str, as_of: date | None = None, *, locale: str = ""
) -> tuple[tuple[Days, ...], date | None]:
    """Return the spans of days that a name gives, and else the day of any year that it gives.

    Read are days, weeks, months and quarters, in words or numbers (``14.10.2026 Klettern``, ``Oct
    14``); a name that is a year alone is none. What lacks the year is of the last one before
    ``as_of``, or of the year that a folder is called.
    """
    name = stem_of(unicodedata.normalize("NFKC", path))
    if not any(map(str.isnumeric, name)):
        return (), None
    found = [*_ISO.findall(name), *((y, "", m, d) for y, m, d in _FOLDERS.findall(_stem(path)))]
    days = [day for y, _, m, d in found if (day := _make_day(y, m, d))]
    if days:
        return ((days[0], days[0]),), None
    years = [int(match[1]) for part in path.split("/")[:-1] if (match := _YEAR.search(part))]
    as_of = as_of or (date(years[-1], 12, 31) if years else None)
    return _read_name(name, as_of, locale)


def _read_name(name: str, as_of: date | None, locale: str) -> tuple[tuple[Days, ...], date | None]:
    from memory_palace.language.time.reading import find_times  # delayed: most names are ISO

    name = _NUMBERS.sub(r"\1/\3/\4", name).replace("_", " ")
    for found in find_times(name, as_of or _ANY_DAY, locale=locale):
        if found.certainty < _SURE / len(found.windows) or found.unit == "year":
            continue
        if found.has_year or (as_of and found.unit == "day" and found.is_calendar):
            return tuple((window.first, window.last) for window in found.windows), None
        if found.unit == "day" and found.is_calendar:
            return (), found.windows[0].first
    return (), None


def git_head(root: Path) -> str | None:
    """Return the commit that is checked out, or ``None`` outside a repository."""
    if not is_in_repository(root):
        return None
    out = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return out.strip() or None if out else None


def git_commit_times(root: Path, paths: Collection[str]) -> dict[str, float]:
    """Return the time of the last commit of those paths that are tracked and clean.

    One pass over the log and one over the status, whatever the number of paths.
    """
    if not is_in_repository(root):
        return {}
    prefix = (run_git(root, "rev-parse", "--show-prefix") or "").strip("\n")
    changed = run_git(root, "status", "--porcelain", "-z", "--no-renames", "--", ".")
    asked = sorted(paths) if len(paths) <= PATHS_ON_A_COMMAND_LINE else ["."]
    log = run_git(root, "log", *_LOG_OPTIONS, "--", *asked)
    if changed is None or log is None:
        return {}
    dirty = {entry[3:] for entry in changed.split("\0") if len(entry) > 3}
    times: dict[str, float] = {}
    for block in log.split("\x01")[1:]:
        stamp, *names = block.replace("\n", "\0").split("\0")
        if not stamp.isdigit():
            continue  # a file name holds the mark
        for name in names:
            if name.startswith(prefix) and name:
                times.setdefault(name[len(prefix) :], float(stamp))
    return {p: times[p] for p in paths if p in times and prefix + p not in dirty}


def _first_moment(values: Mapping[str, Any], fields: str, locale: str) -> datetime | None:
    named = {_fold(key): value for key, value in reversed([*values.items()])}
    moments = (_moment(named.get(field), locale) for field in fields.split())
    return next((moment for moment in moments if moment), None)


def _fold(field: object) -> str:
    return re.sub(r"[\W_]+", "", str(field)).casefold()


def _one_day(moment: datetime | None) -> Iterator[Days]:
    """Yield the day of a moment on the clock that it was written by."""
    if moment is not None:
        yield moment.date(), moment.date()


def _moment(value: Any, locale: str) -> datetime | None:
    """Return the moment that a field gives; without a zone it is UTC."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]  # [[2026-03-01]] is a list of a list
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        value = _parse(value.strip().strip("[]").strip(), locale)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if not isinstance(value, datetime) or not _EARLIEST <= value.year <= _LATEST:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _parse(text: str, locale: str) -> datetime | date | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        days, _ = days_in_name(text, locale=locale) if len(text) <= _LONGEST else ((), None)
    return days[0][0] if days and days[0][0] == days[0][1] else None


def _make_day(year: str, month: str, day: str) -> date | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found if _EARLIEST <= found.year <= _LATEST else None


def _stem(path: str) -> str:
    return path.rpartition("/")[0] + "/" + stem_of(path)
