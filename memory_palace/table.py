"""The table of verbs and features: the only place that names a feature. Nothing is imported here.

A place is ``"module:name"``, the module below ``memory_palace.features`` unless it begins with
``memory_palace.``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERBS = {
    "Every day": {
        "query": ("asking.verbs:verbs", "Find the notes that answer a question."),
        "show": ("editing.verbs:verbs", "Print a note, or some of its lines."),
        "list": ("asking.verbs:verbs", "List notes by type, tag, folder, date or link."),
        "new": ("editing.verbs:verbs", "Create a note."),
        "undo": ("editing.verbs:verbs", "Take back the last change of the notes, or an older one."),
        "index": ("upkeep.verbs:verbs", "Bring the index up to date with the notes."),
        "status": ("upkeep.verbs:verbs", "Show what the index holds and how fresh it is."),
    },
    "Keep": {
        "init": ("upkeep.verbs:verbs", "Make a folder a palace."),
        "serve": ("upkeep.serve:verbs", "Answer at once, from a process that stays."),
        "doctor": ("upkeep.verbs:verbs", "Check that notes and index match."),
        "models": ("upkeep.models:models", "Fetch and check embedding models."),
        "config": (
            "upkeep.settings:config",
            "Show the settings, name palaces, keep them in stores.",
        ),
        "graph": ("graph.verbs:graph", "Follow and check links, and terms that lead to notes."),
    },
    "Work": {
        "task": ("tasks.verbs:task", "Manage task cards."),
        "conflict": (
            "tasks.verbs:conflict",
            "Record and resolve claims that contradict each other.",
        ),
        "metabolism": (
            "metabolism.verbs:metabolism",
            "Keep what outlives a project; archive the rest.",
        ),
        "view": ("view.verbs:verbs", "Draw the palace as a page to walk through."),
    },
    "Agents": {
        "remember": ("capture.verbs:verbs", "Keep what was said, where it is found again."),
        "import": ("importing.verbs:verbs", "Import conversations and notes of other programs."),
        "recall": ("recall.verbs:verbs", "Say unasked what the notes have on what was said."),
        "verify": ("checking.verbs:verbs", "Check an answer against the notes."),
        "connect": ("agents.verbs:verbs", "Connect Claude Code, Codex, Cursor and others."),
        "mcp": ("agents.verbs:verbs", "Let agents search, read and write, by MCP."),
        "seek": ("seek.verbs:seek", "Pursue a goal over several steps."),
    },
    "Study": {
        "memory": ("memories.verbs:memory", "Write, check and review memories."),
        "redqueen": (
            "redqueen.verbs:redqueen",
            "Find what would be forgotten; keep golden questions.",
        ),
    },
}
"""Panel of ``palace --help`` to verb, its place, and its summary of at most 56 characters."""
BELOW = {
    "config store": ("store.verbs:store", "Look after the palaces in a store."),
    "graph anchors": (
        "anchors.verbs:anchors",
        "Build and ask the anchors: terms, and where they lead.",
    ),
    "redqueen add": ("tasks.verbs:golden", "Add a golden question and the note that answers it."),
    "redqueen list": ("tasks.verbs:golden", "List the golden questions."),
    "redqueen check": ("tasks.verbs:golden", "Ask all golden questions."),
    "seek locus": ("seek.verbs:locus", "Manage loci: notes that have a place."),
}
"""Verbs and groups that features add below another group."""
HIDDEN = {
    "hook": ("agents.verbs:verbs", "Tell an agent what the notes have for it."),
}
"""Verbs that help does not list: harnesses call them, from what ``palace connect`` writes."""
EARLY = {
    "hook": "agents.calling:run_hook",
}
"""Functions that handle the command line before Typer; they may pass it on."""
TOOLS = {
    "search": "agents.tools:search",
    "read": "agents.tools:read",
    "recall": "agents.tools:recall",
    "remember": "capture.tools:remember",
    "tasks": "tasks.tools:tasks",
    "verify": "checking.verify:verify_answer",
}
"""Tools that agents call: see ``memory_palace.tools``."""
PAGE = (
    "tasks.tools:open_work",
    "agents.hooks:last_lesson",
    "capture.tools:recent_entries",
)
"""Functions from a palace to lines of the page shown at the start of an agent's session."""
ALONE = "upkeep.verbs:status"
"""The verb that ``palace`` without a verb runs in a palace."""
KINDS = {
    "memory": "memories.memories:MemoryKind",
}
"""Kinds of notes and their classes: see ``memory_palace.kinds``."""
MOVED = {
    "register": "palace config register",
    "watch": "palace index --watch",
    "append": "palace remember TEXT --to NOTE",
    "golden": "palace redqueen add|list|check",
    "bench": "python -m benchmarks",
    "locus": "palace seek locus",
    "cold": "palace metabolism archive|restore|cold",
    "map": "palace graph map",
    "store": "palace config store",
    "anchors": "palace graph anchors",
    "plugin": "palace connect",
}
"""Verbs of earlier versions, each with the words to type instead."""
FEATURES = {
    "anchors": "anchors.anchors:Anchors",
    "changes": "memory_palace.changes.changing:Changes",
    "cold_zone": "metabolism.cold_zone:ColdZone",
    "conflicts": "tasks.conflicts:Conflicts",
    "golden": "tasks.golden:Golden",
    "loci": "seek.searches:Loci",
    "memories": "memories.memories:Memories",
    "metabolism": "metabolism.cycle:Metabolism",
    "redqueen": "redqueen.rounds:RedQueen",
    "searches": "seek.searches:Searches",
    "tasks": "tasks.tasks:Tasks",
}
"""Attributes of ``Palace``, and the class of each."""
METHODS = {
    "append": "memory_palace.changes.composing:append_to_note",
    "import_export": "importing.run:import_export",
    "look_up": "anchors.lookup:look_up",
    "map": "tasks.tasks:draw_map",
    "memory_tool": "agents.memory_tool:memory_tool",
    "new": "memory_palace.changes.composing:make_note",
    "recall": "recall.recalling:recall",
    "remember": "capture.remembering:remember",
    "retriever": "asking.langchain:make_retriever",
    "view": "view.page:write_view",
}
"""Methods of ``Palace``: functions of higher layers whose first parameter is the palace."""
RECOVER = "memory_palace.changes.journal:recover"
"""Takes back a change that was interrupted before it was logged."""
FOLLOWERS = {
    "anchors": "anchors",
}
"""Files beside the segments, and the attribute of ``Palace`` whose ``follow`` updates them for each
generation of the index: see ``index.values.Follow``."""
EVIDENCE = {
    "anchor": "anchors",
}
"""Signals whose evidence the method ``ask`` of an attribute of ``Palace`` provides."""
EXTENSIONS = {
    "structure": "structure.signals:STRUCTURE",
}
"""Signals and facts of this package by name: see ``memory_palace.signals``."""
STORES = {
    "ask": "store.reaching:ask_store",
    "push": "store.reaching:pushing_to",
}
"""Operations of a store: answer a question, receive an index."""
SOURCES = {
    "agents": "agents.sources:make_agents_palace",
}
"""Options of ``palace init``: functions that make a palace and return the lines to print."""
PAIRS = {
    "metabolism checking",
    "metabolism tasks",
    "redqueen memories",
    "tasks checking",
}
"""Pairs of features of which the first may import the second."""
STATUS = {
    "hooks": "agents.hook_log:read_status",
}
"""Additional keys of ``palace status``, each with a function from a palace to its value."""


def place_of(verb: str) -> str:
    """Return the place of a top-level verb."""
    rows = {**HIDDEN, **{name: row for verbs in VERBS.values() for name, row in verbs.items()}}
    return rows[verb][0]


def load(place: str) -> Any:
    """Import and return the object at a place."""
    from importlib import import_module  # delayed: the command's first step reads the table

    module, _, name = place.partition(":")
    if module.startswith("memory_palace."):
        return getattr(import_module(module), name)
    return getattr(import_module(f"memory_palace.features.{module}"), name)
