"""What an index is made by besides its notes: embedder, chunker, tokenizer, and how much detail."""

from __future__ import annotations

from enum import IntEnum

from memory_palace import signals
from memory_palace.embedding.base import Embedder
from memory_palace.errors import WrongEmbedderError
from memory_palace.index.commit import Commit
from memory_palace.language.tokens import Languages

CHUNKER = "sections-8"
"""Bump it whenever ``notes`` can cut elsewhere or embed another text."""

TOKENIZER = "words-4"
"""Bump it whenever ``language.tokens`` can give other tokens for a text."""

FACTS = "plain-10"
"""Bump it whenever ``facts.derive`` can find other names, headings, dates or speakers in a text, or
note records keep other members."""

_LOCALE = "locale-"
"""What goes before a locale: numbers of days in notes are read by it."""
_OTHER_VERSION = "the index was built by another version of palace; run `palace index` to update it"
_OTHER_LANGUAGES = (
    "the settings name other languages than the index was built for; run `palace index` to make "
    "its words again (vectors are kept)"
)


class Detail(IntEnum):
    """How much an index keeps of each passage; each includes those before it."""

    PLAIN = 0
    """Words, dates, speakers, and whether it is a question: all that most profiles read."""
    STRUCTURED = 1
    """Facts and describing words of the extension ``structure`` as well."""


def name_recipe(
    embedder: Embedder,
    detail: Detail = Detail.PLAIN,
    languages: Languages = (),
    locale: str = "",
) -> str:
    """Name the recipe of an index; two indexes with one fingerprint may share segments.

    ``locale`` is the setting; facts of registered extensions count. Raise ``MissingPartError``
    where what reads the structure is not here.
    """
    last = signals.structure().version if detail == Detail.STRUCTURED else FACTS
    for other in signals.fact_readers(structured=False):
        last += f"+{other.name}-{other.version}"
    return "|".join([*_first_parts(embedder, languages, locale), last])


def _first_parts(embedder: Embedder, languages: Languages, locale: str) -> list[str]:
    parts = [embedder.fingerprint, CHUNKER, "+".join((TOKENIZER, *languages))]
    return parts + ([f"{_LOCALE}{locale}"] if locale else [])


def read_detail(fingerprint: str) -> Detail:
    """Return how much detail an index of that recipe has."""
    is_structured = any(part.startswith("facts-") for part in fingerprint.split("|"))
    return Detail.STRUCTURED if is_structured else Detail.PLAIN


def read_languages(fingerprint: str) -> Languages:
    """Return the languages whose stemmers an index of that recipe was made with."""
    parts = (part.split("+") for part in fingerprint.split("|"))
    return next((tuple(languages) for first, *languages in parts if first == TOKENIZER), ())


def choose_detail(commit: Commit | None, *, structure: bool | None = None) -> Detail:
    """Return the detail of a build: as asked, else as the index has it."""
    if structure is None:
        return read_detail(commit.fingerprint) if commit else Detail.PLAIN
    return Detail.STRUCTURED if structure else Detail.PLAIN


def has_same_vectors(first: str, second: str) -> bool:
    """Whether two recipes cut and embed notes alike, whatever else they keep of them."""
    kind = f"|{TOKENIZER.partition('-')[0]}-"
    return first.partition(kind)[0] == second.partition(kind)[0]


def fits_recipe(embedder: Embedder, commit: Commit, *, exactly: bool = False) -> bool:
    """Say whether an index is as this version makes it with that embedder.

    Whatever read its facts besides: what was found is asked for in one way. ``exactly`` demands
    those of the registered extensions, and no others.
    """
    fingerprint = commit.fingerprint
    detail, languages = read_detail(fingerprint), read_languages(fingerprint)
    *first, last = fingerprint.split("|")
    locale = next((part for part in first if part.startswith(_LOCALE)), "")
    told = locale.removeprefix(_LOCALE)
    if exactly:
        return name_recipe(embedder, detail, languages, told) == fingerprint
    return first == _first_parts(embedder, languages, told) and _keeps_facts(last)


def check_recipe(commit: Commit, languages: Languages) -> None:
    """Raise ``WrongEmbedderError`` where an index keeps other things than this version reads.

    So it is where its words are not those of the languages that the settings name.
    """
    parts = commit.fingerprint.split("|")
    names = {part.partition("+")[0] for part in parts}
    if not {CHUNKER, TOKENIZER}.issubset(names) or not _keeps_facts(parts[-1]):
        raise WrongEmbedderError(_OTHER_VERSION)
    if read_languages(commit.fingerprint) != languages:
        raise WrongEmbedderError(_OTHER_LANGUAGES)


def _keeps_facts(part: str) -> bool:
    version = FACTS if read_detail(part) == Detail.PLAIN else signals.structure().version
    return part.partition("+")[0] == version


def is_embedder_of(embedder: Embedder, commit: Commit) -> bool:
    """Whether the vectors of an index are those that an embedder makes."""
    return commit.fingerprint.startswith(f"{embedder.fingerprint}|")


def describe_mismatch(embedder: Embedder, commit: Commit) -> str:
    """Say why an index does not fit this version, and which command makes it fit."""
    if is_embedder_of(embedder, commit):
        return _OTHER_VERSION
    return (
        f"the index was built with another version of {commit.embedder}; "
        "run `palace index --force` to build it again"
    )
