"""From retrieval to belief: the only thing that candidates may do to a status."""

from __future__ import annotations

from collections.abc import Sequence

from memory_palace.navigation.belief import BeliefState
from memory_palace.navigation.candidates import Candidate


def apply_memory_retrieval(
    belief: BeliefState, candidates: Sequence[Candidate], threshold: float
) -> None:
    """Set the candidates of a belief in place, and promote ``searching`` where the best is enough.

    Every other status stays, whatever the scores. Returns nothing, so that nobody takes it for a
    function of its arguments.
    """
    belief["candidate_nodes"] = [
        {"node_id": int(found["node_id"]), "score": float(found["score"])} for found in candidates
    ]
    if belief["target_status"] == "searching" and passes(candidates, threshold):
        belief["target_status"] = "likely_in_memory"


def passes(candidates: Sequence[Candidate], threshold: float) -> bool:
    """Whether the best candidate reaches the threshold, which counts as reaching it."""
    return bool(candidates) and candidates[0]["score"] >= threshold
