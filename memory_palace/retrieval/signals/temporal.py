"""Whether a passage is from, or speaks of, the time that the question names. Precision: high."""

from __future__ import annotations

from memory_palace.models import Scores
from memory_palace.retrieval.matching import match_dates
from memory_palace.retrieval.structure import StructuredContext, silence


def score(context: StructuredContext) -> Scores:
    """Return the nearness of each candidate to the time asked for, in [0, 1].

    Full within the tolerance, and falling in a line to 0 at three times it (SPEC §4.2, which has
    the tolerances too). Silent where the question names no time.
    """
    if not context.analysis.dates:
        return silence(context)
    return match_dates(context)
