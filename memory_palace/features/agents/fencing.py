"""Text of notes for agents: data in a fence that it cannot close, within a budget."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator

from memory_palace.language.visible import escape_hidden, fence_text, shown_text, visible
from memory_palace.models import Hit, QueryResult, Recollection, cut_confidence

_LONGEST_TITLE = 120
"""In characters."""
_CUT = "… [cut]"
_WORD = 40
"""Maximum number of characters by which a cut moves back to white space."""
_PLAIN_PATH = re.compile(r'(?!\d{1,9}[.)]\s)[\w.](?:[^\s":]|:(?!\d)| (?=[^\s":]|:(?!\d)))*+')
"""A path that begins no block of Markdown and cannot be read as another path with its lines."""


def fence(text: str, *, budget_bytes: int | None = None, cut: str = "") -> str:
    """Return a text in a fence longer than any run of backticks or tildes in it.

    Control and invisible characters are escaped. ``budget_bytes`` limits the whole in UTF-8 bytes:
    the excess is left out, and the last line inside names ``cut``, the command that shows the rest.
    The result is empty if there is no room even for that line.
    """
    text = visible(text.replace("\r\n", "\n").strip("\n"))
    whole = fence_text(text)
    if budget_bytes is None or _size(whole) <= budget_bytes:
        return whole
    for mark in (f"… [cut: {one_line(cut)}]", _CUT) if cut else (_CUT,):
        if _size(fence_text(mark)) <= budget_bytes:
            break
    else:
        return ""
    bar = max(whole.index("\n"), fence_text(mark).index("\n"))  # a part needs no longer fence
    kept = _cut(text, max(budget_bytes - _size(mark) - 2 * bar - 3, 0))
    return fence_text(f"{kept}\n{mark}" if kept else mark)


def _cut(text: str, most: int) -> str:
    """Return the start of a visible text, at most ``most`` bytes, cut at white space if near."""
    kept = text.encode()[:most].decode("utf-8", "ignore")
    space = max(kept.rfind(" "), kept.rfind("\n"))
    kept = kept[:space] if len(kept) < len(text) and space > len(kept) - _WORD else kept
    while visible(kept) != kept:  # a joiner or tag character cut from its sequence
        kept = kept[:-1]
    return kept.rstrip()


def show_command(place: str) -> str:
    """Return the shell command that shows ``path:lines``, with the place quoted."""
    return f"palace show {shlex.quote(f'./{place}' if place[0] == '-' else place)}"


def show_hits(
    found: QueryResult | Recollection,
    *,
    generation: int,
    budget_bytes: int | None = None,
    cut: Callable[[str], str] = show_command,
) -> str:
    """Return an answer for agents: one line on its state, then the place and text of each hit.

    The first line has the mode, the generation of the index, and how many notes it is behind. A hit
    is a line with ``path:first-last``, confidence, date and title, and its text in a fence. To fit
    ``budget_bytes``, in UTF-8, texts are cut, then hits left out, which the last line counts; the
    first and that line are always included. ``cut`` returns the command for the rest of a place.
    """
    parts = [write_state(found, generation), *_remark(found)]
    least = [_size(_show_hit(hit, 0, cut)) + 1 for hit in found.hits]
    for place, hit in enumerate(found.hits):
        room = None
        if budget_bytes is not None:
            left = budget_bytes - sum(_size(part) + 1 for part in parts)
            to_come = sum(least[place + 1 :])
            more = f"… {len(found.hits) - place} more; a larger budget shows them"
            if least[place] + (_size(more) if to_come else 0) > left:
                parts.append(more)
                break
            room = max(left - to_come, least[place])
        parts.append(_show_hit(hit, room, cut))
    return "\n".join(parts)


def write_state(found: QueryResult | Recollection, generation: int) -> str:
    """Return the first line of an answer: its mode, the index generation, the notes behind."""
    notes = "1 note" if found.behind == 1 else f"{found.behind} notes"
    behind = {"current": "current", "stale": f"{notes} behind"}
    state = f"{found.mode} · generation {generation} · {behind.get(found.freshness, 'unchecked')}"
    awaiting = found.awaiting if isinstance(found, QueryResult) else 0
    return state + f" · {awaiting} passages found by words alone so far" * bool(awaiting)


def _remark(found: QueryResult | Recollection) -> Iterator[str]:
    if isinstance(found, QueryResult) and found.unread_by:
        yield f"words alone were compared: {found.unread_by} reads English alone"
    if not found.hits:
        yield "nothing found"
    elif isinstance(found, QueryResult) and found.may_answer:
        yield "perhaps; the notes are about that, and may not answer it:"
    elif isinstance(found, QueryResult) and not found.is_answered:
        yield "nothing here answers that; the nearest:"


def _show_hit(hit: Hit, room: int | None, cut: Callable[[str], str]) -> str:
    """Return a hit's line and text in at most ``room`` bytes, with at least one line of text."""
    first, last = hit.lines
    place = f"{hit.path}:{first}-{last}" if last > first else f"{hit.path}:{first}"
    confidence = cut_confidence(hit.confidence)
    sure = "" if confidence is None else f"{confidence:.2f}"
    parts = (write_place(place), sure, hit.note.date.day, _show_title(hit.title))
    head = "  ".join(filter(None, parts))
    text = shown_text(hit.text)
    text = text if text.strip() else hit.text  # only marks
    if not text.strip():
        return head
    left = None if room is None else max(room - _size(head) - 2, _size(fence_text(_CUT)))
    return f"{head}\n{fence(text, budget_bytes=left, cut=cut(place))}"


def write_place(place: str) -> str:
    """Return ``path:lines``; a path that could be misread is quoted and escaped."""
    path, _, _ = place.rpartition(":")
    if _PLAIN_PATH.fullmatch(path) and visible(path) == path:
        return place
    return f"{escape_hidden(json.dumps(path, ensure_ascii=False))}{place[len(path) :]}"


def _show_title(title: str) -> str:
    line = one_line(title)
    return line if len(line) <= _LONGEST_TITLE else f"{line[:_LONGEST_TITLE]}…"


def one_line(text: str) -> str:
    """Return a text on one line with single spaces, hidden characters escaped."""
    return visible(" ".join(text.split()))


def _size(text: str) -> int:
    return len(text.encode())
