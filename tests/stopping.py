"""Stop a run at a call that reaches the disk, as a power cut would."""

import os
from collections.abc import Callable, Sequence

import pytest

DYING = """
import os, signal, sys
def die_at(left, *names, by=signal.SIGKILL):
    def dying(call):
        def step(*arguments, **options):
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), by)
            return call(*arguments, **options)
        return step
    for name in names:
        setattr(os, name, dying(getattr(os, name)))
"""
"""Start of a program whose ``die_at`` lets it kill itself before the n-th of some calls."""


class Stopped(BaseException):
    """Stands in for a power cut: nothing may catch it and carry on."""


def steps_of(
    run: Callable[[], object],
    monkeypatch: pytest.MonkeyPatch,
    calls: Sequence[str],
    *,
    stop_at: int | None = None,
) -> int:
    """Run, counting these calls of ``os``; raise ``Stopped`` before call ``stop_at``."""
    count = 0
    for name in calls:
        real = getattr(os, name)

        def step(
            *arguments: object, _real: Callable[..., object] = real, **options: object
        ) -> object:
            nonlocal count
            count += 1
            if count == stop_at:
                raise Stopped
            return _real(*arguments, **options)

        monkeypatch.setattr(os, name, step)
    try:
        run()
    finally:
        monkeypatch.undo()
    return count


def is_stopped(
    run: Callable[[], object], monkeypatch: pytest.MonkeyPatch, calls: Sequence[str], *, at: int
) -> bool:
    """Run until a call; say whether it was reached."""
    try:
        steps_of(run, monkeypatch, calls, stop_at=at)
    except Stopped:
        return True
    return False
