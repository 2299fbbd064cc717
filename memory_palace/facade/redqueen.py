"""The Red Queen: report what is not found as people ask for it, and propose what helps."""

from __future__ import annotations

from memory_palace.changes.changing import Outcome, undo_change
from memory_palace.facade.verb import Feature, Verb
from memory_palace.redqueen.history import COMMAND, find_round, read_history
from memory_palace.redqueen.rounds import run


class RedQueen(Feature):
    """Rounds of questions about the memories of a palace."""

    run = Verb(run)
    history = Verb(read_history)
    show = Verb(find_round)

    def undo(self, identity: str | None = None, *, apply: bool = False) -> Outcome:
        """Take back a round, by default the last, unless one of its notes was changed since."""
        command = COMMAND if identity is None else None
        found = None if identity is None else find_round(self.engine, identity).identity
        return undo_change(self.engine, command=command, identity=found, apply=apply)
