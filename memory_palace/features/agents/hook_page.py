"""What a session begins with: work, disputes, what was kept last, and what is near the folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from memory_palace import __version__
from memory_palace.errors import IndexMissingError, RoomNotMappedError
from memory_palace.features.agents.hook_log import read_health
from memory_palace.features.agents.hook_message import HookMessage, present, shorten
from memory_palace.features.capture.inbox import find_inbox, list_parts, name_agent, read_entries
from memory_palace.features.tasks.cards import parse_card
from memory_palace.features.tasks.conflict_notes import read_conflicts
from memory_palace.language.visible import visible
from memory_palace.models import FileStat
from memory_palace.notes.discovery import SourceFile
from memory_palace.notes.document import Document, parse_document
from memory_palace.notes.reading import NoteUnreadable, read_note
from memory_palace.palace import Palace
from memory_palace.retrieval.excerpts import write_told

_PLACES = _ACTIVE, _DISPUTED, _LEARNED = (
    "dispatch_corridor/",
    "conflict_room/",
    "reflection_wing/telegrams/",
)
_NOT_ACTIVE = ("dispatch_corridor/blocked/", "dispatch_corridor/completed/")
_CARDS, _CONFLICTS, _ENTRIES, _NOTES = 5, 3, 4, 3
_NEAR_BYTES = 900
_LINE, _LESSON = 160, 400
"""Characters of one thing, and of what was learned last."""
_MOST_HEAD_BYTES = 4_096
_PLAIN_BRANCHES = frozenset("main master develop development trunk default head".split())
_KIND = re.compile(r"\A(?:feature|feat|fix|bugfix|hotfix|chore|docs|refactor|release|wip)[/-]")
_NO_WORD = re.compile(r"[\W_]+")


def compose_page(palace: Palace, message: HookMessage, *, agent: str) -> str:
    """Return what is said when a session starts; "" where there is nothing to say."""
    parts: list[str] = []
    remarks: list[str] = []
    try:
        palace.snapshot()
    except IndexMissingError:
        remarks.append("This palace has no index: `palace index` makes one.")
    else:
        work = _find_work(palace)
        parts += [*_cards(palace, work[_ACTIVE]), *_conflicts(palace, work[_DISPUTED])]
        parts += _telegraph(palace, work[_LEARNED])
        parts += [*_remembered(palace, agent), *_near(palace, message.cwd)]
        found = palace.check_freshness(palace.paths, palace.config, palace.snapshot())
        if found.behind:
            remarks.append(f"{found.behind} notes differ from the index; run `palace index`.")
    if message.plugin not in ("", __version__):
        plugin = f"The memory-palace plug-in is of version {message.plugin}, and the program of"
        remarks.append(f"{plugin} {__version__}: `palace plugin` says how to write it again.")
    failing = read_health(palace.paths).failing
    remarks += [f"A hook failed when it was last called: {line}" for line in failing[:1]]
    name = visible(palace.paths.root.resolve().name)
    text = [present(f"From the notes of this palace, {name}", parts)] if parts else []
    return "\n".join([*text, *map(visible, remarks)])


def _cards(palace: Palace, paths: list[str]) -> Iterator[str]:
    cards = [c for d in _read(palace, paths) if (c := parse_card(d)) and c.state == "active"]
    if cards:
        yield "Active tasks:"
    for card in cards[:_CARDS]:
        owner = card.document.text("owner")
        left = sum(not check.is_ticked for check in card.checks)
        parts = [card.document.title, f"owner {owner}" if owner else ""]
        parts += [f"{left} of {len(card.checks)} checks open"] if card.checks else []
        parts += [f"next: {card.next_action}" if card.next_action else ""]
        yield f"  {card.path}  {shorten(' · '.join(filter(None, parts)), 2 * _LINE)}"
    if len(cards) > _CARDS:
        yield f"  and {len(cards) - _CARDS} more: palace task list"


def _conflicts(palace: Palace, paths: list[str]) -> Iterator[str]:
    found = [conflict for conflict in read_conflicts(_read(palace, paths)) if conflict.is_open]
    if found:
        yield "Open conflicts, which a person decides:"
    for conflict in found[:_CONFLICTS]:
        yield f"  {conflict.path}  {shorten(conflict.document.title, _LINE)}"
    if len(found) > _CONFLICTS:
        yield f"  and {len(found) - _CONFLICTS} more: palace conflict list"


def _telegraph(palace: Palace, paths: list[str]) -> Iterator[str]:
    for document in _read(palace, paths[:1]):
        yield "Learned last:"
        yield f"  {document.path}  {shorten(document.title, _LINE)}"
        lesson = document.section("Principle", "Lesson", "Lessons")
        if lesson:
            yield f"  {shorten(lesson, _LESSON)}"


def _remembered(palace: Palace, agent: str) -> Iterator[str]:
    """Yield what this agent put into its inbox last, the newest first."""
    who = name_agent(agent)
    try:
        parts = list_parts(palace.paths, find_inbox(palace.paths, palace.config, who), who)
    except RoomNotMappedError:
        return
    entries = []
    for document in _read(palace, parts[:-3:-1]):
        entries += [(document.path, e) for e in [*read_entries(document.path, document.data)][::-1]]
    if entries:
        yield "You remembered last:"
    for path, entry in entries[:_ENTRIES]:
        yield f"  {path}:{entry.line}  {shorten(f'{entry.title} {entry.text}', _LINE)}"


def _near(palace: Palace, cwd: str) -> Iterator[str]:
    """Yield what the notes have on the names of the working folder and its branch."""
    asked = name_work(cwd, palace.paths.root)
    found = palace.recall(asked, budget_bytes=_NEAR_BYTES) if asked else None
    if found is not None and found.hits:
        yield f"On {asked}, where you are:"
        for hit in found.hits[:_NOTES]:
            best = sorted(hit.pieces, key=lambda piece: -piece.value)[:1]
            yield from (f"  {line}" for line in write_told(hit, best))


def name_work(cwd: str, root: Path) -> str:
    """Return the words in the name of a folder and of its git branch.

    The user's home and the folders of the notes themselves say nothing of what is worked on.
    """
    home = os.path.expanduser("~")  # noqa: PTH111
    if not cwd.startswith("/") or "\0" in cwd or cwd == home:
        return ""
    folder = Path(os.path.realpath(cwd))
    name = "" if folder.is_relative_to(root.resolve()) else folder.name
    branch = _KIND.sub("", _read_branch(folder))
    branch = "" if branch.casefold() in _PLAIN_BRANCHES else branch
    return shorten(_NO_WORD.sub(" ", f"{name} {branch}"), _LINE).strip()


def _read_branch(folder: Path) -> str:
    """Return the branch checked out at or above a folder, without running git: it may be anybody's.

    Empty outside of a repository, and where no branch is checked out.
    """
    for above in (folder, *folder.parents):
        git = above / ".git"
        text = _read_head(git)
        if text.startswith("gitdir:"):  # of a worktree
            git = above / text.removeprefix("gitdir:").strip()
        if text or git.is_dir():
            head = _read_head(git / "HEAD").strip()
            return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else ""
    return ""


def _read_head(file: Path) -> str:
    """Return the beginning of a small regular file; "" where it is anything else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return ""
    try:
        return os.read(descriptor, _MOST_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:  # a folder
        return ""
    finally:
        os.close(descriptor)


def _find_work(palace: Palace) -> dict[str, list[str]]:
    """Return the paths of the notes in each place that a session begins with, newest first."""
    snapshot = palace.snapshot()
    found: dict[str, list[tuple[float, str]]] = {place: [] for place in _PLACES}
    rooms = {place.partition("/")[0] for place in _PLACES}
    for n, (path, room) in enumerate(zip(snapshot.paths, snapshot.rooms, strict=True)):
        if room in rooms:
            at = snapshot.room_map.place_of(path)
            for place in _PLACES:
                if at.startswith(place) and not at.startswith(_NOT_ACTIVE):
                    found[place].append((-float(snapshot.told_dates[n]), path))
    return {place: [path for _, path in sorted(entries)] for place, entries in found.items()}


def _read(palace: Palace, paths: list[str]) -> Iterator[Document]:
    """Yield notes as they are now; one that is gone, private or cannot be read is left out."""
    for path in paths:
        try:
            file = SourceFile(path, FileStat(0, 0, 0, 0), is_cold=False)
            data, _ = read_note(palace.paths, file, limit_bytes=palace.config.max_note_bytes)
        except (OSError, NoteUnreadable):
            continue
        document = parse_document(path, data, rooms=palace.paths.rooms)
        if document is not None:
            yield document
