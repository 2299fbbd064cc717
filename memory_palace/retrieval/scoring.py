"""Weighted signals: quickly for all candidates, exactly for those that may be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.models import Contribution, Scores
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.evidence import Places
from memory_palace.retrieval.gate import Gate
from memory_palace.retrieval.profiles import Profile
from memory_palace.retrieval.signals.table import measure

_MICRO = 1_000_000
_DECIMALS = 6
_NONE = np.int64(0)

Exact = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a query scores: a profile, and a gate where it has one."""

    profile: Profile
    gate: Gate | None

    def weights(self, signal: str, context: SearchContext) -> Scores:
        """Return the weight of a signal per candidate, after the gate."""
        weight = np.float32(self.profile.weights[signal])
        if self.gate is None or signal not in self.profile.gated:
            return np.full(len(context.cosines), weight)
        weights: Scores = weight * self.gate.openings(context.cosines)
        return weights


@dataclass(frozen=True, slots=True)
class Scored:
    """Candidates with exact scores, each the sum of what is shown of it."""

    context: SearchContext
    values: dict[str, Exact]
    weights: dict[str, Exact]
    parts: dict[str, NDArray[np.int64]]
    """What each signal adds, in millionths."""
    scores: NDArray[np.int64]
    """In millionths: whole numbers add up without rounding."""

    def contributions(self, place: int) -> tuple[Contribution, ...]:
        """Return the lines of one candidate's score."""
        return tuple(
            Contribution(
                signal,
                float(self.values[signal][place]),
                float(self.weights[signal][place]),
                int(self.parts[signal][place]) / _MICRO,
            )
            for signal in self.parts
        )

    def score(self, place: int) -> float:
        """Return one candidate's score: the sum of its contributions, rounded to 6 decimals."""
        return int(self.scores[place]) / _MICRO

    def order(self) -> Places:
        """Return the candidates, best first; ties by path, then line, then row."""
        lines = self.context.snapshot.row_lines[:, 0]
        first_lines = lines[self.context.rows] if len(lines) else np.zeros_like(self.context.rows)
        return np.lexsort((self.context.rows, first_lines, self.context.notes, -self.scores))


def score_quickly(context: SearchContext, rule: Rule) -> Scores:
    """Return the score per candidate in single precision, to choose what to look at."""
    totals: Scores = np.zeros(len(context.cosines), np.float32)
    inside = np.flatnonzero(rule.gate.reaches(context.cosines)) if rule.gate else None
    for signal in rule.profile.weights:
        if inside is not None and signal in rule.profile.gated:
            # Few passages are inside the gate: the others need no look at their metadata.
            near = context.pick(inside)
            totals[inside] += rule.weights(signal, near) * measure(signal, near)
        else:
            totals += rule.weights(signal, context) * measure(signal, context)
    return totals - _excess_quickly(context, rule)


def _excess_quickly(context: SearchContext, rule: Rule) -> Scores:
    """Return by how much the signals of low precision exceed their cap."""
    profile = rule.profile
    capped: Scores = np.zeros(len(context.cosines), np.float32)
    for signal in sorted(profile.capped & profile.weights.keys()):
        capped += np.float32(profile.weights[signal]) * measure(signal, context)
    excess: Scores = np.maximum(capped - np.float32(profile.cap), 0)
    return excess


def score_exactly(context: SearchContext, rule: Rule) -> Scored:
    """Score candidates as they are shown.

    Values and weights are rounded to 6 decimals first, each product is rounded to 6 decimals,
    and the score is the sum of the rounded products.
    """
    values = {signal: _rounded(measure(signal, context)) for signal in rule.profile.weights}
    weights = {signal: _rounded(rule.weights(signal, context)) for signal in values}
    parts = {
        signal: np.rint(values[signal] * weights[signal] * _MICRO).astype(np.int64)
        for signal in values
    }
    if rule.profile.capped:
        _cap(rule.profile, values, weights, parts)
    total = np.zeros(len(context.cosines), np.int64)
    for part in parts.values():
        total += part
    return Scored(context, values, weights, parts, total)


def _cap(
    profile: Profile,
    values: dict[str, Exact],
    weights: dict[str, Exact],
    parts: dict[str, NDArray[np.int64]],
) -> None:
    """Add the line that takes away what signals of low precision have above their cap."""
    total = sum((parts[signal] for signal in sorted(profile.capped & parts.keys())), start=_NONE)
    excess = np.maximum(total - round(profile.cap * _MICRO), 0)
    values["cap"] = excess / _MICRO
    weights["cap"] = np.full(len(excess), -1.0)
    parts["cap"] = -excess


def _rounded(values: Scores) -> Exact:
    exact: Exact = values.astype(np.float64)
    return np.round(exact, _DECIMALS, out=exact)
