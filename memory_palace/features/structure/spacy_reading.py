"""Names and phrases of a passage: by patterns, or by spaCy where the settings say so.

Questions are always read by patterns, because loading a pipeline takes seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any, NamedTuple, TypeAlias

from memory_palace.errors import MissingPartError
from memory_palace.features.structure.grammar import Relation, find_phrases, find_relations
from memory_palace.language.names import Name, find_known, find_names
from memory_palace.language.tagged_words import END, Part, Word, split_words
from memory_palace.libraries import install_command

PATTERNS = "patterns"
"""The setting ``structure`` unless it names spaCy."""
_NO_NAMES = frozenset(("DATE", "TIME", "CARDINAL", "ORDINAL", "PERCENT", "MONEY", "QUANTITY"))
_LEFT_OUT = frozenset((Part.FUNCTION, Part.DETERMINER, Part.NUMBER, Part.BREAK))
_LONGEST = 4


class Utterance(NamedTuple):
    """A part of a passage, and who says it."""

    who: str
    text: str
    words: list[Word]


class Reading(NamedTuple):
    """What was found in the parts of a passage, in order."""

    names: Sequence[Name]
    phrases: Sequence[tuple[Word, ...]]
    """The last word of each is its head."""
    relations: Sequence[Relation]


Reader: TypeAlias = Callable[[Sequence[Utterance], Collection[str]], Reading]
"""Reads the parts of a passage, given the keys of names that are known."""


def read_by_patterns(said: Sequence[Utterance], known: Collection[str]) -> Reading:
    """Read a passage without any model."""
    words = [word for part in said for word in (*part.words, END)]
    names = find_names(words, known)
    return Reading(names, find_phrases(words), _find_relations(said, names))


def _find_relations(said: Sequence[Utterance], names: Sequence[Name]) -> list[Relation]:
    people = frozenset(word.key for name in names for word in name)
    found = (find_relations(part.words, people, writer=part.who) for part in said)
    return [relation for relations in found for relation in relations]


def choose_reader(structure: str) -> Reader:
    """Return the reader that the setting names: patterns, or spaCy.

    Raise ``MissingPartError`` where spaCy or its pipeline is not here, or does not load.
    """
    return read_by_patterns if structure == PATTERNS else _load(need_pipeline())


def name_reader(structure: str) -> str:
    """Name the reader and its version: the patterns, or spaCy and its pipeline."""
    if structure == PATTERNS:
        return f"{PATTERNS}-1"
    pipeline = need_pipeline()
    return f"spacy-{metadata.version('spacy')}+{pipeline}-{metadata.version(pipeline)}"


@cache
def need_pipeline() -> str:
    """Return the package of the English spaCy pipeline that is installed, the first by name.

    Raise ``MissingPartError`` where there is none.
    """
    entries = metadata.entry_points(group="spacy_models") if find_spec("spacy") else ()
    names = sorted(entry.name for entry in entries if entry.name.startswith("en_"))
    if not names:
        raise MissingPartError(
            "`structure: spacy` in the settings needs spaCy and an English pipeline; run "
            f"`{install_command('nlp')}`, then `python -m spacy download en_core_web_sm`"
        )
    return names[0]


@cache
def _load(pipeline: str) -> Reader:
    spacy = import_module("spacy")
    try:
        nlp = spacy.load(pipeline)
    except (OSError, ValueError) as error:
        raise MissingPartError(
            f"the spaCy pipeline {pipeline} is installed and cannot be loaded: {error}; install "
            "it again, or take `structure: spacy` out of the settings"
        ) from error

    def read(said: Sequence[Utterance], known: Collection[str]) -> Reading:
        return read_documents(said, list(nlp.pipe(part.text for part in said)), known)

    return read


def read_documents(
    said: Sequence[Utterance], docs: Sequence[Any], known: Collection[str]
) -> Reading:
    """Turn what spaCy found in each part (a parsed ``Doc``) into a reading."""
    names: list[Name] = []
    phrases: list[tuple[Word, ...]] = []
    for part, doc in zip(said, docs, strict=True):
        names += [words for entity in doc.ents if (words := _name(entity))]
        names += find_known(part.words, known)
        phrases += [words for chunk in doc.noun_chunks if (words := _phrase(chunk))]
    distinct = list(dict.fromkeys(names))
    return Reading(distinct, phrases, _find_relations(said, distinct))


def _name(entity: Any) -> Name:
    if entity.label_ in _NO_NAMES:
        return ()
    words = [word for word in split_words(str(entity.text)) if word.key]
    while words and words[0].part == Part.DETERMINER:
        words.pop(0)
    return tuple(words)


def _phrase(chunk: Any) -> tuple[Word, ...]:
    """Return the words of a noun chunk up to its head, articles and numbers left out."""
    end = int(chunk.root.i) - int(chunk.start) + 1
    words = split_words(str(chunk[:end].text))
    kept = [word for word in words if word.part not in _LEFT_OUT]
    return tuple(kept[-_LONGEST:]) if kept and words and kept[-1] is words[-1] else ()
