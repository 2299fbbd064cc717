"""Facts of a passage, by patterns alone: no model, no download."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache

from memory_palace.facts.fact import Fact, FactKind
from memory_palace.facts.keys import (
    ANY,
    day_key,
    link_key,
    month_key,
    preference_key,
    relation_keys,
    tag_key,
    text_key,
    within_key,
    year_key,
    yearless_key,
)
from memory_palace.facts.reading import Reader, Reading, Said, read_by_patterns
from memory_palace.language.dates import WEEKDAYS, Found, find_dates, find_weekdays
from memory_palace.language.detect import is_english
from memory_palace.language.names import name_key, name_text
from memory_palace.language.phrases import find_phrases, phrase_keys, phrase_text
from memory_palace.language.preferences import Preference, find_preferences
from memory_palace.language.prose import strip_markup
from memory_palace.language.quotes import find_quotes
from memory_palace.language.speakers import split_speakers
from memory_palace.language.themes import find_themes
from memory_palace.language.words import Part, Word, split_words

_ANY_DAY = date(2000, 12, 31)
"""A leap year, to read days without a year on."""
_SHORTEST_PART = 3
_WEEK_DAYS = 7


def extract_facts(
    text: str,
    *,
    title: str = "",
    headings: Sequence[str] = (),
    tags: Sequence[str] = (),
    links: Sequence[str] = (),
    entities: Sequence[str] = (),
    written: date | None = None,
    read: Reader = read_by_patterns,
) -> tuple[Fact, ...]:
    """Return the facts of one passage, each kind and key once, in order of appearance.

    ``tags`` and ``entities`` are those of its note, ``links`` the targets of its own wikilinks.
    ``written`` is the day the note is from, where it says so: "yesterday" is a date then. What
    needs grammar is looked for in English only; ``read`` finds names, phrases and relations.
    """
    facts = [*_stated(tags, links, entities)]
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    prose = strip_markup(text)
    facts += [Fact(FactKind.QUOTE, text_key(quote), quote) for quote in find_quotes(prose)]
    said = [Said(who, part, split_words(part)) for who, part in split_speakers(prose)]
    keys = [word.key for part in said for word in part.words if word.key]
    if is_english(prose, keys):
        known = {name_key(entity) for entity in entities}
        facts += _spoken(read(said, known), said, frozenset(keys))
        facts += _phrases(find_phrases(split_words(". ".join((title, *headings)))))
        facts += _dates(find_dates(prose, written or _ANY_DAY, set(keys)), written)
    distinct = {fact[:2]: fact for fact in reversed(facts) if fact.key}
    return tuple(reversed(distinct.values()))


def _stated(tags: Sequence[str], links: Sequence[str], entities: Sequence[str]) -> Iterator[Fact]:
    for tag in tags:
        yield Fact(FactKind.TAG, tag_key(tag), tag)
    for target in links:
        yield Fact(FactKind.LINK, link_key(target), target)
    for entity in entities:
        yield Fact(FactKind.ENTITY, name_key(entity), entity)


def _spoken(reading: Reading, said: Sequence[Said], keys: frozenset[str]) -> list[Fact]:
    facts = [*_entities(reading.names), *_phrases(reading.phrases)]
    for relation in reading.relations:
        whole, *partial = relation_keys(relation)
        facts.append(Fact(FactKind.RELATION, whole, " ".join(relation)))
        facts += [Fact(FactKind.RELATION, key, "") for key in partial]
    for part in said:
        for preference in find_preferences(part.text, writer=part.who, keys=keys):
            facts += _preference(preference)
        if not keys.isdisjoint(WEEKDAYS):
            facts += [Fact(FactKind.WEEKDAY, str(day), "") for day in find_weekdays(part.text)]
        facts += [Fact(FactKind.THEME, theme, theme) for theme in find_themes(part.text, keys)]
    return facts


def _entities(names: Sequence[Sequence[Word]]) -> Iterator[Fact]:
    for name in names:
        yield Fact(FactKind.ENTITY, " ".join(word.key for word in name), name_text(name))
        if len(name) > 1:
            for word in name:
                if word.is_capital and len(word.key) >= _SHORTEST_PART:
                    yield Fact(FactKind.ENTITY, word.key, "")


def _phrases(phrases: Sequence[tuple[Word, ...]]) -> list[Fact]:
    return [fact for phrase in phrases for fact in _phrase(phrase)]


@lru_cache(maxsize=1 << 14)
def _phrase(phrase: tuple[Word, ...]) -> tuple[Fact, ...]:
    whole, *parts = phrase_keys(phrase)
    shown = Fact(FactKind.PHRASE, whole, phrase_text(phrase))
    return (shown, *(Fact(FactKind.PHRASE, key, "") for key in parts))


def _preference(preference: Preference) -> Iterator[Fact]:
    """Yield nothing for "I like it": what is liked stands elsewhere."""
    words = split_words(preference.object)
    subjects = {text_key(word.key) for word in words if word.part in (Part.NOUN, Part.VERB)}
    if not subjects:
        return
    display = f"{preference.polarity} {preference.object}"
    yield Fact(FactKind.PREFERENCE, preference_key(preference.holder, ANY), display)
    for subject in sorted(subjects):
        yield Fact(FactKind.PREFERENCE, preference_key(ANY, subject), "")
        yield Fact(FactKind.PREFERENCE, preference_key(preference.holder, subject), "")


def _dates(found: Sequence[Found], written: date | None) -> Iterator[Fact]:
    for item in found:
        if not (item.has_year or written):
            if item.unit == "day" and item.is_calendar:
                yield Fact(FactKind.DATE, yearless_key(item.windows[0].first), "")
            continue
        for window in item.windows:
            middle = window.first + (window.last - window.first) / 2
            if (window.last - window.first).days < _WEEK_DAYS:
                yield Fact(FactKind.DATE, day_key(middle), window.expression)
                yield Fact(FactKind.DATE, within_key(month_key(middle)), "")
            elif item.unit == "year":
                yield Fact(FactKind.DATE, year_key(middle), window.expression)
            else:
                yield Fact(FactKind.DATE, month_key(middle), window.expression)
