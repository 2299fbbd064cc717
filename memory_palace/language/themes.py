"""Themes that a text can have whatever its subject is. One so far: looking back on one's life."""

from __future__ import annotations

import re
from collections.abc import Mapping

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
_STEMS = ("nostalg", "reminisc", "child", "grow", "grew", "memor", "used to", "old", "days")
_MORE_STEMS = ("when i", "when we", "as a ", "back", "in my ", "school", "first ", "tradition")
_REUNION = "reunion"


def find_themes(text: str) -> tuple[str, ...]:
    """Return the names of the themes that a text has."""
    lowered = text.casefold()
    if not any(stem in lowered for stem in (*_STEMS, *_MORE_STEMS, _REUNION)):
        return ()
    return tuple(name for name, pattern in THEMES.items() if pattern.search(lowered))
