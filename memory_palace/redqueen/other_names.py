"""Names that people use for a note and that it does not have: letters, and what they stand for."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from memory_palace.graph.resolve import fold_name
from memory_palace.language.tokens import tokenize
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.vault_names import (
    VaultNames,
    content_words,
    fold_plural,
    is_note_of_its_own,
    iter_words,
)

_ACRONYM_WORTH, _SPELLED_WORTH, _ALIAS_WORTH = 3.0, 2.9, 2.8
"""Beside missing links: a name that three of four notes link is worth 1.2."""
_LETTERS = r"[A-Z][A-Za-z0-9]{0,6}[A-Z]"
_LONG_BEFORE = re.compile(rf"\((?P<letters>{_LETTERS})s?\)")
_LONG_BEHIND = re.compile(rf"(?<!\w)(?P<letters>{_LETTERS})s? \((?P<long>[^()\n]{{5,80}})\)")
_IN_TITLE = re.compile(rf"\(({_LETTERS})\)")
_USED = re.compile(rf"(?<![\w(])({_LETTERS})s?(?![\w)])")
_PART = re.compile(r"[^\W_]+")
_LEAST_LETTERS, _MOST_WORDS = 2, 9
_LEAST_SPELLED = 3
"""Letters that a name is looked for: two are the initials of anything."""
_LEAST_SAID, _LEAST_RATE = 3, 0.75
"""Notes that call another so, and their share of all that write it, for a name that is not letters:
what more write of something else is a kind of thing, and no name."""
_LEAST_ALIKE, _ALIKE = 4, 0.6
"""Letters, and share of a word, that another begins with where they are forms of one: causal and
causality, config and configuration."""


class _Expansion(NamedTuple):
    letters: str
    long: str
    path: str
    line: int


class Letters:
    """Where the notes of a vault say what letters stand for, and where they use them."""

    def __init__(self, vault: VaultNames) -> None:
        self._vault = vault

    @cached_property
    def spelled(self) -> dict[str, dict[str, list[_Expansion]]]:
        """By letters and by the folded long name, where that is said."""
        found: dict[str, dict[str, list[_Expansion]]] = defaultdict(lambda: defaultdict(list))
        for path, document in self._vault.documents.items():
            lines = self._vault.texts[path].prose.split("\n")
            for number, line in enumerate(lines, document.body_first_line):
                for letters, long in _read_expansions(line):
                    found[letters][fold_long(long)].append(_Expansion(letters, long, path, number))
            for letters, long in _read_expansions(document.title):
                found[letters][fold_long(long)].append(_Expansion(letters, long, path, 1))
        return found

    @cached_property
    def used(self) -> Counter[str]:
        """How often letters stand without what they stand for."""
        return Counter(
            letters for text in self._vault.texts.values() for letters in _USED.findall(text.prose)
        )


def find_acronyms(vault: VaultNames) -> Iterator[tuple[float, RoundProposal]]:
    """Yield letters that stand for the name of a note, and names that letters stand for."""
    letters = Letters(vault)
    longs = _long_names(vault)
    for short, spelled in letters.spelled.items():
        if len(spelled) == 1:
            ((long, said),) = spelled.items()
            yield from _propose_letters(vault, letters, short, longs.get(long, set()), said)
            yield from _propose_long(vault, short, said)


def _propose_letters(
    vault: VaultNames, letters: Letters, short: str, notes: set[str], said: list[_Expansion]
) -> Iterator[tuple[float, RoundProposal]]:
    if len(notes) != 1 or len(short) < _LEAST_LETTERS or _has_rival(vault, short, notes):
        return
    (path,) = notes
    document = vault.documents[path]
    if not is_note_of_its_own(document):
        return
    if short in _IN_TITLE.findall(document.title) or not letters.used[short]:
        return
    first = said[0]
    reason = f"{first.path}:{first.line} says that it stands for {first.long}"
    yield _ACRONYM_WORTH, RoundProposal("acronym", path, short, reason=reason)


def _propose_long(
    vault: VaultNames, short: str, said: list[_Expansion]
) -> Iterator[tuple[float, RoundProposal]]:
    """Yield what letters stand for, where a note has them for its name and not that."""
    notes = vault.known.get(fold_plural(short), set())
    if len(notes) != 1 or len(short) < _LEAST_SPELLED:
        return
    (path,) = notes
    document = vault.documents[path]
    own = {fold_long(name) for name in (*vault.names_of(path), document.stem)}
    own |= {fold_long(text.text) for text in vault.texts[path].markup.headings}
    first = min(said, key=lambda found: (found.path != path, found.path, found.line))
    folded = fold_long(first.long)
    is_named = short.casefold() in (fold_plural(document.title), fold_plural(document.stem))
    if not is_named or any(folded in name or name in folded for name in own if len(name) > 8):
        return
    if vault.known.get(fold_plural(first.long)) or not is_note_of_its_own(document):
        return
    reason = f"{first.path}:{first.line} says that {short} stands for it"
    yield _SPELLED_WORTH, RoundProposal("alias", path, first.long, reason=reason)


def _has_rival(vault: VaultNames, short: str, notes: set[str]) -> bool:
    """Say whether another note may be meant by the letters, or this one has them already."""
    if vault.known.get(fold_plural(short)) or set(vault.said.get(fold_plural(short), ())) - notes:
        return True
    wanted = short.casefold()
    return any(
        _initials(name) == wanted
        for path in vault.documents
        if path not in notes
        for name in vault.names_of(path)
    )


def _initials(name: str) -> str:
    return "".join(word[0] for word in _PART.findall(name.casefold()))


def _long_names(vault: VaultNames) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for path, document in vault.documents.items():
        for name in (*vault.names_of(path), document.stem):
            found[fold_long(_IN_TITLE.sub("", name))].add(path)
    return found


def fold_long(name: str) -> str:
    """Return a long name for comparing: its words alone, without the plural of English."""
    return fold_plural(" ".join(_PART.findall(name)))


def _read_expansions(line: str) -> Iterator[tuple[str, str]]:
    """Yield letters and what they stand for: "Long Name (LN)" and "LN (Long Name)"."""
    for match in _LONG_BEFORE.finditer(line):
        if long := _ending(line[: match.start()], match["letters"]):
            yield match["letters"], long
    for match in _LONG_BEHIND.finditer(line):
        long = match["long"].strip()
        if is_spelled(_PART.findall(long), match["letters"]) and not _UNWORDED.search(long):
            yield match["letters"], long


_UNWORDED = re.compile(r"[,;:/\[\]*_]|\d")


def _ending(text: str, letters: str) -> str:
    """Return the words at the end of a text that letters stand for, as few as do."""
    text = text.rstrip(" *_")
    words = list(_PART.finditer(text))
    for count in range(len(letters), min(len(words), _MOST_WORDS) + 1):
        start = words[-count].start()
        long = text[start:]
        if not _UNWORDED.search(long) and is_spelled([w[0] for w in words[-count:]], letters):
            return long
    return ""


def is_spelled(words: Sequence[str], letters: str) -> bool:
    """Say whether the initials of the words are the letters, small words of grammar aside."""
    wanted = list(letters.casefold())
    if not words or words[0][0].casefold() != wanted[0]:
        return False
    grammar = [not content_words(word) for word in words]
    for word, is_small in zip(words, grammar, strict=True):
        if wanted and word[0].casefold() == wanted[0]:
            wanted.pop(0)
        elif not is_small:
            return False
    return not wanted


def find_aliases(vault: VaultNames) -> Iterator[tuple[float, RoundProposal]]:
    """Yield names by which several notes call another, and which it says of itself."""
    proses = {path: text.prose.casefold() for path, text in vault.texts.items()}
    for key, targets in vault.said.items():
        if len(targets) != 1 or vault.known.get(key):
            continue
        ((path, said),) = targets.items()
        sources = sorted({one.path for one in said})
        if len(sources) < _LEAST_SAID or not is_note_of_its_own(vault.documents[path]):
            continue
        writing = {note for note, text in proses.items() if key in text} - {path}
        if len(sources) < _LEAST_RATE * len(writing | set(sources)):
            continue
        if _is_another_name(vault, key, path):
            shown = Counter(one.shown for one in said).most_common(1)[0][0]
            reason = f"{len(sources)} notes call it so: {', '.join(sources[:_LEAST_SAID])}"
            yield _ALIAS_WORTH, RoundProposal("alias", path, shown, reason=reason)


def _is_another_name(vault: VaultNames, key: str, path: str) -> bool:
    """Say whether a name has words of its own, which no name of the note has in any form."""
    words = content_words(key)
    first = next(iter_words(key), ("", 0, 0))[0]
    if len(words) < 2 or first not in words:  # a phrase that begins with an article
        return False
    if key not in fold_name(vault.texts[path].prose):
        return False
    return all(_adds(words, content_words(name)) for name in vault.names_of(path))


def _adds(words: list[str], own: list[str]) -> bool:
    new = [word for word in words if not any(_are_alike(word, known) for known in own)]
    lost = [known for known in own if not any(_are_alike(word, known) for word in words)]
    return bool(new and lost)


def _are_alike(one: str, other: str) -> bool:
    if set(tokenize(one)) & set(tokenize(other)):
        return True
    common = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        common += 1
    shorter, longer = sorted((len(one), len(other)))
    return common >= _LEAST_ALIKE and (common == shorter or common >= _ALIKE * longer)
