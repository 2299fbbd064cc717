"""Vaults as eight programs write them, and what is right of each note and each link in them.

One text file is one vault. A line ``=== PATH | DAY`` begins a file of it. DAY is the note's own
day, by what the program documents; ``none`` for a note that only the file system dates; ``free``
where nothing is judged; ``template`` for what the program's settings or its documented folder call
a template; ``file`` for what is no note. ``| crlf`` or ``| bom`` says how the file is written.

A link stands between ``⟦`` and ``⟧``, with what the program makes of it after ``⇒``: the path of a
note, or a piece of its name that no other has; ``web``, ``self`` (a heading of the same note) and
``file`` (an attachment, a folder) for what works and leads to no other note; ``broken``; ``free``
where nothing is judged. None of the three signs gets into the note. The text is invented.

A day is the one that its writer saw: of a time with an offset the day as written. Of several the
order is updated or modified, date, created, and a dated file name last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).parent
PROGRAMS = sorted(file.stem for file in HERE.glob("*.txt"))
NOT_NOTES = ("web", "self", "file")
LINK = re.compile("⟦(.*?)⇒(.*?)⟧", re.DOTALL)


def plain(text: str) -> str:
    """Return a link's target as it is compared: decoded, folded, without anchor and ending."""
    text = unquote(text).strip(" <>\"'\\").casefold().removeprefix("./")
    text = re.sub(r"^dendron://[^/]+/", "", text)
    return text.split("#")[0].rstrip("/\\ ").removesuffix(".md") or text


@dataclass(frozen=True)
class Link:
    """A link as written, and what the program makes of it: a path, or one of the words above."""

    source: str
    written: str
    meant: str

    @property
    def works(self) -> bool:
        return self.meant not in ("broken", "free")

    @cached_property
    def spellings(self) -> set[str]:
        """Every target that a reader may name this link by."""
        found = [
            part
            for inner in re.findall(r"\[\[(.+?)\]\]", self.written)
            for part in (inner, *inner.split("|"))
        ]
        found += re.findall(r"\]\((.*)\)\s*$", self.written) + re.findall(
            r"^\[[^\]]+\]:\s*(.+)", self.written
        )
        found += re.findall(r"[\w./#-]{3,}", self.written)
        found += [re.sub(r"\s+\"[^\"]*\"$", "", one) for one in found] + [self.written]
        return {plain(one) for one in found} - {""}


@dataclass
class Vault:
    """The files of one vault: their texts, days and links."""

    program: str
    texts: dict[str, bytes] = field(default_factory=dict)
    days: dict[str, str] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)

    @classmethod
    def read(cls, program: str) -> Vault:
        vault = cls(program)
        for part in re.split(
            "^=== ", (HERE / f"{program}.txt").read_text("utf-8"), flags=re.MULTILINE
        )[1:]:
            head, _, text = part.partition("\n")
            path, day, *written = (piece.strip() for piece in head.split(" | "))
            assert path not in vault.days, path
            vault.days[path] = day
            vault.links += [Link(path, one, meant) for one, meant in LINK.findall(text)]
            text = LINK.sub(r"\1", text)
            assert not set("⟦⇒⟧") & set(text), path
            text = text.replace("\n", "\r\n") if "crlf" in written else text
            vault.texts[path] = text.encode("utf-8-sig" if "bom" in written else "utf-8")
        vault.links = [
            Link(link.source, link.written, vault.path_of(link.meant)) for link in vault.links
        ]
        return vault

    def path_of(self, meant: str) -> str:
        if meant in (*NOT_NOTES, "broken", "free") or meant in self.days:
            return meant
        (path,) = [path for path in self.days if meant in Path(path).name]
        return path

    @property
    def judged(self) -> list[Link]:
        return [link for link in self.links if link.meant != "free"]

    @property
    def notes(self) -> list[str]:
        return [path for path, day in self.days.items() if day not in ("file", "template")]

    @property
    def dated(self) -> dict[str, str]:
        return {
            path: day for path, day in self.days.items() if re.fullmatch(r"\d{4}-\d{2}-\d{2}", day)
        }

    @property
    def undated(self) -> list[str]:
        return [path for path, day in self.days.items() if day == "none"]

    def write(self, folder: Path) -> None:
        for path, text in self.texts.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
