"""Names that a passage does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.checking.alignment import Alignment
from memory_palace.checking.verdicts import Difference
from memory_palace.checking.wording import UNITS, Wording
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import TIME_WORDS

_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][^\W\d_A-Z]{2,}[\w-]*")


def find_other_names(
    claim: Wording, passage: Wording, alignment: Alignment
) -> Iterator[Difference]:
    """Yield names that the text around does not have: capitalised where no sentence begins."""
    for match in _NAME.finditer(claim.text):
        stems = tokenize(match[0])
        known = {*alignment.around.stems, *UNITS}
        if match[0].casefold() not in TIME_WORDS and stems and known.isdisjoint(stems):
            reason = f"{match[0]} is not a name the passage gives"
            yield Difference("name", reason, match[0], "")
