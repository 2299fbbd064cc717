"""Every test of what a claim says otherwise than a passage, by one name each.

A test is one function ``(claim, passage, alignment) -> differences``. ``passage`` is the sentence,
or the two or three, that the claim was found in; ``alignment.around`` is all of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.categories import find_opposed_words, find_other_names
from memory_palace.checking.copying import find_copied_changes, find_other_connections
from memory_palace.checking.denial import find_denied_words
from memory_palace.checking.exchanges import find_exchanges, find_traded_places
from memory_palace.checking.foreign import find_foreign_changes
from memory_palace.checking.order import find_turned_orders
from memory_palace.checking.quantities import find_other_numbers
from memory_palace.checking.roles import find_turned_roles
from memory_palace.checking.times import find_other_times
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import Wording

DifferenceTest: TypeAlias = Callable[[Wording, Wording, Alignment], Iterator[Difference]]

TESTS: Mapping[str, DifferenceTest] = MappingProxyType(
    {
        "other times": find_other_times,
        "other numbers": find_other_numbers,
        "copied changes": find_copied_changes,
        "denied words": find_denied_words,
        "opposed words": find_opposed_words,
        "turned roles": find_turned_roles,
        "turned orders": find_turned_orders,
        "other connections": find_other_connections,
        "exchanges": find_exchanges,
        "traded places": find_traded_places,
        "other names": find_other_names,
    }
)
"""In the order in which differences are shown: amounts and times as wholes, before their words."""
FOREIGN_TESTS: Mapping[str, DifferenceTest] = MappingProxyType(
    {
        "other numbers": find_other_numbers,
        "other times": find_other_times,
        "foreign changes": find_foreign_changes,
    }
)
"""For a claim that is not in English: in German every noun is written like a name."""


def find_differences(claim: Wording, passage: Wording, alignment: Alignment) -> list[Difference]:
    """Return what all tests find, in their order, each once; where not in English, those of it."""
    is_told = claim.tongue != "unclear"
    tongue = claim.tongue if is_told else alignment.around.tongue
    tests = FOREIGN_TESTS if tongue == "other" else TESTS
    found = (each for test in tests.values() for each in test(claim, passage, alignment))
    return list(dict.fromkeys(found))
