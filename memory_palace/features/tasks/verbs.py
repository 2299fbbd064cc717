"""``palace task``, ``palace conflict``, and the golden questions of ``palace redqueen``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from memory_palace.changes.changing import Outcome
from memory_palace.cli.group import Apply, Group, completed
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.tasks.cards import Card
from memory_palace.features.tasks.conflicts import Conflict, Quote
from memory_palace.features.tasks.golden import GoldenCheck
from memory_palace.index.snapshot import check_freshness
from memory_palace.notes.golden import GoldenQuestion
from memory_palace.palace import Palace
from memory_palace.shown import Shown, plural

task = Group("Manage task cards, which lie in dispatch_corridor.")
CardName = Annotated[
    str,
    Argument(
        help="Path, file name, slug, task_id or title of a card, or a part of one.",
        autocompletion=completed("cards"),
    ),
]
Reason = Annotated[str, Option("--reason", help="Why, in one line.")]


@dataclass(frozen=True, slots=True)
class OneCard(Shown):
    """One card."""

    card: Card

    def lines(self) -> Iterable[str]:
        return self.card.lines()


@dataclass(frozen=True, slots=True)
class Cards(Shown):
    """Cards, by state and path."""

    cards: Sequence[Card]

    def lines(self) -> Iterable[str]:
        return (f"{card.state:<9}  {card.owner:<8}  {card.path}" for card in self.cards)


@dataclass(frozen=True, slots=True)
class CardFaults(Shown):
    """Contradictions between cards and their folders, and missing parts."""

    faults: Sequence[str]

    def lines(self) -> Iterable[str]:
        return self.faults

    def failure(self) -> CheckFailedError | None:
        count = plural(len(self.faults), "fault")
        return CheckFailedError(f"{count} in task cards") if self.faults else None


@task.verb("new")
def new(
    palace: Palace,
    title: Annotated[str, Argument(help="What is to be done.")],
    owner: Annotated[str, Option("--owner", help="Who does it.")],
    project: Annotated[str, Option("--project", help="Project room it belongs to.")],
    goal: Annotated[str, Option("--goal", help="What is true once it is done.")],
    check: Annotated[
        list[str] | None, Option("--check", help="Acceptance check; repeatable.")
    ] = None,
    output: Annotated[
        list[str] | None, Option("--output", help="Path or [[link]] it produces; repeatable.")
    ] = None,
    apply: Apply = False,
) -> Outcome:
    """Create an active card.

    Example: palace task new "Swap packs" --owner wren --project winter-2026
    --goal "Fresh packs" --check "all swapped" --apply
    """
    return palace.tasks.new(
        title,
        owner=owner,
        project=project,
        goal=goal,
        checks=check or (),
        outputs=output or (),
        apply=apply,
    )


@task.verb("list")
def list_cards(
    palace: Palace,
    state: Annotated[
        str | None, Option("--state", help="Only this state: active, blocked or completed.")
    ] = None,
) -> Cards:
    """List cards with state, owner and path.

    Example: palace task list --state active
    """
    return Cards(palace.tasks.list(state=state))


@task.verb("show")
def show_card(palace: Palace, card: CardName) -> OneCard:
    """Show what a card asks for and how far it has come.

    Example: palace task show winter-battery-swap
    """
    return OneCard(palace.tasks.show(card))


@task.verb("tick")
def tick(
    palace: Palace,
    card: CardName,
    check: Annotated[
        str, Argument(metavar="N", help="Number of the check, or a text that only one of them has.")
    ],
    untick: Annotated[bool, Option("--untick", help="Take the tick back.")] = False,
    apply: Apply = False,
) -> Outcome:
    """Tick an acceptance check of a card; `palace task show` numbers them.

    Example: palace task tick leave-on-paper 1 --apply
    """
    return palace.tasks.tick(card, check, untick=untick, apply=apply)


@task.verb("start")
def start(
    palace: Palace,
    card: CardName,
    reason: Annotated[str, Option("--reason", help="Why a completed card is open again.")] = "",
    apply: Apply = False,
) -> Outcome:
    """Make a blocked card active again, or a completed one, which needs a reason.

    Example: palace task start heated-hygrometer-trial --apply
    """
    return palace.tasks.move("start", card, reason=reason, apply=apply)


@task.verb("block")
def block(palace: Palace, card: CardName, reason: Reason, apply: Apply = False) -> Outcome:
    """Set an active card aside and say what it is waiting for.

    Example: palace task block leave-on-paper --reason "the owner is away" --apply
    """
    return palace.tasks.move("block", card, reason=reason, apply=apply)


@task.verb("complete")
def complete(palace: Palace, card: CardName, apply: Apply = False) -> Outcome:
    """Close a card. Exits 8 unless all checks are ticked and all outputs exist.

    Example: palace task complete leave-on-paper --apply
    """
    return palace.tasks.move("complete", card, apply=apply)


@task.verb("lint")
def lint_cards(palace: Palace) -> CardFaults:
    """Report every card that contradicts its folder or lacks a part; exit 8 if there is one.

    Example: palace task lint
    """
    return CardFaults(palace.tasks.lint())


conflict = Group("Record and resolve claims that contradict each other.")


@dataclass(frozen=True, slots=True)
class ConflictList(Shown):
    """ConflictList, by path."""

    conflicts: Sequence[Conflict]

    def lines(self) -> Iterable[str]:
        return (f"{one.status:<8}  {one.kind:<13}  {one.path}" for one in self.conflicts)


@dataclass(frozen=True, slots=True)
class OneConflict(Shown):
    """A conflict, and the standing of what it quotes."""

    conflict: Conflict
    claims: Sequence[Quote]

    def lines(self) -> Iterable[str]:
        yield from self.conflict.lines()
        for claim in self.claims:
            yield f"{claim.standing}: {claim.path}:{claim.first_line}-{claim.last_line}"
        yield self.conflict.document.section("Decision")


@conflict.verb("open")
def open_(
    palace: Palace,
    first: Annotated[
        str,
        Argument(help="A note, or lines of one: NOTE:12-15.", autocompletion=completed("notes")),
    ],
    second: Annotated[
        str,
        Argument(help="The note or lines that contradict it.", autocompletion=completed("notes")),
    ],
    by: Annotated[str, Option("--by", help="Who raises the conflict.")],
    title: Annotated[str, Option("--title", help="What they disagree about.")] = "",
    kind: Annotated[
        str, Option("--kind", help="contradiction, duplicate, stale or policy.")
    ] = "contradiction",
    evidence: Annotated[
        list[str] | None, Option("--evidence", help="One line of evidence; repeatable.")
    ] = None,
    apply: Apply = False,
) -> Outcome:
    """Record that two notes disagree. Answers mark both as disputed until it is resolved.

    Example: palace conflict open "accumulated knowledge of Wren:12-14" "first siting draft"
    --by sable --apply
    """
    return palace.conflicts.open(
        first, second, title=title, kind=kind, raised_by=by, evidence=evidence or (), apply=apply
    )


@conflict.verb("list")
def list_conflicts(
    palace: Palace,
    conflict: Annotated[
        str | None,
        Argument(
            help="One conflict, to be shown with the standing of what it quotes.",
            autocompletion=completed("conflicts"),
        ),
    ] = None,
    everything: Annotated[bool, Option("--all", help="Include resolved conflicts.")] = False,
) -> ConflictList | OneConflict:
    """List open conflicts, or show one and whether the notes still say what was quoted.

    Example: palace conflict list mast-height-at-saddle-hut
    """
    if conflict is not None:
        return OneConflict(*palace.conflicts.show(conflict))
    return ConflictList(palace.conflicts.list(include_closed=everything))


@conflict.verb("resolve")
def resolve(
    palace: Palace,
    conflict: Annotated[
        str,
        Argument(
            help="Path, file name, slug, conflict_id or title of a conflict.",
            autocompletion=completed("conflicts"),
        ),
    ],
    decision: Annotated[str, Option("--decision", help="What is true from now on, and why.")],
    by: Annotated[str, Option("--by", help="The person who decides.")],
    winner: Annotated[str | None, Option("--winner", help="The note that is right.")] = None,
    line: Annotated[
        str | None, Option("--line", help="Lines of the other note that no longer hold: 12-15.")
    ] = None,
    whole: Annotated[bool, Option("--whole", help="All of the other note is superseded.")] = False,
    wontfix: Annotated[bool, Option("--wontfix", help="Leave both notes as they are.")] = False,
    apply: Apply = False,
) -> Outcome:
    """Close a conflict by a person's decision.

    Below what lost stands a line that says so, with the decision and a link to what holds.

    Example: palace conflict resolve mast-height --winner "accumulated knowledge of Wren"
    --decision "3.2 metres, because of snow" --by "Jean-Luc Perrin" --apply
    """
    if (winner is None) != wontfix:
        raise UsageError("give either --winner NOTE or --wontfix")
    if sum(map(bool, (line, whole))) > (0 if wontfix else 1):
        raise UsageError("give one of --line and --whole, and none with --wontfix")
    return palace.conflicts.resolve(
        conflict, winner=winner, decision=decision, by=by, line=line, whole=whole, apply=apply
    )


golden = Group()


@dataclass(frozen=True, slots=True)
class GoldenAdded(Shown):
    """A golden question that was added."""

    question: str
    notes: tuple[str, ...]
    file: str

    def lines(self) -> Iterable[str]:
        return (f"{self.question}  ->  {path}" for path in self.notes)


@dataclass(frozen=True, slots=True)
class GoldenQuestions(Shown):
    """The golden questions, in the order of their file."""

    golden: Sequence[GoldenQuestion]

    def lines(self) -> Iterable[str]:
        return (f"{each.question}  ->  {', '.join(each.notes)}" for each in self.golden)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        if not (self.golden or as_json):
            yield 'there is no golden question; `palace redqueen add "QUESTION" NOTE` adds one'


@golden.verb("add")
def add(
    palace: Palace,
    question: Annotated[str, Argument(help="As somebody would ask it, in quotation marks.")],
    note: Annotated[
        list[str],
        Argument(help="A note that answers it, or several.", autocompletion=completed("notes")),
    ],
) -> GoldenAdded:
    """Add a golden question and the note that answers it; of several notes, any is an answer.

    Example: palace redqueen add "who has the key of the hut" "long evening"
    """
    added = palace.golden.add(question, *note)
    return GoldenAdded(added.question, added.notes, str(palace.paths.golden))


@golden.verb("list")
def list_golden(palace: Palace) -> GoldenQuestions:
    """List the golden questions, each with the notes that answer it.

    Example: palace redqueen list
    """
    return GoldenQuestions(palace.golden.list())


@golden.verb("check")
def check(palace: Palace) -> GoldenCheck:
    """Ask all golden questions as `palace query` would; exit 8 if one finds none of its notes.

    Example: palace redqueen check
    """
    asked = palace.golden.check()
    behind = check_freshness(palace.paths, palace.config, palace.snapshot()).behind
    return GoldenCheck.of(asked, behind=behind)
