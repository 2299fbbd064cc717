"""Read the dates and the validity of a note from its front matter, properties, name and title."""

from __future__ import annotations

import re
import time as clock
import unicodedata
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from itertools import takewhile
from typing import Any, NamedTuple

from memory_palace.models import NoteDate, Problem, Validity
from memory_palace.notes.note import Days, stem_of

_CHANGED = r"(?:last|date)?(?:update|modifie|edite|change|mod)d?(?:at|on|date|time)?"
_DATED = r"date|day|datetime"
_CREATED = r"(?:date)?(?:created?|creation)(?:at|on|date|time)?"
_LESS = r"(?:date)?(?:published|publish|pub)(?:date)?|id"
"""Patterns of date fields, matched after ``_fold``, most reliable first.

``published`` of a clipped page is its author's date; below a title it may be that of a book, and is
not read.
"""
_OF_NOTE = re.compile(f"{_CHANGED}|{_DATED}|{_CREATED}|id")
_STAMP = r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?"
_ISO = re.compile(
    rf"(?<!\d)(?<!\bv)(\d{{4}})([-_.]?)(\d{{2}})\2(\d{{2}})(?:(?<=\d{{8}}){_STAMP})?(?!\d|\.\d{{1,3}}(?!\d))"
)
"""``2026-03-01``, ``20260301``, or a numeric note ID to the minute or second."""
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?(?:\.\d*)?")
_FIRST_EPOCH, _AHEAD = datetime(1990, 1, 1, tzinfo=UTC).timestamp(), 5 * 366 * 86_400.0
"""Earliest epoch seconds, and most seconds ahead of now; a number outside is not a time."""
_NUMBERED = re.compile(r"\d{12}(?:\d\d)?")
_DIGEST = re.compile(
    r"(?<![^\W_])(?:[0-9a-f]{32,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![^\W_])", re.I
)
_PROPERTY = re.compile(r"\A[ \t]*(?:[-*] )?([^:#>|`]{1,40}?) ?::?(?:[ \t]+(.*))?")
_FOLDERS = re.compile(r"(?:^|/)(\d{4})/(?:\d{4}[-_.])?(\d{1,2})(?!\d)[^/]*/(\d{1,2})$")
"""Folders of a day: ``2026/03/01``, ``2026/03-March/1``."""
_YEAR = re.compile(r"(?<!\d)((?:19|20|21)\d\d)(?!\d)")
_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})([-_ ])(\d{1,2})\2(\d{4})(?!\d)")
"""``14-10-2026``, ``14_10_2026``: rewritten with slashes for the time grammar."""
_HYPHENS = re.compile(r"(?<=[^\W\d_])-(?=\d)|(?<=\d)-(?=[^\W\d_])")
"""Hyphens in ``2026-Oct-14`` and ``Oct-14-2026``: made spaces for the time grammar."""
_EARLIEST, _LATEST = 1900, 2200
_ANY_DAY = date(2024, 12, 31)
"""Reference day for dates without a year: a leap year; two-digit years are taken near it."""
_SURE = 0.5
_MOST_SPANS = 2
_LONGEST = 80
"""Most characters of a field that is read as a date in words."""


class Dating(NamedTuple):
    """The dates that a note gives itself."""

    days: tuple[Days, ...]
    """Spans of its date field, of its name and of its creation date, in this order; two at most."""
    yearless: date | None
    date: NoteDate | None
    """Reference for recency: the date of change, else the date, creation or file name's date."""


def read_times(
    values: Mapping[str, Any], path: str, title: str, *, body: str, locale: str
) -> tuple[dict[str, Any], tuple[Problem, ...]]:
    """Return the date and validity fields of a ``Note`` by name, and problems in them."""
    validity, problems = read_validity(values, path, locale=locale)
    dates = date_note(values, path, title, body=body, locale=locale)
    for key, value in (*values.items(), *_properties_of(body)):
        is_told = _OF_NOTE.fullmatch(_fold(key)) and isinstance(value, str)
        if is_told and len(_days_in_text(value[:_LONGEST], None, locale)[0]) > 1:
            message = f"{key} {value!r} may be two days and is not read"
            message += "; `locale` in palace.yaml says which"
            problems += (Problem(path, None, "front matter", message),)
            break
    lasts = {"validity": validity, "is_evergreen": values.get("evergreen") is True}
    return {**dates._asdict(), **lasts}, problems


def date_note(
    values: Mapping[str, Any], path: str, title: str = "", *, body: str = "", locale: str = ""
) -> Dating:
    """Return the dates of a note from its properties, its file name and its title."""
    fields = [*values.items(), *_properties_of(body)]
    dated = _first_moment(fields, _DATED, locale)
    created = _first_moment(fields, _CREATED, locale) or _first_moment(fields, _LESS, locale)
    begun = dated or created
    as_of = begun.date() if begun else None
    named, yearless = days_in_name(path, as_of, locale=locale)
    if not (named or yearless) and title != stem_of(path):
        named, yearless = days_in_name(title, as_of, locale=locale)
    said = [(moment.date(), moment.date()) for moment in (dated, created) if moment]
    days = [*said[: bool(dated)], *named, *said[bool(dated) :]]
    told = _first_moment(fields, _CHANGED, locale) or begun
    # The author's local day counts, so the zone is dropped.
    own = NoteDate(told.replace(tzinfo=UTC).timestamp(), "front matter") if told else None
    own = own or date_in_name(path, locale=locale)
    return Dating(tuple(dict.fromkeys(days))[:_MOST_SPANS], None if days else yearless, own)


def date_in_front_matter(values: Mapping[str, Any], *, locale: str = "") -> NoteDate | None:
    """Return the date of change in front matter, else the date, creation or publication date."""
    for kind in (_CHANGED, _DATED, _CREATED, _LESS):
        if moment := _first_moment(values.items(), kind, locale):
            return NoteDate(moment.timestamp(), "front matter")
    return None


def date_in_name(path: str, *, locale: str = "") -> NoteDate | None:
    """Return the day in a file name, such as ``2026-03-01 flour.md``; ``None`` if not one day."""
    day = _only_day(days_in_name(path, locale=locale)[0])
    return NoteDate(datetime.combine(day, time(), UTC).timestamp(), "file name") if day else None


def days_in_name(
    path: str, as_of: date | None = None, *, locale: str = ""
) -> tuple[tuple[Days, ...], date | None]:
    """Return the spans of days in a name, and if none, its day without a year (in year 2000).

    Days, weeks, months and quarters are read, in words or numbers (``14.10.2026 Klettern``, ``Oct
    14``), but not a year alone. A date without a year is the last before ``as_of``, or lies in the
    year that a folder names.
    """
    if stem_of(path) in ("index", "_index"):  # a page bundle is named by its folder
        path = path.rpartition("/")[0]
    stem, parts = stem_of(path), path.split("/")[:-1]
    for year, month, number in _FOLDERS.findall("/".join([*parts, stem])):
        if day := _make_day(year, month, number):
            return ((day, day),), None
    years = [int(match[1]) for part in parts if (match := _YEAR.search(part))]
    as_of = as_of or (date(years[-1], 12, 31) if years else None)
    return _days_in_text(stem, as_of, locale)


def _days_in_text(
    text: str, as_of: date | None, locale: str
) -> tuple[tuple[Days, ...], date | None]:
    """Return the result of ``days_in_name`` for a text that is not a path."""
    text = _DIGEST.sub("", unicodedata.normalize("NFKC", text))
    if not any(map(str.isnumeric, text)):
        return (), None
    days = [day for y, _, m, d in _ISO.findall(text) if (day := _make_day(y, m, d))]
    if days:
        return ((days[0], days[0]),), None
    from memory_palace.language.times import find_times  # delayed: most names are ISO

    text = _HYPHENS.sub(" ", _NUMBERS.sub(r"\1/\3/\4", text)).replace("_", " ")
    for found in find_times(text, as_of or _ANY_DAY, locale=locale):
        if found.certainty < _SURE / len(found.windows) or found.unit == "year":
            continue
        if found.has_year or (as_of and found.unit == "day" and found.is_calendar):
            return tuple((window.first, window.last) for window in found.windows), None
        if found.unit == "day" and found.is_calendar:
            return (), found.windows[0].first.replace(year=2000)
    return (), None


def _properties_of(body: str) -> list[tuple[str, str]]:
    """Return the date properties in the first lines of a body, or directly below its title.

    Their forms are ``key:: value`` (Logseq) and ``Key: value`` (Notion's export).
    """
    text = body[: 50 * _LONGEST].lstrip("\n")
    text = text.partition("\n")[2].lstrip("\n") if text.startswith("# ") else text
    matches = (_PROPERTY.fullmatch(line.rstrip()) for line in text.split("\n"))
    found = [match.group(1, 2) for match in takewhile(bool, matches) if match]
    return [(key, value) for key, value in found if _OF_NOTE.fullmatch(_fold(key))]


def _first_moment(fields: Iterable[tuple[str, Any]], kind: str, locale: str) -> datetime | None:
    """Return the moment of the first field that has one and whose folded key matches ``kind``."""
    for key, value in fields:
        name = _fold(key)
        is_told = name != "id" or _NUMBERED.fullmatch(str(value))
        if is_told and re.fullmatch(kind, name) and (moment := _moment(value, locale)):
            return moment
    return None


def _fold(field: object) -> str:
    return re.sub(r"[\W_]+", "", str(field)).casefold()


def _moment(value: Any, locale: str) -> datetime | None:
    """Return a field's value as a moment, in UTC if it has no zone; ``None`` if it is no date."""
    while isinstance(value, list) and len(value) == 1:
        value = value[0]  # YAML reads [[2026-03-01]] as nested lists
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if isinstance(value, str):
        value = _parse(value.strip().strip("[]").strip(), locale)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if not isinstance(value, datetime) or not _EARLIEST <= value.year <= _LATEST:
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def _parse(text: str, locale: str) -> datetime | date | None:
    if epoch := _EPOCH.fullmatch(text):
        seconds = float(epoch[1])
        is_time = _FIRST_EPOCH <= seconds <= clock.time() + _AHEAD
        return datetime.fromtimestamp(seconds, UTC) if is_time else None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return _only_day(_days_in_text(text, None, locale)[0]) if len(text) <= _LONGEST else None


def _only_day(days: tuple[Days, ...]) -> date | None:
    """Return the only day; ``None`` for a longer span, and for a date with two readings."""
    return days[0][0] if len(days) == 1 and days[0][0] == days[0][1] else None


def _make_day(year: str, month: str, day: str) -> date | None:
    try:
        found = date(int(year), int(month), int(day))
    except ValueError:
        return None
    return found if _EARLIEST <= found.year <= _LATEST else None


_FROM, _UNTIL, _REPLACED, _SINCE = "valid_from", "valid_until", "superseded_by", "superseded_at"
_MONTH = re.compile(r"(\d{4})(?:-(\d{1,2}))?")
_LINK = re.compile(r"!?\[\[([^\[\]]*)\]\]")
_DAY_SECONDS = 86_400.0


def read_validity(
    values: Mapping[str, Any], path: str, *, locale: str = ""
) -> tuple[Validity, tuple[Problem, ...]]:
    """Return the validity of a note, and a problem for each bound that is not a date.

    ``valid_until`` includes its day, month or year. Without it, a superseded note is valid until
    ``superseded_at`` begins.
    """
    fields = _fields(values)
    problems = tuple(
        Problem(path, None, "front matter", f"{key} {fields[key]!r} is not a date; it is ignored")
        for key in (_FROM, _UNTIL)
        if fields.get(key) not in (None, "") and _read_span(fields[key], locale) is None
    )
    replaced = superseded_by(values)
    first, last = _read_span(fields.get(_FROM), locale), _read_span(fields.get(_UNTIL), locale)
    since = _read_span(fields.get(_SINCE), locale) if replaced and last is None else None
    until = last[1] if last else since[0] if since else None
    return Validity(first[0] if first else None, until, replaced), problems


def superseded_by(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the notes in ``superseded_by``: names or paths, without brackets.

    YAML reads an unquoted ``[[link]]`` as a list in a list.
    """
    return tuple(dict.fromkeys(filter(None, map(_name, _flat(_fields(values).get(_REPLACED))))))


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"[-\s]+", "_", key.strip().lower()): value for key, value in values.items()}


def _flat(value: Any) -> Iterator[str]:
    for item in value if isinstance(value, list) else ():
        yield from _flat(item)
    if value is not None and not isinstance(value, bool | dict | list):
        yield str(value)


def _name(text: str) -> str:
    link = _LINK.search(text)
    return " ".join((link[1] if link else text).partition("|")[0].partition("#")[0].split())


def _read_span(value: Any, locale: str) -> tuple[float, float] | None:
    """Return the first and last second of a year, month, day or moment; ``None`` if no date."""
    text = str(value).strip() if isinstance(value, int | str) else ""
    begin, end = value, value
    found = _MONTH.fullmatch(text)
    if found and int(found[1]) and int(found[2] or 1) in range(1, 13):
        year, month, last = int(found[1]), int(found[2] or 1), int(found[2] or 12)
        begin, end = date(year, month, 1), date(year, last, monthrange(year, last)[1])
    elif found:
        return None
    first, last_moment = _moment(begin, locale), _moment(end, locale)
    if first is None or last_moment is None:
        return None
    is_moment = isinstance(end, datetime) or (isinstance(end, str) and ":" in text)
    return first.timestamp(), last_moment.timestamp() + (0 if is_moment else _DAY_SECONDS - 1)
