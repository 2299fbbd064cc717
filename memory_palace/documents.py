"""Re-exports of the classes and functions that source document 000 specifies."""

from __future__ import annotations

from memory_palace.features.memories.form import Memory
from memory_palace.features.memories.hierarchy import HierarchicalIndex
from memory_palace.features.memories.verification import (
    VerificationChecker,
    calculate_retrieval_score,
    cosine_similarity,
)
from memory_palace.features.redqueen.session import Evaluation, Question, Strategy, run_red_queen

__all__ = [
    "Evaluation",
    "HierarchicalIndex",
    "Memory",
    "Question",
    "Strategy",
    "VerificationChecker",
    "calculate_retrieval_score",
    "cosine_similarity",
    "run_red_queen",
]
