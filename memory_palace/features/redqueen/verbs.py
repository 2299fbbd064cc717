"""``palace redqueen``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from typer import Argument, Context, Option, Typer

from memory_palace.cli.old_changes import show_change
from memory_palace.cli.options import Apply, Json, completed, open_palace
from memory_palace.dialogue import open_dialogue
from memory_palace.errors import CheckFailedError
from memory_palace.features.redqueen.history import PastRound
from memory_palace.features.redqueen.llm import model_roles
from memory_palace.features.redqueen.round_values import Strategy
from memory_palace.features.redqueen.rounds import MODEL_QUESTIONS, QUESTIONS
from memory_palace.features.redqueen.shown import round_lines, round_record, round_remarks
from memory_palace.features.tasks.golden import FIRST, Answered
from memory_palace.index.freshness import check_freshness
from memory_palace.shown import plural, print_answer, say, say_behind, to_record

app = Typer(no_args_is_help=True, help="Report what is not found as people ask for it.")
Asked = Annotated[
    int | None,
    Option(
        "--questions",
        min=1,
        max=10_000,
        help=f"Maximum number of questions: {QUESTIONS}, with --model {MODEL_QUESTIONS}.",
        show_default=False,
    ),
]


@app.command("run")
def run_round(
    ctx: Context,
    strategy: Annotated[
        Strategy, Option("--strategy", help="Which notes to examine first.")
    ] = Strategy.WEAK_SPOTS,
    questions: Asked = None,
    seed: Annotated[int, Option("--seed", help="The same seed and notes give the same round.")] = 0,
    model: Annotated[
        str | None,
        Option("--model", help="Model of the llm library that asks, answers and proposes."),
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Ask the search what people ask, in the words of links, headings and questions.

    Reported are notes that are not found, notes taken for each other, memories nobody reviews and
    names that notes share. Proposed are links that are missing, on three notes at a time.

    Example: palace redqueen run --strategy adversarial
    """
    palace = open_palace(ctx)
    dialogue = open_dialogue(model) if model is not None else None
    played = palace.redqueen.run(
        strategy=strategy,
        question_count=questions or (MODEL_QUESTIONS if dialogue else QUESTIONS),
        seed=seed,
        roles=model_roles(dialogue) if dialogue else None,
        apply=apply,
    )
    spent = dialogue.spent() if dialogue else None
    print_answer(round_record(played, spent), round_lines(played), as_json=as_json)
    if not as_json:
        for remark in round_remarks(played):
            say(remark)
        if played.outcome.diff:
            show_change(played.outcome, as_json=False)
        elif apply:
            say("nothing is proposed, so nothing was changed")
    if spent is not None:
        say(spent)
    elif not played.uses_vectors:
        say("there are no vectors, so only words were compared; run `palace index`")


@app.command("history")
def history(
    ctx: Context,
    identity: Annotated[
        str | None, Argument(help="Id of a round, to see its gaps and changed notes.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the rounds that were applied, oldest first, or show one of them.

    Example: palace redqueen history
    """
    kept = open_palace(ctx).redqueen
    rounds = [kept.show(identity)] if identity is not None else kept.history()
    lines = []
    before: float | None = None
    for past in rounds:
        change = "" if before is None else f"  {past.score - before:+.2f}"
        undone = "  undone" if past.is_undone else ""
        lines.append(
            f"{past.identity}  {past.strategy}  {plural(past.questions, 'question')}  "
            f"score {past.score:.2f}{change}  {len(past.evolved)} changed{undone}"
        )
        before = past.score
        if identity is not None:
            lines += [f"changed  {path}" for path in past.evolved]
            lines += [f"gap      {path}: {gap}" for path, gap in past.gaps]
    print_answer({"rounds": list(map(_past_record, rounds))}, lines, as_json=as_json)


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
    """Add a golden question and the note that answers it; of several notes, any is an answer.

    Example: palace redqueen add "who has the key of the hut" "long evening"
    """
    palace = open_palace(ctx)
    added = palace.golden.add(question, *note)
    lines = [f"{added.question}  ->  {path}" for path in added.notes]
    print_answer(to_record(added) | {"file": str(palace.paths.golden)}, lines, as_json=as_json)


@app.command("list")
def list_questions(ctx: Context, as_json: Json = False) -> None:
    """List the golden questions, each with the notes that answer it.

    Example: palace redqueen list
    """
    found = open_palace(ctx).golden.list()
    lines = (f"{each.question}  ->  {', '.join(each.notes)}" for each in found)
    print_answer({"golden": to_record(found)}, lines, as_json=as_json)
    if not (found or as_json):
        say('there is no golden question; `palace redqueen add "QUESTION" NOTE` adds one')


@app.command("check")
def check(ctx: Context, as_json: Json = False) -> None:
    """Ask all golden questions as `palace query` would; exit 8 if one finds none of its notes.

    Example: palace redqueen check
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


def _past_record(past: PastRound) -> dict[str, Any]:
    gaps = [{"path": path, "gap": gap} for path, gap in past.gaps]
    record: dict[str, Any] = to_record(past)
    return record | {"gaps": gaps}
