"""Themes that a text can have whatever its subject is. One so far: looking back on one's life."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from memory_palace.language.vocabulary import word_set

THEMES: Mapping[str, re.Pattern[str]] = {
    "nostalgia": re.compile(
        r"\b(?:nostalgi\w*|reminisc\w*|childhood|growing up|grew up|good old days|old times?|"
        r"back in the day|back then|when (?:i|we) (?:was|were) (?:a |an |still )?"
        r"(?:kids?|child|children|young\w*|little|teen\w*|boys?|girls?|students?|small)|"
        r"as a (?:kid|child|teen\w*|boy|girl|student)|in my (?:youth|teens|twenties|school days)|"
        r"high[- ]school (?:days|years|reunion|memories|friends?|sweetheart)|"
        r"(?:college|school|university) days|fond(?:est)? memor\w+|(?:old|precious|happy|cherished|"
        r"early|earliest|favou?rite|special|treasured) memor(?:y|ies)|memories of|"
        r"brings? back|brought back|takes? me back|took me back|walk down memory lane|"
        r"used to (?:play|go|love|live|watch|spend|visit|make|sing|read|listen|have|be)|"
        r"those days|miss(?:ed)? (?:those|the old)|first (?:love|crush|kiss)|"
        r"family tradition|reunion)\b",
        re.I,
    )
}
_HINTS = word_set(
    """nostalgia nostalgic nostalgically reminisce reminisced reminiscing reminiscent childhood
    growing grew old back then when kid child teen teenager boy girl student youth teens twenties
    school college university memory memories brings brought takes took memory used days miss
    missed first tradition reunion"""
)


def find_themes(text: str, keys: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the names of the themes that a text has.

    ``keys``, its casefolded words where they are known, spare the search in most texts.
    """
    if keys is not None and _HINTS.isdisjoint(keys):
        return ()
    lowered = text.casefold()
    return tuple(name for name, pattern in THEMES.items() if pattern.search(lowered))
