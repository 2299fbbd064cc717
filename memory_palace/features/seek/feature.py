"""Places and searches: notes with a pose, and goals that are pursued over several steps."""

from __future__ import annotations

from memory_palace.features.seek import loci, observing, searches
from memory_palace.palace import Feature, Verb


class Loci(Feature):
    """Notes that have a place in the plane."""

    read = Verb(loci.read_loci)
    add = Verb(loci.add_locus)


class Searches(Feature):
    """Searches that go on over several commands, kept beside the index."""

    start = Verb(searches.start_search)
    step = Verb(searches.step_search)
    read = Verb(observing.read_node)
    confirm = Verb(observing.confirm_node)
    reject = Verb(observing.reject_node)
    sight = Verb(observing.sight_node)
    change_goal = Verb(searches.change_search_goal)
    show = Verb(searches.load_search)
    list = Verb(searches.list_searches)
    log = Verb(searches.read_search_log)
