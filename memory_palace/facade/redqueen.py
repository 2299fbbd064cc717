"""The Red Queen: ask memories from their cues alone, and mend those that are not found."""

from __future__ import annotations

from memory_palace.changes.changing import Outcome, undo_change
from memory_palace.facade.verb import Feature, Verb
from memory_palace.redqueen import rounds


class RedQueen(Feature):
    """Rounds of questions about the memories of a palace."""

    run = Verb(rounds.run)
    history = Verb(rounds.read_history)
    show = Verb(rounds.find_round)

    def undo(self, identity: str | None = None, *, apply: bool = False) -> Outcome:
        """Take back a round, by default the last, unless one of its notes was changed since."""
        command = rounds.COMMAND if identity is None else None
        found = None if identity is None else rounds.find_round(self.engine, identity).identity
        return undo_change(self.engine, command=command, identity=found, apply=apply)
