"""Chats of people: WhatsApp, Telegram and Slack."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from importing_exports import read_all, write_json

from memory_palace.palace import Palace

ANDROID = """\
13/06/2026, 22:04 - Messages and calls are end-to-end encrypted.
13/06/2026, 22:05 - Ann: Where does the gauge rust?
13/06/2026, 22:06 - ~ Bo \u202a+49 170 1\u202c: At the seam: look
 - second line
99/99/2026, 22:07 - Ann: lost
13/06/2026, 22:08 - Ann: <Media omitted>
13/06/2026, 22:08 - Ann: <Medien ausgeschlossen>
13/06/2026, 22:09 - Bo: a.jpg (file attached)
01/07/2026, 08:00 - Ann: Fixed <This message was edited>
"""
SEAM = "Ann: Where does the gauge rust?|Bo +49 170 1: At the seam: look\n - second line"
ANDROID_TALKS = {"Hut 2026-06": f"{SEAM}|Bo: a.jpg (file attached)", "Hut 2026-07": "Ann: Fixed"}
IOS = """\
[6/7/26, 12:04:05\u202fAM] Hut: \u200eMessages and calls are end-to-end encrypted.
[6/8/26, 1:05:06\u202fPM] Ann: Why <b>rust</b>?
\u200e[6/8/26, 1:05:07\u202fPM] Bo: \u200e<attached: 00000012-PHOTO.jpg>
[6/8/26, 1:05:08\u202fPM] Bo: \u200esticker omitted
[6/8/26, 1:05:09\u202fPM] Bo: \u200eLocation: https://x.org/?q=1
"""
IOS_TALK = "Ann: Why <b>rust</b>?|Bo: Attached: 00000012-PHOTO.jpg|Bo: Location: https://x.org/?q=1"
SAID = [
    {"type": "service", "action": "create_group", "text": ""},
    {"text": ["See ", {"type": "text_link", "text": "this", "href": "https://x.org"}, "!"]},
    {"from": "Bo", "text": "Yes", "reply_to_message_id": 2, "photo": "(File not included. Do.)"},
    {"from": None, "text": [{"type": "pre", "text": "x = 1", "language": "py"}]},
    {"forwarded_from": "News", "text": "Rain", "photo": "photos/a.jpg"},
]
GROUP_TALK = (
    "Ann: See [this](https://x.org)!|Bo: > Ann: See [this](https://x.org)!\n\nYes"
    "|Deleted account: ```py\nx = 1\n```|Ann: Forwarded from News:\n\nRain\n\nAttached: a.jpg"
)


def telegram(*messages: dict[str, Any]) -> dict[str, Any]:
    base = {"type": "message", "from": "Ann", "date_unixtime": "1781388300"}
    said = [{"id": number} | base | message for number, message in enumerate(messages, start=1)]
    return {"name": "Hut", "type": "private_group", "id": 42, "messages": said}


def slack(day: int, text: str, user: str = "U1", **more: Any) -> dict[str, Any]:
    stamp = f"{1781388300 + day * 86400}.000001"
    return {"type": "message", "user": user, "text": text, "ts": stamp} | more


ALL_CHATS = {"about": "", "contacts": {"list": [{}]}, "chats": {"list": [telegram(*SAID)]}}
ROOMS = {
    "users.json": [{"id": "U1", "name": "ann", "profile": {"display_name": "Ann"}}],
    "channels.json": [{"id": "C1", "name": "hut"}],
    "hut/2026-06-13.json": [
        slack(0, "<@U1|ann> has joined", subtype="channel_join"),
        slack(0, "<@U1> &lt;<https://x.org|the docs>&gt; <!here> <#C1|hut> <https://y.org>"),
        slack(1, "Yes", "U7", thread_ts=slack(0, "")["ts"], user_profile={"real_name": "Bo"}),
    ],
    "hut/2026-06-14.json": "[{",
    "D1/2026-06-15.json": [slack(2, "Hi", files=[{"name": "a"}])],
}
ASK = "@Ann <[the docs](https://x.org)> @here #hut https://y.org"
BACK = f"> Ann: {ASK}\n\nYes"
HEARD = {"D1 2026-06": "Ann: Hi\n\nAttached: a", "C1 2026-06": f"Ann: {ASK}|Bo: {BACK}"}
CASES: list[tuple[str, dict[str, Any], dict[str, str], list[str]]] = [
    ("whatsapp", {"WhatsApp Chat with Hut (1).txt": ANDROID}, ANDROID_TALKS, ["line 5"]),
    ("telegram", {"result.json": telegram(*SAID)}, {"42 2026-06": GROUP_TALK}, []),
    ("slack", ROOMS, HEARD, ["entry 1"]),
    ("whatsapp", {"_chat.txt": IOS}, {"Hut 2026-06": IOS_TALK}, []),
    ("telegram", {"result.json": ALL_CHATS}, {"42 2026-06": GROUP_TALK}, []),
]


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, value in files.items():
        path = write_json(folder / name, value)
        if isinstance(value, str):
            path.write_text(value, "utf-8")
    return folder


@pytest.mark.parametrize(("name", "files", "talks", "broken"), CASES)
def test_a_chat_is_a_talk_for_each_month(tmp_path: Path, name, files, talks, broken) -> None:
    path = write(tmp_path / "export", files)
    items, report = read_all(name, path)
    said = {item[0]: "|".join(f"{turn[0]}: {turn[1]}" for turn in item[4]) for item in items}
    assert said == talks
    assert [one.position for one in report.broken] == broken
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for file in files:
            archive.write(path / file, f"inside/{file}")
    assert read_all(name, tmp_path / "export.zip")[0] == items


@pytest.mark.parametrize(
    ("heads", "read"),
    [
        ("3/4/26, 1:55 pm - ", "2026-03-04 13:55"),
        ("03/04/2026, 12:05 a.m. - ", "2026-04-03 00:05"),
        ("3.4.2026 klo 13.55 - |14.3.26 klo 13.55 - |45.4.26 klo 9.05 - ", "2026-04-03 13:55"),
        ("1/12/26, 13:55 - |2/1/26, 13:55 - ", "2026-01-12 13:55"),
        ("2026/4/3 下午1:55 - ", "2026-04-03 13:55"),
        ("\u200f٣\u200f/٤\u200f/٢٠٢٦, ١:٥٥ م - ", "2026-04-03 13:55"),
    ],
)
def test_the_whole_file_says_which_number_is_the_day(tmp_path: Path, heads: str, read: str) -> None:
    text = "\n".join(f"{head}Ann: Hi" for head in heads.split("|"))
    items, _ = read_all("whatsapp", write(tmp_path, {"a.txt": text}))
    assert f"{items[0][4][0][2]:%Y-%m-%d %H:%M}" == read


@pytest.mark.parametrize("number", [0, 1, 2])
def test_twice_is_once_and_a_later_export_adds_what_is_new(tmp_path: Path, number: int) -> None:
    name, files, _, _ = CASES[number]
    added = "01/07/2026, 09:00 - **Eve** #[x]: Two"
    new = {
        "whatsapp": {"WhatsApp Chat with Hut (1).txt": ANDROID + added},
        "telegram": {"result.json": telegram(*SAID, {"text": "Two", "from": "*Eve* #[x]"})},
        "slack": {"hut/2026-06-16.json": [slack(3, "Two", "", username="*Eve* #[x]")]},
    }[name]
    palace, path = Palace.init(tmp_path / "palace"), write(tmp_path / "export", files)
    first, again = (palace.import_export(path, apply=True) for _ in range(2))
    assert (again.counts["new"], again.counts["present"]) == (0, first.counts["new"])
    later = palace.import_export(write(path, new), apply=True)
    assert (later.counts["new"], later.counts["grown"], later.turns) == (0, 1, 1)
    text = "".join(file.read_text() for file in palace.paths.notes.rglob("*.md"))
    assert text.count("\n**Eve x:** Two\n") == 1
