"""How near a claim is to a memory by what they mean, from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from memory_palace.language.word_lists import STOPWORDS
from memory_palace.mnemonics.claims import Wording
from memory_palace.models import Matrix, Vector

EmbedTokens: TypeAlias = Callable[[str], tuple[list[str], Matrix]]
"""Gives the pieces of a text and one unit vector for each, as the text around makes it."""


def measure_by_meaning(
    claim: Wording, sentences: Sequence[Wording], embed_tokens: EmbedTokens
) -> float:
    """Return how near a claim is to a memory, word by word and as a whole, half each."""
    words = _match_words(claim, sentences, embed_tokens)
    return (words + _match_whole(claim, sentences, embed_tokens)) / 2


def _match_words(claim: Wording, sentences: Sequence[Wording], embed_tokens: EmbedTokens) -> float:
    """Return how well the sentence that explains a claim best explains each of its words.

    Every word of the claim counts by its highest cosine with a word of the sentence (the precision
    of BERTScore, Zhang et al., 2020). Words that say nothing by themselves are left out.
    """
    pieces, vectors = embed_tokens(claim.text)
    telling = [at for at, piece in enumerate(pieces) if _is_telling(piece)]
    chosen = vectors[telling] if telling else vectors
    if not len(chosen):
        return 0.0
    found = [embed_tokens(sentence.text)[1] for sentence in sentences]
    means = [np.max(chosen @ near.T, axis=1).mean() for near in found if len(near)]
    return max(0.0, float(max(means, default=0.0)))


def _match_whole(claim: Wording, sentences: Sequence[Wording], embed_tokens: EmbedTokens) -> float:
    """Return the highest cosine with a clause, a sentence, or two sentences in a row."""
    texts = [sentence.text for sentence in sentences]
    texts += [f"{one} {following}" for one, following in pairwise(texts)]
    texts += [clause.text for sentence in sentences for clause in sentence.clauses]
    mine = _pool(embed_tokens(claim.text)[1])
    return max(0.0, *(float(mine @ _pool(embed_tokens(text)[1])) for text in dict.fromkeys(texts)))


def _pool(vectors: Matrix) -> Vector:
    """Return the unit vector of a text: the mean of its words' vectors."""
    total: Vector = vectors.sum(axis=0)
    norm = float(np.linalg.norm(total))
    return total / norm if norm else total


def _is_telling(piece: str) -> bool:
    return piece.startswith("##") or (piece not in STOPWORDS and piece[0].isalnum())
