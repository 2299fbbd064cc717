"""``palace verify``."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from memory_palace.cli.group import Group, completed, note_below, read_input
from memory_palace.features.checking.verify import AnswerChecked, verify
from memory_palace.palace import Palace

verbs = Group()


@verbs.verb("verify")
def verify_answer(
    palace: Palace,
    file: Annotated[str, Argument(metavar="FILE", help="File with the answer; - for stdin.")] = "-",
    against: Annotated[
        list[str] | None,
        Option(
            "--against",
            metavar="NOTE",
            help="Note, lines of one (NOTE:10-20) or folder to compare with; repeatable. Without "
            "it the palace is searched.",
            autocompletion=completed("notes"),
        ),
    ] = None,
    text: Annotated[str | None, Option("--text", help="The answer itself.")] = None,
    strict: Annotated[
        bool,
        Option(
            "--strict", help="Exit 8 if anything is contradicted or not found, or a token fails."
        ),
    ] = False,
) -> AnswerChecked:
    """Check each sentence of an answer against the notes: whether they say so, or otherwise.

    Of a memory that is named the token is checked too: it shows that the note was read.

    Example: palace verify answer.txt --against "the thread in the funnel" --strict
    """
    if text is None:
        text = read_input(file, hint="; to give the answer itself, use --text")
    named = [note_below(palace, name) for name in against or ()]
    return AnswerChecked.of(verify(palace, text, named), is_strict=strict)
