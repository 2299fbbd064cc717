"""Questions that people wrote as the text of a link: the note that it leads to answers them."""

from __future__ import annotations

from collections.abc import Iterator

from memory_palace.graph.resolve import fold_name
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.readable import read_question
from memory_palace.redqueen.vault_names import VaultNames

_WORTH = 2.0
_POINTING = frozenset("it its this that these those here there he she they his her their".split())
"""Words that a question cannot have that stands alone."""


def find_questions(vault: VaultNames) -> Iterator[tuple[float, RoundProposal]]:
    """Yield questions for the field ``questions``, with their worth."""
    for targets in vault.said.values():
        for path, said in targets.items():
            shown = said[0].shown
            if len(targets) > 1 or not shown.endswith(("?", "？")):
                continue
            question = read_question(shown)
            document = vault.documents[path]
            known = (*vault.names_of(path), document.stem, *document.texts("questions"))
            known += tuple(heading.text for heading in vault.texts[path].markup.headings)
            taken = {fold_name(name).rstrip("?？") for name in known}
            words = {word.strip("?,.") for word in question.casefold().split()}
            if (
                question
                and not words & _POINTING
                and fold_name(question).rstrip("?？") not in taken
            ):
                reason = f"{said[0].path}:{said[0].line} asks it and links here"
                yield _WORTH, RoundProposal("question", path, question, reason=reason)
