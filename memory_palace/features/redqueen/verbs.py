"""``palace redqueen``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Option

from memory_palace.cli.group import Apply, Group
from memory_palace.dialogue import open_dialogue
from memory_palace.features.redqueen.llm import ModelRoles
from memory_palace.features.redqueen.rounds import MODEL_QUESTIONS, QUESTIONS, Round
from memory_palace.features.redqueen.session import Strategy
from memory_palace.palace import Palace

redqueen = Group("Report what is not found as people ask for it.")


@redqueen.verb("run")
def run(
    palace: Palace,
    strategy: Annotated[
        Strategy, Option("--strategy", help="Which notes to examine first.")
    ] = Strategy.WEAK_SPOTS,
    questions: Annotated[
        int | None,
        Option(
            "--questions",
            min=1,
            max=10_000,
            help=f"Maximum number of questions: {QUESTIONS}, with --model {MODEL_QUESTIONS}.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, Option("--seed", help="The same seed and notes give the same round.")] = 0,
    model: Annotated[
        str | None,
        Option("--model", help="Model of the llm library that asks, answers and proposes."),
    ] = None,
    apply: Apply = False,
) -> Round:
    """Test the search with queries made from the words of links and questions.

    Reports notes not found, and notes taken for each other. With --model, a model reads the
    notes instead, and proposes questions, names and images for three of them.

    Example: palace redqueen run --strategy adversarial
    """
    dialogue = open_dialogue(model) if model is not None else None
    played = palace.redqueen.run(
        strategy=strategy,
        question_count=questions or (MODEL_QUESTIONS if dialogue else QUESTIONS),
        seed=seed,
        roles=ModelRoles(dialogue) if dialogue else None,
        apply=apply,
    )
    return replace(played, spent=dialogue.spent()) if dialogue else played
