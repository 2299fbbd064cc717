"""Likes, dislikes, wishes and plans: who wants what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from memory_palace.language.vocabulary import WORDS
from memory_palace.language.word_lists import read_table

Polarity = Literal["like", "dislike", "want", "plan"]


@dataclass(frozen=True, slots=True)
class Preference:
    """One statement. ``holder`` is ``i`` for the writer, else a casefolded name."""

    holder: str
    polarity: Polarity
    object: str
    """What is liked or wanted, as written, up to the end of the clause."""


_VERBS = read_table("preferences.txt")
_OBJECT = r"\s+(?P<object>[^.,;:!?()\n—–\"“”]{3,80})"
_SUBJECT = r"(?P<subject>\b[Ii]|\b[Ww]e|\b[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
_KINDS = "|".join(f"(?P<{kind}>{_VERBS[kind]})" for kind in ("dislike", "want", "plan", "like"))
_STATEMENT = re.compile(rf"{_SUBJECT}(?=['’ ])\s*{_VERBS['adverb']}(?:{_KINDS}){_OBJECT}")
_FAVOURITE = re.compile(
    r"\b(?P<owner>[Mm]y|[Oo]ur|[A-Z][a-z]+'s) (?:all[- ]time )?"
    r"(?P<what>favou?rite(?: [\w-]+){0,3}?)"
    r" (?:is|are|was|were|has to be|would be)(?: (?:definitely|probably))?"
    r"\s+(?P<object>[^.,;:!?()\n\"“”]{3,60})"
)
_HINTS = WORDS["words of preference"]
"""Every statement has one of these words."""
_STOP = re.compile(
    r"\s(?:because|since|when|while|but|so|and (?:i|he|she|they|it|we)|which|that|as|if|although|"
    r"though|until|before|after)\s.*$",
    re.I,
)
_LEADS = re.compile(r"^(?:(?:to|the|a|an|my|our|some|that|how|it when|when|of|about)\s+)++", re.I)
_NOT_SUBJECTS = WORDS["no holders of preferences"]


def find_preferences(
    text: str, *, writer: str = "i", keys: Collection[str] | None = None
) -> Iterator[Preference]:
    """Yield the preferences that a text states, in order.

    ``writer`` is who its first person is. ``keys``, the casefolded words of the text where they
    are known, spare the search in texts without any such verb.
    """
    if keys is not None and _HINTS.isdisjoint(keys):
        return
    text = text.replace("’", "'")
    for match in _STATEMENT.finditer(text):
        subject = match["subject"].casefold()
        if subject in _NOT_SUBJECTS:
            continue
        holder = writer if subject in ("i", "we") else subject
        wanted = _clause(match["object"])
        if wanted:
            kind = next(kind for kind in get_args(Polarity) if match[kind])
            yield Preference(holder, kind, wanted)
    for match in _FAVOURITE.finditer(text):
        owner = match["owner"].casefold()
        is_first = owner in ("my", "our")
        holder = writer if is_first else owner.removesuffix("'s")
        subject = match["what"].partition(" ")[2]
        yield Preference(holder, "like", f"{_clause(match['object'])} {subject}".strip())


def _clause(text: str) -> str:
    return _LEADS.sub("", _STOP.sub("", text)).strip()
