"""A made diary of 111 notes, and questions by day that each one of them answers.

What happened stands in ``diary.md``; days, rooms and names are dealt here, from one seed. A third
of the notes has its day in front matter, a third in its file name, a third in both.
"""

import random
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

TODAY = date(2026, 11, 22)
"""The day on which the questions are asked that count from no other day."""

FIRST_DAY, LAST_DAY = date(2025, 9, 15), date(2026, 11, 18)
EACH_FORM = 60
SEED = 1403
TABLE = Path(__file__).with_suffix(".md")
DATED_BY = ("front matter", "name", "both")
MONTHS = (
    "January February March April May June July August September October November December"
).split()
MONATE = (
    "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
).split()
COUNTS = "two three four five six seven eight nine".split()


@dataclass(frozen=True, slots=True)
class DiaryNote:
    """What was written on ``day``; ``path`` is relative to the palace."""

    path: str
    day: date
    text: str
    dated_by: str


@dataclass(frozen=True, slots=True)
class DiaryQuestion:
    """A question asked on ``as_of``, which the note at ``path`` answers and no other."""

    text: str
    as_of: date
    path: str
    form: str


def ordinal(number: int) -> str:
    """``14`` -> ``14th``."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number in (11, 12, 13) else ending}"


def dated_names(day: date, title: str) -> list[str]:
    """Return file names that people give to the note of a day, without ``.md``.

    Day and month stand in figures side by side only where a day above 12 leaves one reading.
    """
    month, monat = MONTHS[day.month - 1], MONATE[day.month - 1]
    names = [
        f"{day}",
        f"{day} {title}",
        f"{day.year} {month} {day.day}",
        f"{day:%Y%m%d}-{title.split()[0].lower()}",
        f"{month[:3]} {day.day} {day.year}",
        f"{day.day}. {monat} {day.year}",
        f"{day:%Y_%m_%d}",
        f"{month} {ordinal(day.day)}, {day.year}",
        f"{title} {day.day} {month} {day.year}",
    ]
    return [*names, f"{day:%d.%m.%Y} {title}"] if day.day > 12 else names


def front_matter(day: date, number: int, chance: random.Random) -> str:
    """Write the day as one of the ways in which front matter says it, some with a later change."""
    written = [
        f"date: {day}",
        f"created: {day}T21:40:00",
        f"created: '{day}'",
        f"date: {day} 08:15",
    ][number % 4]
    changed = min(day + timedelta(days=chance.randint(2, 90)), LAST_DAY)
    return f"---\n{written}\n{f'updated: {changed}' if number % 3 == 0 else 'mood: fair'}\n---\n"


def deal_days(count: int, chance: random.Random) -> list[date]:
    """Return days of the diary, in order: runs of adjacent ones, and gaps of up to two weeks."""
    days: set[date] = set()
    span = (LAST_DAY - FIRST_DAY).days
    while len(days) < count:
        start = FIRST_DAY + timedelta(days=chance.randint(0, span))
        for day in (start + timedelta(days=i) for i in range(chance.choice((1, 1, 2, 3)))):
            if day <= LAST_DAY and len(days) < count:
                days.add(day)
    return sorted(days)


def diary_notes() -> list[DiaryNote]:
    """Return the notes by day; the same ones every time."""
    chance = random.Random(SEED)
    table = TABLE.read_text("utf-8").splitlines()
    lines = [line[2:].split(" | ") for line in table if line.startswith("- ")]
    chance.shuffle(lines)
    kinds = [DATED_BY[number % 3] for number in range(len(lines))]
    chance.shuffle(kinds)
    notes = []
    for number, (day, kind, (room, title, text)) in enumerate(
        zip(deal_days(len(lines), chance), kinds, lines, strict=True)
    ):
        dated = dated_names(day, title)
        name = title if kind == "front matter" else dated[-1 - number % len(dated)]
        head = "" if kind == "name" else front_matter(day, number, chance)
        notes.append(DiaryNote(f"{room}/{name}.md", day, f"{head}# {title}\n\n{text}\n", kind))
    return notes


def asked(form: str, day: date, chance: random.Random) -> tuple[str, date]:
    """Return a question about a day in one of six forms, and the day on which it is asked."""
    month, monat = MONTHS[day.month - 1], MONATE[day.month - 1]
    if form == "days ago":
        count = chance.randrange(len(COUNTS))
        return f"what happened {COUNTS[count]} days ago", day + timedelta(days=count + 2)
    texts = {
        "month and day": f"what did I do on {month} {day.day}",
        "dotted": f"{day:%d.%m.%Y}",
        "ordinal": f"notes from the {ordinal(day.day)} of {month} {day.year}",
        "iso": f"{day}",
        "german": f"was war am {day.day}. {monat}",
    }
    return texts[form], TODAY


def days_to_ask(form: str, notes: list[DiaryNote]) -> list[DiaryNote]:
    """Return the notes whose day a form names in one way: without a year, of the last year."""
    if form in ("month and day", "german"):
        return [note for note in notes if note.day > TODAY.replace(year=TODAY.year - 1)]
    return [note for note in notes if form != "dotted" or note.day.day > 12]


def diary_questions() -> list[DiaryQuestion]:
    """Return sixty questions in each of six forms."""
    chance = random.Random(SEED + 1)
    notes = diary_notes()
    questions = []
    for form in ("month and day", "dotted", "ordinal", "iso", "days ago", "german"):
        for note in sorted(chance.sample(days_to_ask(form, notes), EACH_FORM), key=lambda n: n.day):
            text, as_of = asked(form, note.day, chance)
            questions.append(DiaryQuestion(text, as_of, note.path, form))
    return questions
