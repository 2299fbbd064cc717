"""What source document 001 adds: the passage's words, phrases, names, relations, wishes, quotes.

Each looks at words and facts alone. Precision is low where a signal is silent of the right passages
too, or speaks of many wrong ones; what those add together is capped (``ranking.LOW_PRECISION``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.facts.fact import FactKind
from memory_palace.facts.keys import ANY, preference_key
from memory_palace.language.tokens import stem_word
from memory_palace.language.word_lists import STOPWORDS, answer_stems
from memory_palace.models import Scores
from memory_palace.retrieval.context import SearchContext
from memory_palace.retrieval.signals.time import temporal

LEAST_SHARE = 0.2
"""Of the content words; below it the overlap is incidental (source document 001)."""
LEAST_WORDS = 2
"""The same in words ("roughly two"), where the question has as many."""
RELATION, OPEN, ENTITY = 1.0, 0.6, 0.3
"""What a whole relation, one with an open part, and an entity add (chosen, not tuned)."""
CROWD = 0.3
"""Where more than this share of the candidate notes has the best score, it is dampened (source
document 001, which does not say how much: here by ``CROWD / share``, so that it is continuous)."""
_TOLERANCE = 1e-6
OF_HOLDER, OF_ANYBODY, SOME = 1.0, 0.7, 0.3
"""What a passage gets for a preference of the one that is asked about for the thing that is asked
about, for one of anybody, and for any other preference of the former (chosen, not tuned)."""
_WRITER = "i"
_QUOTED_AS = (FactKind.QUOTE, FactKind.PHRASE, FactKind.ENTITY, FactKind.LINK, FactKind.TAG)
ALL_WORDS = 0.6
"""For a passage that holds all words of a quote of two or more, perhaps apart (chosen)."""
_ORDER_STEMS = frozenset(
    map(stem_word, "first then before after later earlier finally next last since until".split())
)
_NAMED_AS = (FactKind.ENTITY, FactKind.LINK, FactKind.TAG)
WORDS_ALONE = 0.8
"""For all words of a name that is no entity there: written small, or first in a sentence."""
PARTIAL = (1.0, 0.7, 0.4)
"""What a passage gets for a whole phrase, for its last two words, and for its head alone."""


def described(context: SearchContext) -> Scores:
    """Return the standardised BM25 of what names or describes each candidate, or 0.

    Title, aliases, headings, tags, names, phrases and preferences: the enriched text of source
    document 001, compared by words.
    """
    scores: Scores = context.evidence.extras[context.rows]
    return scores


def overlap(context: SearchContext) -> Scores:
    """Return the share of the question's content words per candidate, in [0, 1]. Precision: low.

    Whole stemmed words count: "case" is not in "showcase".
    """
    words, found = context.analysis.words, context.silence()
    if not words:
        return found
    for word in words:
        found += context.mark(context.words.rows(word))
    share = found / np.float32(len(words))
    enough = (share >= LEAST_SHARE) & (found >= min(LEAST_WORDS, len(words)))
    scores: Scores = np.where(enough, share, np.float32(0)).astype(np.float32)
    return scores


def logic(context: SearchContext) -> Scores:
    """Return the weighted share of the question's facts, in [0, 1]. Precision: low."""
    return _dampen(context, logic_undamped(context))


def logic_undamped(context: SearchContext) -> Scores:
    """Return the same without dampening, for the ablation that asks what dampening is worth."""
    wanted = [
        (FactKind.RELATION, k, OPEN if ANY in k else RELATION) for k in context.analysis.relations
    ]
    wanted += [(FactKind.ENTITY, key, ENTITY) for key in context.analysis.names]
    scores, total = context.silence(), 0.0
    for kind, key, weight in wanted:
        total += weight
        value = weight * _rarity(context, kind, key)
        if value:
            scores += np.float32(value) * context.mark(context.facts.rows(kind, key))
    if not scores.any():
        return scores
    share: Scores = np.minimum(scores / np.float32(total), np.float32(1))
    return share


def _dampen(context: SearchContext, scores: Scores) -> Scores:
    if not scores.any():
        return scores
    is_best = scores >= scores.max() - _TOLERANCE
    notes = len(np.unique(context.notes[context.notes >= 0]))
    found = len(np.unique(context.notes[is_best])) / notes if notes > 1 else 0.0
    share = context.snapshot.statistics.figure("crowd", found)
    damped: Scores = scores * np.float32(CROWD / share if share > CROWD else 1)
    return damped


def preference(context: SearchContext) -> Scores:
    """Return how well a stated preference answers, in [0, 1]; silent unless one is asked for."""
    analysis = context.analysis
    scores = context.silence()
    if not analysis.asks_preference:
        return scores
    holders = analysis.names or (_WRITER,)
    for holder in holders:
        _raise(context, scores, preference_key(holder, ANY), SOME)
    for subject in analysis.words:
        _raise(context, scores, preference_key(ANY, subject), OF_ANYBODY)
        for holder in holders:
            _raise(context, scores, preference_key(holder, subject), OF_HOLDER)
    return scores


def _raise(context: SearchContext, scores: Scores, key: str, value: float) -> None:
    rows = context.facts.rows(FactKind.PREFERENCE, key)
    if len(rows):
        np.maximum(scores, np.float32(value) * context.mark(rows), out=scores)


def noun_phrase(context: SearchContext) -> Scores:
    """Return the share of the question's noun phrases in each candidate, the rarer the more.

    In [0, 1]. A phrase that no passage holds, even in part, counts as one that is not matched. The
    bridge of source document 001 compares phrase embeddings; its distance of 1.58 is a squared one
    of its vector store and means nothing here (SPEC R8). This one compares the stems of phrases.
    """
    total, scores = 0.0, context.silence()
    for keys in context.analysis.phrases:
        found = context.silence()
        best = 0.0
        shares = (PARTIAL[0], *(PARTIAL[1] if " " in key else PARTIAL[2] for key in keys[1:]))
        for key, share in zip(keys, shares, strict=True):
            weight = _rarity(context, FactKind.PHRASE, key)
            if weight:
                best = max(best, weight)
                rows = context.mark(context.facts.rows(FactKind.PHRASE, key))
                np.maximum(found, np.float32(share * weight) * rows, out=found)
        scores += found
        total += best or 1.0
    if total:
        scores /= np.float32(total)
    return np.minimum(scores, np.float32(1), out=scores)


def ordering(context: SearchContext) -> Scores:
    """Return the share of phrases in candidates that say when, in [0, 1]. Precision: low.

    Silent unless the question asks what came before what. Source document 001 gives its ordering
    signals no more than a name; a passage that tells an order names a thing, and when it was.
    """
    if not context.analysis.asks_order:
        return context.silence()
    rows = [context.words.rows(stem) for stem in sorted(answer_stems("when") | _ORDER_STEMS)]
    says_when = context.mark(np.concatenate(rows))
    scores: Scores = np.multiply(says_when, noun_phrase(context), dtype=np.float32)
    return scores


def quoted(context: SearchContext) -> Scores:
    """Return the share of the question's quotes that each candidate holds, in [0, 1]."""
    quotes = context.analysis.quotes if context.analysis.is_english else ()
    scores = context.silence()
    for quote in quotes:
        words = [word for word in quote.split() if word not in STOPWORDS]
        holds = _holds_all(context, words if len(words) > 1 else ())
        scores += np.maximum(_is_kept(context, _QUOTED_AS, quote), np.float32(ALL_WORDS) * holds)
    if quotes:
        scores /= np.float32(len(quotes))
    return scores


def _is_kept(context: SearchContext, kinds: Sequence[FactKind], key: str) -> NDArray[np.bool_]:
    """Say for each candidate whether it has a fact of that key, of any of some kinds."""
    rows = [context.facts.rows(kind, key) for kind in kinds]
    return context.mark(np.concatenate(rows))


def _holds_all(context: SearchContext, words: Collection[str]) -> NDArray[np.bool_]:
    """Say for each candidate whether it holds all of some stems; of none, no candidate does."""
    holds = np.full(len(context.rows), bool(words))
    for word in words:
        holds &= context.mark(context.words.rows(word))
    return holds


def name(context: SearchContext) -> Scores:
    """Return the share of the question's names that each candidate holds, in [0, 1]."""
    names = context.analysis.names
    scores = context.silence()
    for name in names:
        holds = _holds_all(context, [stem_word(word) for word in name.split()])
        scores += np.maximum(_is_kept(context, _NAMED_AS, name), np.float32(WORDS_ALONE) * holds)
    if names:
        scores /= np.float32(len(names))
    return scores


def theme(context: SearchContext) -> Scores:
    """Return 1 for candidates with a theme of the question, else 0."""
    scores = context.silence()
    for theme in context.analysis.themes:
        scores[_is_kept(context, (FactKind.THEME,), theme)] = 1
    return scores


def temporal_phrase(context: SearchContext) -> Scores:
    """Return nearness in time times the share of phrases, in [0, 1]. Precision: high.

    Tells apart the passages of one day: among those in the date window of the question, the ones
    that share its noun phrases (source document 001).
    """
    if not (context.times and context.analysis.phrases):
        return context.silence()
    near = temporal(context)
    if not near.any():
        return near
    scores: Scores = np.multiply(near, noun_phrase(context), dtype=np.float32)
    return scores


def _rarity(context: SearchContext, kind: str, key: str) -> float:
    """Return how telling a fact is, in (0, 1]: ``1 / (1 + ln(frequency))``; 0 if nothing has it.

    Unlike an idf it needs no count of passages, so that adding notes without the fact changes
    nothing.
    """
    frequency = context.facts.document_frequency(kind, key)
    return 1 / (1 + float(np.log(frequency))) if frequency else 0.0
