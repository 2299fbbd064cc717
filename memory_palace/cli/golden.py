"""``palace golden``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from typer import Argument, Context, Typer

from memory_palace.cli.options import Json, completed, open_palace
from memory_palace.cli.printing import plural, print_answer, say, say_behind, to_record
from memory_palace.errors import CheckFailedError
from memory_palace.index.freshness import check_freshness
from memory_palace.workflow.golden import FIRST, Answered

app = Typer(no_args_is_help=True, help="Keep questions that the palace must go on answering.")
Question = Annotated[str, Argument(help="As somebody would ask it, in quotation marks.")]


@app.command("add")
def add(
    ctx: Context,
    question: Question,
    note: Annotated[
        list[str],
        Argument(help="A note that answers it, or several.", autocompletion=completed("notes")),
    ],
    as_json: Json = False,
) -> None:
    """Add a question and the note that answers it; of several notes, any is an answer.

    Example: palace golden add "who has the key of the hut" "long evening"
    """
    palace = open_palace(ctx)
    added = palace.golden.add(question, *note)
    lines = [f"{added.question}  ->  {path}" for path in added.notes]
    print_answer(to_record(added) | {"file": str(palace.paths.golden)}, lines, as_json=as_json)


@app.command("list")
def list_questions(ctx: Context, as_json: Json = False) -> None:
    """List the golden questions, each with the notes that answer it.

    Example: palace golden list
    """
    found = open_palace(ctx).golden.list()
    lines = (f"{each.question}  ->  {', '.join(each.notes)}" for each in found)
    print_answer({"golden": to_record(found)}, lines, as_json=as_json)
    if not (found or as_json):
        say('there is no golden question; `palace golden add "QUESTION" NOTE` adds one')


@app.command("remove")
def remove(ctx: Context, question: Question, as_json: Json = False) -> None:
    """Forget a golden question.

    Example: palace golden remove "who has the key of the hut"
    """
    palace = open_palace(ctx)
    palace.golden.remove(question)
    left = len(palace.golden.list())
    print_answer({"left": left}, [f"{plural(left, 'question')} left"], as_json=as_json)


@app.command("check")
def check(ctx: Context, as_json: Json = False) -> None:
    """Ask all golden questions as `palace query` would; exit 8 if one finds none of its notes.

    Example: palace golden check
    """
    palace = open_palace(ctx)
    asked = palace.golden.check()
    failing = [one for one in asked if one.rank is None]
    record = {
        "asked": len(asked),
        "any_at_1": sum(one.rank == 1 for one in asked),
        f"any_at_{FIRST}": len(asked) - len(failing),
        "golden": to_record(asked),
    }
    print_answer(record, _report(asked, failing), as_json=as_json)
    if behind := check_freshness(palace.paths, palace.config, palace.snapshot()).behind:
        say(say_behind(behind))
    if failing:
        count = plural(len(failing), "golden question")
        raise CheckFailedError(f"{count} without an answer among the first {FIRST}")


def _report(asked: Sequence[Answered], failing: Sequence[Answered]) -> Iterator[str]:
    first = sum(one.rank == 1 for one in asked)
    yield f"asked         {len(asked)}"
    yield f"first         {first}"
    yield f"first {FIRST}       {len(asked) - len(failing)}"
    for one in failing:
        yield f"not answered  {one.question}"
        yield from (f"  wanted      {path}" for path in one.notes)
        yield from (f"  not there   {name}" for name in one.unknown)
        yield f"  found       {one.found[0] if one.found else 'nothing'}"
