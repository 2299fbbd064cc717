"""What is wrong with a memory note, and with its tokens, as a person should hear it.

A token that can be had without reading proves nothing. No message quotes a token: what this says is
shown to whoever is being checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from memory_palace.features.memories.form import CONTENT, IMAGE, Form
from memory_palace.features.memories.memory_values import MOST_FACTORS
from memory_palace.features.memories.smashin import count_score
from memory_palace.features.memories.verification import fold_words
from memory_palace.kinds import Flaw
from memory_palace.language.markers import drop_markers, find_markers
from memory_palace.language.words import STOPWORDS

LEAST_WORDS = 2
"""Content words of a token; shorter ones are said by chance (source document 000: 3 to 5 words)."""


class VisibleWords:
    """The words of all notes, as a token is looked for in them. Markers are not among them."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Take the visible text of every note by path: title, other names and body."""
        self._words = {path: f" {' '.join(fold_words(text))} " for path, text in texts.items()}

    def holding(self, token: str) -> list[str]:
        """Return the notes that say a token, in path order."""
        words = fold_words(token)
        phrase = f" {' '.join(words)} "
        return sorted(path for path, text in self._words.items() if words and phrase in text)

    def words_of(self, path: str) -> frozenset[str]:
        return frozenset(self._words.get(path, "").split())


def lint_tokens(form: Form, corpus: VisibleWords, others: Sequence[Form] = ()) -> list[Flaw]:
    """Return the flaws of a memory's tokens.

    Blank and open markers, tokens of one word, tokens that another memory has, that stand in the
    text of a note, or that are made of words of their own memory alone.
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
    """Say whether either of two phrases holds the other."""
    first, second = f" {' '.join(one)} ", f" {' '.join(other)} "
    return bool(other) and (first in second or second in first)


IMAGE_CHARACTERS = 300, 500
CONTENT_WORDS = 50, 150
"""What source document 000 asks for; advice, not errors."""


def lint_memory(form: Form, corpus: VisibleWords, others: Sequence[Form] = ()) -> list[Flaw]:
    """Return errors and advice on one memory; ``others`` are all memories, itself included."""
    flaws = [
        *_lint_sections(form),
        *_lint_figures(form),
        *lint_tokens(form, corpus, others),
    ]
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
