"""What is wrong with a memory note, as a person should hear it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memory_palace.language.markers import drop_markers
from memory_palace.mnemonics.form import CONTENT, IMAGE, Form
from memory_palace.mnemonics.memory_values import MOST_FACTORS
from memory_palace.mnemonics.token_lint import Flaw, VisibleWords, lint_tokens

IMAGE_CHARACTERS = 300, 500
CONTENT_WORDS = 50, 150
"""What source document 000 asks for; advice, not errors."""
ANCHOR_WORDS = 6
"""Words of the longest anchor: it is a cue, no summary."""


def lint_memory(form: Form, corpus: VisibleWords, others: Sequence[Form] = ()) -> list[Flaw]:
    """Return errors and advice on one memory; ``others`` are all memories, itself included."""
    flaws = [
        *_lint_sections(form),
        *_lint_figures(form),
        *_lint_anchors(form, others),
        *lint_tokens(form, corpus, others),
    ]
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
    elif form.marks and score is not None and score != form.counted_score:
        message = (
            f"SMASHIN {score}/12 is stated, {form.counted_score} are marked; "
            "`palace memory score` counts again"
        )
        yield Flaw(form.path, None, message)
    elif score and not form.marks:
        yield _advise(form, f"SMASHIN {score}/12 has no factors listed; run `palace memory score`")
    if form.stated_confidence is not None and not 0 <= form.stated_confidence <= 1:
        yield Flaw(form.path, None, "confidence is out of range; write 0 to 1, n/5 or n %")


def _lint_anchors(form: Form, others: Sequence[Form]) -> Iterator[Flaw]:
    if not form.anchors and not form.names:
        yield _advise(form, "no anchor; add a few words to find it by")
    for anchor in form.anchors:
        if len(anchor.split()) > ANCHOR_WORDS:
            yield _advise(form, f"the anchor “{anchor}” has more than {ANCHOR_WORDS} words")
    for other in others:
        shared = {a.casefold() for a in form.anchors} & {a.casefold() for a in other.anchors}
        if other.path != form.path and shared:
            yield _advise(form, f"the anchor “{min(shared)}” leads to {other.path} too")


def _advise(form: Form, message: str) -> Flaw:
    return Flaw(form.path, None, message, is_error=False)
