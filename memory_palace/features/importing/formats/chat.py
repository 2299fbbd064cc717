"""Chats of people: the exports of WhatsApp, Telegram and Slack.

Each month of a chat is a conversation, for exports forget (WhatsApp's all but the last 40,000
messages, Slack's what is older than 90 days), and an edited message closes its conversation.

WhatsApp (`_chat.txt`, `WhatsApp Chat with NAME.txt`), as whatstk reads it (2026): lines ``DATE,
TIME - NAME: TEXT`` or ``[DATE, TIME] NAME: TEXT``, in the language and the time of the phone.

Telegram Desktop (`result.json`): telegramdesktop/tdesktop, `export_output_json.cpp` (2026): a chat
``{name, type, id, messages[{id, type, date_unixtime, from, text: text or [text, {type, text}],
reply_to_message_id, forwarded_from, file_name, photo}]}``, or ``{chats{list[]}, …}`` of all.

Slack ("How to read Slack data exports", 2026): `users.json`, `channels.json` and for each day
`CHANNEL/YYYY-MM-DD.json`: ``[{type, subtype, user, text, ts, thread_ts, files[{name}]}]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from memory_palace.features.importing.formats.files import (
    join_texts,
    list_of,
    mapping_of,
    moment_of,
    name_attachments,
    open_export,
    read_objects,
    read_whole,
    text_of,
)
from memory_palace.features.importing.items import Conversation, ImportReport, Turn
from memory_palace.tools import shorten

_Said = tuple[str, str, Turn]
"""The id of a message, that of the message it replies to, and its turn."""


def _split_months(identity: str, title: str, said: Iterable[_Said]) -> Iterator[Conversation]:
    """Yield a conversation for each month; a reply quotes what it answers, if of the same month."""
    months: dict[str, list[Turn]] = {}
    known: dict[tuple[str, str], Turn] = {}
    for own, parent, turn in said:
        month = f"{turn.at:%Y-%m}" if turn.at else "undated"
        text, above = turn.text, known.get((month, parent)) if parent else None
        known[month, own] = turn
        if above:
            text = f"> {above.speaker}: {shorten(above.text[:500], 60)}\n\n{text}"
        months.setdefault(month, []).append(replace(turn, text=text))
    for month, turns in months.items():
        yield Conversation(f"{identity} {month}", title, None, turns)


# WhatsApp

_Line = tuple[int, re.Match[str], list[str]]
"""The number of the first line of a message, its head, and the lines of its text."""
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
HEAD = re.compile(
    "(?m)^[\u200e\u200f\ufeff]{0,3}\\[?(\\d{1,4})\u200f?[./-] ?(\\d{1,2})\u200f?[./-] ?(\\d{1,4})"
    r"([^\d\n]{1,12})(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?([^\d\n\]–-]{0,12})(?:\](?: -)?|[–-]) ?(.*)"
)
_AM = re.compile(r"a\.?\s?m|vorm|π\.?μ|오전|上午|午前|凌晨|早上|ص", re.IGNORECASE)
_PM = re.compile(r"p\.?\s?m|nachm|μ\.?μ|오후|下午|午後|晚上|中午|م", re.IGNORECASE)
_ORDERS = ((3, 2, 1), (3, 1, 2), (1, 2, 3))
"""Groups of year, month and day in a date; the first is likeliest."""
_CHAT_NAME = re.compile(
    r"\A.{0,20}WhatsApp.{0,20}?(?: - | (?:with|mit|con|com|avec|met|med|с) )"
    r"(.{1,200}?)(?: \(\d+\))?\Z"
)
_ATTACHED = re.compile("\u200e?<[^<>\\n:/]{1,30}: ?(\\d{6,}-[^<>\\n]{1,200})>")
_NOTICE = re.compile('\u200e?<([^<>\\n:="/]{1,80})>\\s*\\Z')
"""Omitted, or edited, in any language."""
_OWN = re.compile("\\A\u200e(?![^\\n]*(?:://|\\.\\w{2,5} \\())[^\\n]*\\Z")
"""One line of iOS without a link or file, such as "image omitted": of its own making."""


def read_whatsapp(path: Path, report: ImportReport) -> Iterator[Conversation]:
    """Yield the months of each chat, identified by its name."""
    with open_export(path) as files:
        for file in (file for file in files if file.suffix == ".txt"):
            data = read_whole(file, report, 64 << 20) or b""
            lines = text_of(data.decode("utf-8-sig", "replace")).split("\n")
            found: list[_Line] = []
            for number, line in enumerate(lines, start=1):
                if head := HEAD.match(line):
                    found.append((number, head, [head[9]]))
                elif found:
                    found[-1][2].append(line)
            if not found:
                report.leave_out("other")
                continue
            names = map(_CHAT_NAME.match, (file.path.stem, file.path.parent.name, path.stem))
            title = next((named[1] for named in names if named), file.path.stem)
            if title == "_chat":  # the first line of iOS is in the chat's own name
                title = _MARKS.sub("", found[0][2][0].partition(": ")[0])
            yield from _split_months(title, title, _read_whatsapp(file.name, found, report))


def _read_whatsapp(name: str, found: list[_Line], report: ImportReport) -> Iterator[_Said]:
    order = _choose_order([head for _, head, _ in found])
    for number, head, lines in found:
        speaker, colon, first = lines[0].partition(":" if lines[0].endswith(":") else ": ")
        at, text = _read_time(head, order), _clean("\n".join([first, *lines[1:]]))
        if at is None:
            report.refuse(name, f"line {number}", "has a date that there is not")
        elif colon and text:
            yield "", "", Turn(_MARKS.sub("", speaker).strip("~ \u202f\xa0"), text, at)


def _choose_order(heads: Sequence[re.Match[str]]) -> tuple[int, ...]:
    """Return the order in which fewest dates of a file are impossible, then fewest go back."""
    is_american = any(h[8].strip().lower() in ("am", "pm") for h in heads if len(h[1] + h[2]) < 4)

    def count_faults(order: tuple[int, ...]) -> tuple[int, int, bool]:
        days = [moment.date() for head in heads if (moment := _read_time(head, order))]
        back = sum(after < before for before, after in pairwise(days))
        return -len(days), back, is_american and order != _ORDERS[1]

    return min(_ORDERS, key=count_faults)


def _read_time(head: re.Match[str], order: tuple[int, ...]) -> datetime | None:
    """Return the time of a message, without a zone; ``None`` if there is none such."""
    if order == _ORDERS[2] and len(head[1]) < 4:
        return None
    year, month, day, minute, second = (int(part or 0) for part in head.group(*order, 6, 7))
    hour, said = int(head[5]), f"{head[4]} {head[8]}"
    if is_late := _PM.search(said) or _AM.search(said):
        hour = hour % 12 + 12 * (is_late.re is _PM)
    with suppress(ValueError):
        return datetime(year + 2000 * (year < 100), month, day, hour, minute, second)
    return None


def _clean(text: str) -> str:
    """Return a message as it was typed; empty for WhatsApp's own words."""
    text = _ATTACHED.sub(r"Attached: \1", text)
    notice = _NOTICE.search(text)
    if notice and (" " in notice[1] or not notice[1].isascii()):
        text = text[: notice.start()]
    return "" if _OWN.match(text) else _MARKS.sub("", text).strip()


# Telegram

_OF_ALL = re.compile(rb'\s*\{\s*"(?!(?:name|type|id|messages)")')


def read_telegram(path: Path, report: ImportReport) -> Iterator[Conversation]:
    """Yield the months of each chat, whether a file holds one chat or all."""
    with open_export(path) as files:
        for file in (file for file in files if file.suffix == ".json"):
            for entry in read_objects(file, report, listed=_OF_ALL):
                if isinstance(entry.get("messages"), list) and "type" in entry:
                    kind = text_of(entry["type"]).replace("_", " ")
                    title = text_of(entry.get("name")).strip() or kind
                    identity = text_of(str(entry.get("id", title)))
                    said = filter(None, map(_read_telegram, entry["messages"]))
                    yield from _split_months(identity, title, said)


def _read_telegram(value: Any) -> _Said | None:
    message = mapping_of(value)
    given = message.get("text") or message.get("text_entities")
    parts = "".join(map(_read_part, given if isinstance(given, list) else [given]))
    question = text_of(mapping_of(message.get("poll")).get("question"))
    file = text_of(message.get("file_name") or message.get("file") or message.get("photo"))
    held = name_attachments([{"name": file}] if not file.startswith("(File ") else [])
    text = join_texts([parts, question, held])
    if message.get("type") != "message" or not text:
        return None
    if source := text_of(message.get("forwarded_from")).strip():
        text = f"Forwarded from {source}:\n\n{text}"
    at = moment_of(message.get("date_unixtime")) or moment_of(message.get("date"))
    own, parent = (str(message.get(key) or "") for key in ("id", "reply_to_message_id"))
    return own, parent, Turn(text_of(message.get("from")) or "Deleted account", text, at)


def _read_part(part: Any) -> str:
    """Return the Markdown of a piece of a message: links and code; the rest is its text."""
    fields = mapping_of(part)
    text, link = text_of(part) or text_of(fields.get("text")), text_of(fields.get("href"))
    if fields.get("type") == "pre":
        return f"\n```{text_of(fields.get('language'))}\n{text}\n```\n"
    return f"[{text}]({link})" if link else text


# Slack

_DAY = re.compile(r"\A\d{4}-\d\d-\d\d\.json\Z")
_TOKEN = re.compile(r"<([@#!]?)([^<>|\n]{1,2000})(?:\|([^<>\n]{0,2000}))?>")
_ROOMS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_TYPED = ("", "bot_message", "file_share", "me_message", "thread_broadcast")
"""Subtypes of messages that somebody wrote; the others say who joined, left or renamed."""


def read_slack(path: Path, report: ImportReport) -> Iterator[Conversation]:
    """Yield the months of each channel and direct conversation."""
    with open_export(path) as files:
        users: dict[str, str] = {}
        for file in (file for file in files if file.path.name == "users.json"):
            for user in read_objects(file, report):
                users[text_of(user.get("id"))] = _name_user(user)
        rooms: dict[str, tuple[str, str]] = {}
        for file in files:
            for room in read_objects(file, report) if file.path.name in _ROOMS else ():
                identity, name = text_of(room.get("id")), text_of(room.get("name"))
                people = map(text_of, list_of(room.get("members")))
                members = ", ".join(users.get(person, person) for person in people)
                rooms[name or identity] = identity, members if "mpdm-" in name else name or members
        days = (file for file in files if _DAY.match(file.path.name))
        for folder, group in groupby(days, key=lambda file: file.path.parent):
            identity, title = rooms.get(folder.name, (folder.name, folder.name))
            messages = (message for day in group for message in read_objects(day, report))
            said = (one for message in messages if (one := _read_slack(message, users)))
            yield from _split_months(identity, title, said)


def _read_slack(message: Mapping[str, Any], users: Mapping[str, str]) -> _Said | None:
    def write(token: re.Match[str]) -> str:
        kind, target, label = token[1].replace("!", "@"), token[2], token[3] or ""
        if kind:
            return kind + (users.get(target) or label.lstrip("@#") or target)
        return f"[{label}]({target})" if label and label not in target else target

    text = _TOKEN.sub(write, text_of(message.get("text")))
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    text = join_texts([text, name_attachments(list_of(message.get("files")))])
    if text_of(message.get("subtype")) not in _TYPED or not text:
        return None
    user, stamp = text_of(message.get("user")), text_of(message.get("ts"))
    speaker = users.get(user) or _name_user(message) or user or "Bot"
    return stamp, text_of(message.get("thread_ts")), Turn(speaker, text, moment_of(stamp))


def _name_user(user: Mapping[str, Any]) -> str:
    """Return how a user, or the writer of a message, wants to be called."""
    profile = mapping_of(user.get("profile") or user.get("user_profile"))
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"))
    return next(filter(None, map(text_of, (*names, user.get("username"), user.get("name")))), "")
