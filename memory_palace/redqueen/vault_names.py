"""What notes are called, by themselves and by those that link to them, and how common words are."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from memory_palace.graph.resolve import fold_name
from memory_palace.language.vocabulary import FUNCTION_WORDS, WORDS
from memory_palace.language.word_lists import STOPWORDS
from memory_palace.notes.document import Document
from memory_palace.redqueen.askings import Meanings
from memory_palace.redqueen.examined import may_change
from memory_palace.redqueen.note_text import BodyText, LinkStyle

_UNSPACED = "\u3040-\u30ff\u3400-\u9fff々"
WORD = re.compile(
    "[\u30a0-\u30ff]+|[\u3400-\u9fff々]+|[\u3040-\u309f]+"
    rf"|[^\W_{_UNSPACED}]+(?:['’-][^\W_{_UNSPACED}]+)*"
)
"""A word; of Chinese and Japanese a run of one script, which is as near as one gets without a
dictionary: a name is then found only where it is such runs as a whole."""
_COMMON = STOPWORDS | FUNCTION_WORDS | WORDS["elsewhere"]
_COMMON_SHARE = 0.2
_FEW_NOTES = 20
"""Notes that are too few for a share to tell a common word."""
_NOUN_CAPITALS = 0.22
"""Share of words inside of sentences that are capitalised, from which capitals tell no name: in
English pages .08 to .15, in German ones .3."""
_INSIDE = re.compile(rf"[^\W\d_],? ([^\W\d_{_UNSPACED}])")
_DAY = re.compile(r"\d{4}-\d{2}(-\d{2})?\b.*|\d{8}\b.*")
_NO_NOTE = frozenset("index _index home readme changelog template license".split())


class Said(NamedTuple):
    """One place where a note calls another by a name."""

    path: str
    line: int
    """1-based, in the file."""
    shown: str


@dataclass(frozen=True)
class VaultNames:
    """The notes that proposals are made from: outside the cold zone, readable, of their own."""

    every: Mapping[str, Document]
    """All notes of the palace, by path."""

    @cached_property
    def documents(self) -> dict[str, Document]:
        """The notes that proposals are made from and for, by path."""
        return {path: document for path, document in self.every.items() if may_change(document)}

    @cached_property
    def texts(self) -> dict[str, BodyText]:
        """The text of each note."""
        return {path: BodyText.of(document) for path, document in self.documents.items()}

    @cached_property
    def _meanings(self) -> Meanings:
        return Meanings(self.documents)

    @cached_property
    def _targets(self) -> Meanings:
        return Meanings(self.every)

    def means(self, target: str, source: str) -> str | None:
        """Return the note that a link means, by its title where it is the name of no file."""
        return self._meanings.find(target.strip("/"), source)

    def resolves(self, target: str, source: str) -> str | None:
        """Return the note that a link leads to as it is written."""
        return self._targets.resolve(target, source)

    @cached_property
    def linked(self) -> dict[str, set[str]]:
        """The notes that each note links to, from its front matter too."""
        found: dict[str, set[str]] = {path: set() for path in self.documents}
        for path, document in self.documents.items():
            targets = [link.target for link in document.links]
            targets += [link.target for link in self.texts[path].links]
            met = (self.means(target, path) for target in dict.fromkeys(targets) if target)
            found[path].update(note for note in met if note is not None)
        return found

    @cached_property
    def said(self) -> dict[str, dict[str, list[Said]]]:
        """By each folded text of a link, the notes it leads to, and who says so of another."""
        found: dict[str, dict[str, list[Said]]] = defaultdict(lambda: defaultdict(list))
        for path, text in self.texts.items():
            above = self.documents[path].body_first_line
            for link in text.links:
                if link.is_image or link.leads_inside or not link.target:
                    continue
                note = self.means(link.target, path)
                shown = link.shown or link.target.rpartition("/")[2]
                if note is not None and note != path and shown:
                    found[fold_plural(shown)][note].append(Said(path, above + link.line, shown))
        return found

    @cached_property
    def spelled(self) -> dict[str, Counter[str]]:
        """How wiki links that lead to each note spell it."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for path, text in self.texts.items():
            for link in text.links:
                if link.style == "wiki" and (note := self.resolves(link.target, path)):
                    found[note][link.target] += 1
        return found

    @cached_property
    def style(self) -> LinkStyle:
        """How most links between notes are written."""
        counted = Counter(
            link.style
            for path, text in self.texts.items()
            for link in text.links
            if not link.is_image and self.means(link.target, path)
        )
        return "markdown" if counted["markdown"] > counted["wiki"] else "wiki"

    @cached_property
    def names_folders(self) -> bool:
        """Whether most wiki links that lead to a note name its folder."""
        names = Counter[bool]()
        for spelled in self.spelled.values():
            for name, count in spelled.items():
                names["/" in name] += count
        return names[True] > names[False]

    def names_of(self, path: str) -> tuple[str, ...]:
        """Return the title, the other names, and the file name where it is written in words."""
        document = self.documents[path]
        names = [document.title, *document.texts("aliases")]
        if " " in document.stem or fold_name(document.stem) == fold_name(document.title):
            names.append(document.stem)
        return tuple(dict.fromkeys(name for name in names if name))

    @cached_property
    def known(self) -> dict[str, set[str]]:
        """By every folded name of every note, file names included, the notes that have it."""
        found: dict[str, set[str]] = defaultdict(set)
        for path, document in self.documents.items():
            for name in (*self.names_of(path), document.stem):
                found[fold_plural(name)].add(path)
        return found

    @cached_property
    def frequency(self) -> Counter[str]:
        """In how many notes each word is written, by the casefolded word."""
        return Counter(
            word
            for text in self.texts.values()
            for word in {m[0].casefold() for m in WORD.finditer(text.open_text)}
        )

    @cached_property
    def written_small(self) -> set[str]:
        """Words that some note writes with a small letter."""
        return {
            m[0]
            for text in self.texts.values()
            for m in WORD.finditer(text.open_text)
            if m[0].islower()
        }

    @cached_property
    def capitals_tell(self) -> bool:
        """Whether a capital inside of a sentence tells a name: not where all nouns have one."""
        met = [m[1] for text in self.texts.values() for m in _INSIDE.finditer(text.open_text)]
        return sum(map(str.isupper, met)) < _NOUN_CAPITALS * max(len(met), 1)

    def is_rare(self, word: str) -> bool:
        """Say whether few notes of the vault write a word, given casefolded."""
        most = max(_FEW_NOTES, len(self.documents)) * _COMMON_SHARE
        return self.frequency[word] <= most

    def is_proper(self, name: str) -> bool:
        """Say whether a single word is the name of one thing, by the way the vault writes it."""
        if sum(map(str.isupper, name)) >= 2 or any(map(str.isdigit, name)):
            return len(name) > 1 and name.casefold() not in self.written_small
        small = name.casefold()
        return name[:1].isupper() and self.capitals_tell and small not in self.written_small


def is_note_of_its_own(document: Document) -> bool:
    """Say whether a note is of a thing: no day of a diary, index, change log or template."""
    folders = {part.casefold().rstrip("s") for part in document.path.split("/")[:-1]}
    return (
        document.stem.casefold() not in _NO_NOTE
        and not _DAY.fullmatch(document.stem)
        and "template" not in folders
        and "tag" not in folders
    )


def content_words(name: str) -> list[str]:
    """Return the words of a name, casefolded, without those of grammar."""
    return [word for word, _, _ in iter_words(name) if word not in _COMMON]


def fold_plural(name: str) -> str:
    """Return a name for comparing, as ``fold_name`` does, without the plural of English."""
    folded = " ".join(fold_name(name).replace("’", "'").split())
    return folded[:-1] if folded.endswith("s") and not folded.endswith("ss") else folded


def iter_words(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word, casefolded, and where it starts and ends."""
    return ((m[0].casefold(), m.start(), m.end()) for m in WORD.finditer(text))
