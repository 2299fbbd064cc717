"""``palace metabolism``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from typer import Argument, Option

from memory_palace.changes.changing import Outcome
from memory_palace.cli.group import Apply, Group, Note, completed
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.metabolism.cold_zone import Leak
from memory_palace.features.metabolism.cycle import Report
from memory_palace.palace import Palace
from memory_palace.shown import Shown, plural

metabolism = Group("Keep what outlives a project; archive the rest.")


@metabolism.verb("report")
def report(palace: Palace) -> Report:
    """Report what is ready to promote and what is stale, with the evidence. Changes nothing.

    Example: palace metabolism report
    """
    return palace.metabolism.report()


@dataclass(frozen=True)
class Distilled(Outcome):
    """A telegraph that was planned or written."""

    evidence: tuple[str, ...] = ()

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        yield from Outcome.remarks(self, as_json=as_json)
        yield from () if as_json else self.evidence


@metabolism.verb("distill")
def distill(
    palace: Palace,
    card: Annotated[str, Argument(help="A completed card.", autocompletion=completed("cards"))],
    apply: Apply = False,
) -> Distilled:
    """Condense a completed card to a telegraph, and say what was left out.

    Headings and labels such as Problem, Tried, Fix and Lesson decide; of more than 400 tokens the
    rest is left out. A part that the card does not have is absent.
    Example: palace metabolism distill recover-april-readings
    """
    return Distilled.of(palace.metabolism.distill(card, apply=apply))


@metabolism.verb("promote")
def promote(
    palace: Palace,
    note: Note,
    kind: Annotated[str, Option("--as", help="principle, kernel, failure, path or constitution.")],
    section: Annotated[
        list[str] | None, Option("--section", help='"NAME=text"; repeatable.')
    ] = None,
    decided_by: Annotated[
        str | None,
        Option("--decided-by", help="Who accepts a candidate: one of `deciders` in the settings."),
    ] = None,
    apply: Apply = False,
) -> Outcome:
    """Promote a note if every gate is open; otherwise name what is missing and exit 8.

    A candidate that a person accepts becomes a rule of the constitution.
    Example: palace metabolism promote 2026-05-20-recovering-april --as principle
    """
    sections: dict[str, str] = {}
    for text in section or ():
        name, equals, words = text.partition("=")
        if not equals or not name.strip() or not words.strip():
            raise UsageError(f'write a section as "NAME=text", not {text!r}')
        sections[name.strip()] = words.strip()
    return palace.metabolism.promote(
        note, kind, sections=sections, decided_by=decided_by, apply=apply
    )


@dataclass(frozen=True)
class Eliminated(Outcome):
    """A run of reverse elimination that was planned or done."""

    held: tuple[str, ...] = ()
    """Steps left undone, each with the reason."""

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        yield from Outcome.remarks(self, as_json=as_json)
        yield from () if as_json else (f"held: {line}" for line in self.held)


@metabolism.verb("apply")
def apply_steps(palace: Palace, apply: Apply = False) -> Eliminated:
    """Carry out what report proposes: demote, archive, supersede, return, open conflicts.

    All of it is one change, and one undo takes it back. A note with uncommitted edits is left
    alone.
    Example: palace metabolism apply --apply
    """
    return Eliminated.of(palace.metabolism.eliminate(apply=apply))


@metabolism.verb("archive")
def archive(palace: Palace, note: Note, apply: Apply = False) -> Outcome:
    """Move a note into the archive, where ordinary queries do not look.

    Example: palace metabolism archive "old radio plan" --apply
    """
    return palace.cold_zone.archive(note, apply=apply)


@metabolism.verb("restore")
def restore(palace: Palace, note: Note, apply: Apply = False) -> Outcome:
    """Move an archived note back to where it was.

    Example: palace metabolism restore "old radio plan" --apply
    """
    return palace.cold_zone.restore(note, apply=apply)


@dataclass(frozen=True, slots=True)
class ColdCheck(Shown):
    """Cold paths where none may be."""

    leaks: Sequence[Leak]

    def lines(self) -> Iterable[str]:
        nothing = "no cold path in manifest, index, graph or a test query"
        return map(str, self.leaks) if self.leaks else [nothing]

    def failure(self) -> CheckFailedError | None:
        count = plural(len(self.leaks), "cold path")
        message = f"{count} leaked; run `palace metabolism cold --fix`"
        return CheckFailedError(message) if self.leaks else None


@metabolism.verb("cold")
def check_cold(
    palace: Palace,
    fix: Annotated[
        bool, Option("--fix", help="First take cold lines out of the manifest and rebuild.")
    ] = False,
) -> ColdCheck:
    """Check that no cold path is in manifest, index, graph or a test query; exit 8 if one is.

    Example: palace metabolism cold
    """
    if fix:
        palace.cold_zone.fix()
    return ColdCheck(palace.cold_zone.check())
