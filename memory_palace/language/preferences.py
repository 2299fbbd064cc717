"""Likes, dislikes, wishes and plans: who wants what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from memory_palace.language.vocabulary import WORDS

Polarity = Literal["like", "dislike", "want", "plan"]


@dataclass(frozen=True, slots=True)
class Preference:
    """One statement. ``holder`` is ``i`` for the writer, else a casefolded name."""

    holder: str
    polarity: Polarity
    object: str
    """What is liked or wanted, as written, up to the end of the clause."""


_ADVERB = r"(?:(?:really|just|also|still|absolutely|always|definitely|totally|usually|often|do|so|"
_ADVERB += r"truly|especially|actually|generally|particularly|both|all|even|never)\s+){0,2}"
_LIKE = (
    r"(?:love[sd]?|like[sd]?|enjoy(?:s|ed)?|prefer(?:s|red)?|adore[sd]?|(?:am|'m|is|was|are|'re) "
    r"(?:a (?:big |huge )?fan of|fond of|into|obsessed with|passionate about|interested in|"
    r"keen on|crazy about)|can't get enough of)"
)
_DISLIKE = (
    r"(?:hate[sd]?|dislike[sd]?|detest(?:s|ed)?|loathe[sd]?|avoid(?:s|ed)?|can't stand|"
    r"cannot stand|(?:don't|do not|doesn't|does not|didn't|did not|never) (?:really )?"
    r"(?:like|enjoy|love|care for)|(?:am|'m|is|was|are|'re) (?:not (?:a fan of|into|fond of)|"
    r"allergic to|tired of|sick of|afraid of|scared of))"
)
_WANT = (
    r"(?:want(?:s|ed)?(?: to)?|wish(?:es|ed)? (?:to|for)|would (?:love|like|prefer)(?: to)?|"
    r"'d (?:love|like|prefer|rather)(?: to)?|hop(?:e|es|ed|ing) (?:to|for)|dream(?:s|ed)? of|"
    r"need(?:s|ed)?(?: to)?|(?:am|'m|is|are|'re) (?:looking for|hoping (?:to|for)|craving)|"
    r"(?:can't|cannot) wait (?:to|for)|look(?:s|ing)? forward to)"
)
_PLAN = (
    r"(?:plan(?:s|ned)?(?: to| on)?|intend(?:s|ed)? to|decided to|"
    r"(?:am|'m|is|are|'re|was) (?:planning(?: to| on)?|going to|thinking (?:of|about)|"
    r"considering|saving (?:up )?for|about to|training for))"
)
_OBJECT = r"\s+(?P<object>[^.,;:!?()\n—–\"“”]{3,80})"
_SUBJECT = r"(?P<subject>\b[Ii]|\b[Ww]e|\b[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
_STATEMENT = re.compile(
    rf"{_SUBJECT}(?=['’ ])\s*{_ADVERB}(?:(?P<dislike>{_DISLIKE})|(?P<want>{_WANT})|"
    rf"(?P<plan>{_PLAN})|(?P<like>{_LIKE})){_OBJECT}"
)
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
_LEADS = re.compile(r"^(?:(?:to|the|a|an|my|our|some|that|how|it when|when|of|about)\s+)+", re.I)
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
            yield Preference(holder, _polarity(match), wanted)
    for match in _FAVOURITE.finditer(text):
        owner = match["owner"].casefold()
        is_first = owner in ("my", "our")
        holder = writer if is_first else owner.removesuffix("'s")
        subject = match["what"].partition(" ")[2]
        yield Preference(holder, "like", f"{_clause(match['object'])} {subject}".strip())


def _polarity(match: re.Match[str]) -> Polarity:
    if match["dislike"]:
        return "dislike"
    if match["want"]:
        return "want"
    return "plan" if match["plan"] else "like"


def _clause(text: str) -> str:
    return _LEADS.sub("", _STOP.sub("", text)).strip()
