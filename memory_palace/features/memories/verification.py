"""Check answers for verification tokens, score retrievals, and lint memories.

A token in an answer proves that a memory was read (provenance), unless it can be guessed or read
elsewhere; the feature ``checking`` judges truth. Messages of flaws do not quote a token, because
whoever is being checked sees them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memory_palace.errors import CheckFailedError
from memory_palace.features.memories.form import (
    CONTENT,
    IMAGE,
    MOST_FACTORS,
    Form,
    Memory,
    count_score,
    find_tokens,
)
from memory_palace.kinds import Flaw, TokenVerdict
from memory_palace.language.visible import drop_markers, find_markers
from memory_palace.language.words import SPACED_WORD, STOPWORDS, UNSPACED

_WORD = re.compile(f"{UNSPACED}|{SPACED_WORD}")
"""A whole word, unlike the stems and parts of language/words: a token matches only as written. In
scripts without spaces every character is a word."""


def holds_token(response: str, token: str) -> bool:
    """Return whether a response contains a token as consecutive whole words.

    Always false for a token without words, such as ``—`` or an empty one.
    """
    words, wanted = fold_words(response), fold_words(token)
    starts = range(len(words) - len(wanted) + 1)
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in starts)


def fold_words(text: str) -> list[str]:
    """Return the words of a text in NFKC, casefolded; hyphens, punctuation and line ends separate.

    For comparing tokens, which people copy with or without punctuation. Accents are kept, because
    they distinguish words; apostrophes inside a word are dropped.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return [word.replace("'", "").replace("’", "") for word in _WORD.findall(folded)]


def drop_token(text: str, token: str) -> str:
    """Return a text with every occurrence of a token replaced by a space."""
    wanted = fold_words(token)
    words = [(word, *m.span()) for m in _WORD.finditer(text) for word in fold_words(m[0])]
    kept, end = [], 0
    for at in range(len(words) - len(wanted) + 1 if wanted else 0):
        phrase = words[at : at + len(wanted)]
        if [word for word, _, _ in phrase] == wanted and phrase[0][1] >= end:
            kept.append(text[end : phrase[0][1]])
            end = phrase[-1][2]
    return " ".join([*kept, text[end:]])


class VerificationChecker:
    """Checks responses for tokens, with the names and signatures of source document 000.

    With ``strict_mode``, ``require`` raises ``CheckFailedError`` for a response without its token;
    otherwise it returns the explanation.
    """

    def __init__(self, strict_mode: bool = True) -> None:  # the document's signature
        self.strict_mode = strict_mode

    def extract_token(self, memory_image: str) -> str | None:
        """Return the first token of an image that is not blank, or ``None``."""
        return next(iter(find_tokens(memory_image)), None)

    def check_response(self, response: str, expected_token: str | None) -> tuple[bool, str]:
        """Return whether a response passes, and an explanation; without a token it passes."""
        outcome = check_tokens(response, [expected_token] if expected_token else [])
        if outcome == TokenVerdict.NOT_APPLICABLE:
            return True, "No verification token required"
        if outcome == TokenVerdict.HELD:
            return True, f"Verification token '{expected_token}' found"
        return False, f"HALLUCINATION SUSPECTED: Token '{expected_token}' not found"

    def require(self, response: str, expected_token: str | None) -> str:
        """Return the explanation; in strict mode raise ``CheckFailedError`` for a missing token."""
        is_valid, explanation = self.check_response(response, expected_token)
        if self.strict_mode and not is_valid:
            raise CheckFailedError(explanation)
        return explanation


def check_tokens(response: str, tokens: Sequence[str]) -> TokenVerdict:
    """Return the verdict whether a response contains any of a memory's tokens.

    Tokens without a word are ignored: ``NOT_APPLICABLE`` if none is left. ``lint`` reports them.
    """
    real = [token for token in tokens if fold_words(token)]
    if not real:
        return TokenVerdict.NOT_APPLICABLE
    is_held = any(holds_token(response, token) for token in real)
    return TokenVerdict.HELD if is_held else TokenVerdict.MISSING


ALPHA, BETA, GAMMA = 0.5, 0.3, 0.2
"""Weights of cosine, token and SMASHIN SCOPE (source document 000, without a measurement)."""


def calculate_retrieval_score(
    memory: Memory,
    query: str,  # the document's signature: the question is compared by its vector alone
    query_embedding: Sequence[float],
    response: str,
    alpha: float = ALPHA,
    beta: float = BETA,
    gamma: float = GAMMA,
) -> float:
    """Return ``(α·sim + β·verify + γ·smashin/12) / (α+β+γ)``, 0 to 1; a negative cosine counts 0.

    For a memory without a token the term of β is left out. Raise ``ValueError`` for weights that
    are negative, not finite or all zero.
    """
    verdict = check_tokens(response, memory.verify_tokens)
    parts = [
        (alpha, max(0.0, cosine_similarity(memory.embedding, query_embedding))),
        (gamma, memory.smashin_score / MOST_FACTORS),
    ]
    if verdict != TokenVerdict.NOT_APPLICABLE:
        parts.append((beta, float(verdict == TokenVerdict.HELD)))
    weights = [weight for weight, _ in parts]
    if any(weight < 0 or not math.isfinite(weight) for weight in weights) or not sum(weights):
        raise ValueError(f"weights must be finite, not negative and not all zero, not {weights}")
    return min(1.0, sum(weight * value for weight, value in parts) / sum(weights))


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the cosine of two vectors of equal length, from -1 to 1.

    Return 0 without a warning if either vector is zero, empty or not finite. Raise ``ValueError``
    for vectors of different lengths, neither of them empty.
    """
    one, other = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if not one.size or not other.size:
        return 0.0
    if one.shape != other.shape:
        raise ValueError(f"vectors of shapes {one.shape} and {other.shape} cannot be compared")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return 0.0
    # Squares of huge or tiny numbers are out of range: scale each vector by its largest component.
    one, other = (each / (np.max(np.abs(each)) or 1) for each in (one, other))
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(np.dot(one, other) / length, -1, 1)) if length else 0.0


LEAST_WORDS = 2
"""Fewest content words of a token, stop words aside; source document 000 asks for 3 to 5 words."""


class VisibleWords:
    """The folded words of all notes, without verification markers, to search for tokens."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """``texts`` maps a note's path to its visible text: title, aliases, body."""
        self._words = {path: f" {' '.join(fold_words(text))} " for path, text in texts.items()}

    def holding(self, token: str) -> list[str]:
        """Return the paths of the notes that contain a token, sorted."""
        words = fold_words(token)
        phrase = f" {' '.join(words)} "
        return sorted(path for path, text in self._words.items() if words and phrase in text)

    def words_of(self, path: str) -> frozenset[str]:
        return frozenset(self._words.get(path, "").split())


def lint_tokens(form: Form, corpus: VisibleWords, others: Sequence[Form] = ()) -> list[Flaw]:
    """Return the flaws of a memory's tokens.

    Flaws are blank or unclosed markers, and tokens with fewer than ``LEAST_WORDS`` content words,
    shared with another memory, found in a note's text, or made only of words of their own memory.
    """
    return [*_lint_markers(form), *_lint_phrases(form, corpus, others)]


def _lint_markers(form: Form) -> Iterator[Flaw]:
    for marker in find_markers(form.body):
        line = form.body_first_line + marker.line - 1
        if not fold_words(marker.token):
            yield Flaw(
                form.path, line, "the verification marker is blank; write three to five words"
            )
        if not marker.is_closed:
            yield Flaw(form.path, line, "the verification marker is not closed; end it with ]")


def _lint_phrases(form: Form, corpus: VisibleWords, others: Sequence[Form]) -> Iterator[Flaw]:
    lines = {m.token: form.body_first_line + m.line - 1 for m in find_markers(form.body)}
    for token in form.tokens:
        words = fold_words(token)
        for message in _faults(token, words, form, corpus, others) if words else ():
            yield Flaw(form.path, lines.get(token), f"the token {message}")


def _faults(
    token: str, words: Sequence[str], form: Form, corpus: VisibleWords, others: Sequence[Form]
) -> Iterator[str]:
    telling = [word for word in words if word not in STOPWORDS]
    if len(telling) < LEAST_WORDS:
        yield f"has fewer than {LEAST_WORDS} meaningful words; three to five are hard to guess"
    for other in others:
        if other.path != form.path and any(_is_part(words, fold_words(t)) for t in other.tokens):
            yield f"is also the token of {other.path}"
    holding = corpus.holding(token)
    if holding:
        yield f"stands in the text of {', '.join(holding[:3])}: readable without the image"
    elif telling and corpus.words_of(form.path).issuperset(telling):
        yield "consists of words of its own memory; choose unrelated words"


def _is_part(one: Sequence[str], other: Sequence[str]) -> bool:
    first, second = f" {' '.join(one)} ", f" {' '.join(other)} "
    return bool(other) and (first in second or second in first)


IMAGE_CHARACTERS = 300, 500
CONTENT_WORDS = 50, 150
"""Lengths that source document 000 recommends; ``lint`` gives them as advice, not as errors."""


def lint_memory(form: Form, corpus: VisibleWords, others: Sequence[Form] = ()) -> list[Flaw]:
    """Return errors and advice on one memory; ``others`` are all memories, this one included."""
    flaws = [*_lint_sections(form), *_lint_figures(form), *lint_tokens(form, corpus, others)]
    if not form.anchors and not form.names:
        flaws.append(_advise(form, "no anchor; add a few words to find it by"))
    if not form.tokens and not any(flaw.is_error for flaw in flaws):
        message = "no token, so reading it cannot be proved; add [Verify: three unlikely words]"
        flaws.append(_advise(form, message))
    return flaws


def _lint_sections(form: Form) -> Iterator[Flaw]:
    for name in (IMAGE, CONTENT):
        if not drop_markers(form.sections.get(name, "")).strip():
            yield Flaw(form.path, None, f"the section {name} is missing or empty")
    image = len(" ".join(drop_markers(form.sections.get(IMAGE, "")).split()))
    words = len(form.sections.get(CONTENT, "").split())
    for size, (least, most), what in (
        (image, IMAGE_CHARACTERS, "characters of image"),
        (words, CONTENT_WORDS, "words of content"),
    ):
        if size and not least <= size <= most:
            yield _advise(form, f"{size} {what}; {least} to {most} are remembered best")


def _lint_figures(form: Form) -> Iterator[Flaw]:
    score = form.stated_score
    if score is not None and score > MOST_FACTORS:
        yield Flaw(form.path, None, f"SMASHIN {score}/12 is out of range; use 0 to 12")
    elif form.marks and score is not None and score != count_score(form.marks):
        message = (
            f"SMASHIN {score}/12 is stated, {count_score(form.marks)} are marked; "
            "`palace memory score` counts again"
        )
        yield Flaw(form.path, None, message)
    elif score and not form.marks:
        yield _advise(form, f"SMASHIN {score}/12 has no factors listed; run `palace memory score`")
    if form.stated_confidence is not None and not 0 <= form.stated_confidence <= 1:
        yield Flaw(form.path, None, "confidence is out of range; write 0 to 1, n/5 or n %")


def _advise(form: Form, message: str) -> Flaw:
    return Flaw(form.path, None, message, is_error=False)
