"""What a process that embeds for a build runs: texts come in, vectors go out, one slice at a time.

``Processes`` starts it. It ends with its standard input, so with the build, however that ends.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence

from memory_palace.embedding.workers import Made, make_vectors
from memory_palace.errors import PalaceError


def main() -> None:
    """Answer until no more is asked; what a library prints goes where errors go."""
    with os.fdopen(0, "rb", closefd=False) as tasks, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while tasks.peek(1):
            pickle.dump(_answer(*pickle.load(tasks)), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()


def _answer(
    name: str, fingerprint: str, texts: Sequence[str], are_questions: bool
) -> Made | PalaceError:
    try:
        return make_vectors(name, fingerprint, texts, are_questions)
    except PalaceError as error:
        return error
