"""Work: task cards, claims that contradict each other, and what must go on being answered."""

from __future__ import annotations

from memory_palace.feature import Feature, Verb
from memory_palace.features.tasks import conflicts, golden, tasks


class Tasks(Feature):
    """Task cards in the dispatch corridor."""

    new = Verb(tasks.new_task)
    list = Verb(tasks.list_tasks)
    show = Verb(tasks.show_task)
    move = Verb(tasks.move_task)
    tick = Verb(tasks.tick_task)
    lint = Verb(tasks.lint_tasks)


class Conflicts(Feature):
    """Claims that cannot both be true, in the conflict room."""

    open = Verb(conflicts.open_conflict)
    list = Verb(conflicts.list_conflicts)
    show = Verb(conflicts.show_conflict)
    resolve = Verb(conflicts.resolve_conflict)


class Golden(Feature):
    """The golden questions: what the palace must go on answering."""

    list = Verb(golden.list_golden)
    add = Verb(golden.add_golden)
    check = Verb(golden.ask_golden)
