"""What one command has opened of a palace is lent to the next."""

from __future__ import annotations

import os
from importlib import import_module

from typer import Context

from memory_palace.cli.serving.request import Refused
from memory_palace.cli.serving.unchanged import KnownFreshness
from memory_palace.errors import PalaceError
from memory_palace.palace import Palace
from memory_palace.places import SERVED

_ALONE = ("open_number", "refresh")
"""Options that need the client's terminal, or write the index."""


class Lender:
    """Holds the index and the models of one palace."""

    def __init__(self, root: str) -> None:
        """``root`` is absolute, with its links resolved."""
        self._root = root
        self._last: Palace | None = None
        self._freshness = KnownFreshness()

    def lend(self, ctx: Context, palace: Palace) -> None:
        """Give a palace that was just opened what the one before it has open.

        Raise ``Refused`` where it is another palace, or the command needs the client's terminal.
        """
        if os.path.realpath(palace.paths.root) != self._root:
            raise Refused("palace")
        if any(ctx.params.get(name) for name in _ALONE):
            raise Refused("alone")
        if self._last is not None:
            palace.adopt(self._last)
        palace.check_freshness = self._freshness.check
        self._last = palace

    def warm_up(self) -> None:
        """Import, open and embed what a question needs; what is wrong, a command will say."""
        for verb in SERVED:
            import_module(f"memory_palace.cli.{verb}")
        try:
            palace = Palace(self._root)
            palace.query("warm")
        except (PalaceError, OSError):
            return
        self._last = palace
