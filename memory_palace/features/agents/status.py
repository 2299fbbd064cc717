"""The state of the hooks, as ``palace status`` shows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memory_palace.features.agents.hook_log import HookHealth, read_health
from memory_palace.palace import Palace
from memory_palace.shown import SPREAD, Shown


@dataclass(frozen=True, slots=True)
class HookStatus(Shown):
    """The last call of a hook, the last that failed, and the hooks that fail."""

    health: HookHealth = field(metadata=SPREAD)

    def lines(self) -> Iterator[str]:
        """Return the calls, then a line for each hook that fails."""
        last, failure = self.health.last, self.health.failure
        calls = [("called", last), ("failed", failure if failure != last else None)]
        for verb, record in calls:
            if record is not None:
                words = (record.get(key) for key in ("time", "event", "harness", "result", "why"))
                yield f"last {verb} {', '.join(str(word) for word in words if word)}"
        yield from (f"fails: {line}" for line in self.health.failing)

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        """Return the hooks that fail."""
        return (f"a hook fails: {line}" for line in self.health.failing)


def read_status(palace: Palace) -> HookStatus:
    """Return the state of the hooks of a palace."""
    return HookStatus(read_health(palace.paths))
