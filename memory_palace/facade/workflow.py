"""Work: task cards, and claims that contradict each other."""

from __future__ import annotations

from memory_palace.facade.verb import Feature, Verb
from memory_palace.workflow import conflicts, tasks


class Tasks(Feature):
    """Task cards in the dispatch corridor."""

    new = Verb(tasks.new_task)
    list = Verb(tasks.list_tasks)
    show = Verb(tasks.show_task)
    move = Verb(tasks.move_task)
    tick = Verb(tasks.tick_task)
    lint = Verb(tasks.lint_tasks)
    route = Verb(tasks.route_task)


class Conflicts(Feature):
    """Claims that cannot both be true, in the conflict room."""

    open = Verb(conflicts.open_conflict)
    list = Verb(conflicts.list_conflicts)
    show = Verb(conflicts.show_conflict)
    resolve = Verb(conflicts.resolve_conflict)
