"""Mentions of a note that nobody linked: propose the link where people link the same words."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_palace.language.vocabulary import DETERMINERS, VERBS
from memory_palace.redqueen.link_style import write_link
from memory_palace.redqueen.note_text import BodyText
from memory_palace.redqueen.proposals import RoundProposal
from memory_palace.redqueen.vault_names import (
    VaultNames,
    content_words,
    fold_plural,
    is_note_of_its_own,
    iter_words,
)

LEAST_RATE = 0.34
"""Of the notes that write a name the share that link it, below which people chose not to: the
link probability of Mihalcea and Csomai (2007), "keyphraseness"."""
_LEAST_LINKED = 2
_UNKNOWN_MOST = 2
"""Notes that may write a name of several words that nobody links anywhere: more chose not to."""
_LEAST_WORDS = 40
"""Words of a target that are worth the way to it."""
_CITED = re.compile(
    r"\bpp?\. ?\d|\bet al\b|\bdoi\b|\bISBN\b|\bvol\. ?\d|\(\d{4}[a-z]?\)\.|, \d{4}[.,)]|\. \d{4}\."
)
"""Marks of a bibliography."""
_LISTS_SOURCES = frozenset(
    "references bibliography sources citations footnotes credits changelog quellen literatur "
    "références bibliographie fuentes referencias bibliografía".split()
)
_LETTERS_BEHIND = re.compile(r"s? \(([A-Z]{2,8})s?\)")
_UNSPACED = re.compile("[\u30a0-\u30ff\u3400-\u9fff々]|[^\\W_]")
"""Beside a name a part of a longer word, where words are not spaced; hiragana is grammar."""
_INDEX_SHARE = 0.6
"""Share of the lines of a note that are items that begin with a link, from which it is a list."""
_LINK_FIRST = re.compile(r"(?<![ \t])[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++[*_]*+!?\[")


_PERSONAL = frozenset({"your", "my", "our"})
_PLAIN = re.compile(r"[^\W_]+")


class _Name(NamedTuple):
    words: tuple[str, ...]
    key: str
    path: str


@dataclass(frozen=True, slots=True)
class _Mention:
    source: str
    target: str
    key: str
    written: str
    start: int


def find_missing_links(vault: VaultNames) -> Iterator[tuple[float, RoundProposal]]:
    """Yield links that are missing, with their worth, one for each note and target at most."""
    mentions = _find_mentions(vault)
    by_name: dict[tuple[str, str], list[_Mention]] = defaultdict(list)
    for mention in mentions:
        by_name[mention.key, mention.target].append(mention)
    done: set[tuple[str, str]] = set()
    for (key, target), found in by_name.items():
        linked = {said.path for said in vault.said.get(key, {}).get(target, ())}
        writing = {m.source for m in found} | linked
        rate = len(linked) / len(writing)
        if not _is_linked_by_people(len(linked), rate, len(writing), key):
            continue
        for mention in found:
            pair = mention.source, target
            is_weak = len(linked) < _LEAST_LINKED and _may_be_instruction(vault, mention)
            if pair not in done and target not in vault.linked[mention.source] and not is_weak:
                done.add(pair)
                worth = rate * math.log1p(1 + len(linked))
                yield worth, _propose(vault, mention, len(linked), len(writing))


def _is_linked_by_people(linked: int, rate: float, writing: int, key: str) -> bool:
    if linked >= _LEAST_LINKED:
        return rate >= LEAST_RATE
    return " " in key and writing <= _UNKNOWN_MOST + linked


def _may_be_instruction(vault: VaultNames, mention: _Mention) -> bool:
    """Say whether a mention begins a sentence: "List views of the base." names no view."""
    return _begins_sentence(vault.texts[mention.source].markup.text, mention.start)


def _propose(vault: VaultNames, mention: _Mention, linked: int, writing: int) -> RoundProposal:
    document = vault.documents[mention.source]
    text = vault.texts[mention.source]
    line = document.body_first_line + text.markup.line_at(mention.start)
    title = vault.documents[mention.target].title
    reason = (
        f"{linked} of the {writing} notes that write it link it to {title}"
        if linked
        else f"{title} has that name, and this note does not link to it"
    )
    written = write_link(vault, mention.source, mention.target, mention.written)
    return RoundProposal(
        "link", mention.source, mention.written, line, mention.target, reason, written=written
    )


def _find_mentions(vault: VaultNames) -> list[_Mention]:
    names = _collect_names(vault)
    found = []
    for path, text in vault.texts.items():
        if is_note_of_its_own(vault.documents[path]) and not _is_list(text):
            found += list(_mentions_in(vault, path, text, names))
    return found


def _collect_names(vault: VaultNames) -> dict[str, list[_Name]]:
    """Return the names that may be linked, by their first word, the longest first."""
    keys: dict[str, set[str]] = defaultdict(set)
    for key, paths in vault.known.items():
        keys[key] |= paths
    for key, targets in vault.said.items():
        keys[key].update(
            path for path, said in targets.items() if len({s.path for s in said}) >= _LEAST_LINKED
        )
    found: dict[str, list[_Name]] = defaultdict(list)
    for key, paths in keys.items():
        path = min(paths, default="")
        if len(paths) != 1 or set(vault.said.get(key, ())) - paths or not _may_lead(vault, path):
            continue
        words = tuple(word for word, _, _ in iter_words(key))
        if words and _is_telling(vault, key, path):
            found[words[0]].append(_Name(words, key, path))
    for same in found.values():
        same.sort(key=lambda name: -len(name.words))
    return found


def _may_lead(vault: VaultNames, path: str) -> bool:
    words = len(vault.texts[path].markup.text.split())
    return is_note_of_its_own(vault.documents[path]) and words >= _LEAST_WORDS


def _is_telling(vault: VaultNames, key: str, path: str) -> bool:
    """Say whether a name can only be meant as one: of two telling words, or a proper name."""
    content = content_words(key)
    words = key.split()
    if not _PERSONAL.isdisjoint(words) or (
        words[0] in VERBS and not DETERMINERS.isdisjoint(words[1:])
    ):
        return False  # an instruction: "sync your notes", "create a vault"
    shown = [said.shown for said in vault.said.get(key, {}).get(path, ())]
    if len(content) > 1:
        return len({*shown}) > 0 or all(map(vault.is_rare, content))
    if len(content) != 1 or len(key.split()) > 1:
        return False
    written = [name for name in vault.names_of(path) if fold_plural(name) == key]
    return any(map(vault.is_proper, written)) and all(text[:1].isupper() for text in shown)


def _mentions_in(
    vault: VaultNames, path: str, text: BodyText, names: dict[str, list[_Name]]
) -> Iterator[_Mention]:
    """Yield the mentions of a note; of a target in a section the first alone."""
    body = text.open_text
    words = list(iter_words(body))
    seen: set[tuple[int, str]] = set()
    place = 0
    while place < len(words):
        name, count = _match(body, words, place, names)
        if name is None:
            place += 1
            continue
        start, end = words[place][1], words[place + count - 1][2]
        place += count
        section = text.section_at(start)
        if name.path == path or (section, name.path) in seen:
            continue
        seen.add((section, name.path))
        if _may_be_linked(vault, text, name, start, end):
            yield _Mention(path, name.path, name.key, body[start:end], start)


def _match(
    body: str,
    words: Sequence[tuple[str, int, int]],
    place: int,
    names: dict[str, list[_Name]],
) -> tuple[_Name | None, int]:
    singular = words[place][0]
    candidates = names.get(singular, ())
    if not candidates and singular.endswith("s"):
        candidates = names.get(singular[:-1], ())
    for name in candidates:
        count = len(name.words)
        if place + count > len(words):
            continue
        start, end = words[place][1], words[place + count - 1][2]
        if fold_plural(body[start:end]) == name.key:
            return name, count
    return None, 1


def _may_be_linked(vault: VaultNames, text: BodyText, name: _Name, start: int, end: int) -> bool:
    """Say whether a mention stands in running prose, and is written as the name is."""
    body = text.markup.text
    line = text.markup.line_text(text.markup.line_at(start))
    heading = text.heading_at(start).casefold()
    if heading in _LISTS_SOURCES or _CITED.search(line):
        return False
    before, behind = body[max(0, start - 2) : start], body[end : end + 2]
    if _UNSPACED.match(before[-1:]) or _UNSPACED.match(behind[:1]):
        return False
    if before[-1:] in tuple("*_-/.@#=[(“\"'’`") and before[-1:] != "(":
        return False
    if behind[:1] in tuple("*_-/=]`\"”'’") or (behind[:1] in "./" and behind[1:2].isalnum()):
        return False
    if _is_emphasised(line, start, text) or _is_whole_line(line, body[start:end]):
        return False
    letters = _LETTERS_BEHIND.match(body[end : end + 12])
    if letters and letters[1].casefold() != "".join(word[0] for word in name.words):
        return False  # the end of a longer name
    if " " not in name.key and _begins_sentence(body, start) and not _is_marked(body[start:end]):
        return False  # its capital says nothing
    return _is_written_alike(vault, name, body[start:end]) and not _goes_on(body, start, end, name)


def _is_emphasised(line: str, start: int, text: BodyText) -> bool:
    """Say whether a place lies in emphasis: a label, a menu, the title of a work."""
    number = text.markup.line_at(start)
    column = start - text.markup.starts[number]
    above = line[:column]
    return above.count("**") % 2 == 1 or len(re.findall(r"(?<!\w)_|_(?!\w)", above)) % 2 == 1


def _is_written_alike(vault: VaultNames, name: _Name, written: str) -> bool:
    """Say whether capitals are as in the name: a proper name has them wherever it stands.

    A name is one where people who link it nearly always capitalise its last word.
    """
    shown = [s.shown for s in vault.said.get(name.key, {}).get(name.path, ())]
    if " " in written and written[-1] == "s" and name.key == written[:-1].casefold():
        plural = written.split()[-1]
        if plural[:1].isupper() and written not in (*shown, *vault.names_of(name.path)):
            return False
    if " " not in written:
        return (
            written in vault.names_of(name.path)
            or written in shown
            or written[:-1] in (vault.names_of(name.path))
        )
    last = [text.split()[-1][:1].isupper() for text in shown if " " in text]
    if len(last) >= _LEAST_LINKED and sum(last) >= 0.8 * len(last):
        return written.split()[-1][:1].isupper()
    return True


def _is_whole_line(line: str, written: str) -> bool:
    """Say whether a line is the name and nothing else: a label, which speaks of nothing."""
    return len(_PLAIN.findall(line)) <= len(_PLAIN.findall(written))


def _goes_on(body: str, start: int, end: int, name: _Name) -> bool:
    """Say whether the words are part of a longer name: "Conway" in "Erik Conway Junior"."""
    if body[start:end].islower():
        return False
    before = re.search(r"([^\W\d_][\w’'-]*) $", body[max(0, start - 40) : start])
    behind = re.match(r" ([^\W\d_][\w’'-]*)", body[end : end + 40])
    neighbours = [found[1] for found in (before, behind) if found]
    if any(word[:1].isupper() and word[1:2].islower() for word in neighbours):
        is_first = before is not None and _begins_sentence(body, start - len(before[0]))
        return not (is_first and len(neighbours) == 1)
    return False


def _begins_sentence(body: str, place: int) -> bool:
    return body[:place].rstrip(" *_>")[-1:] in ("", "\n", ".", "!", "?", ":", "-")


def _is_marked(word: str) -> bool:
    return sum(map(str.isupper, word)) > 1 or any(map(str.isdigit, word))


def _is_list(text: BodyText) -> bool:
    """Say whether a note is a list of links."""
    lines = [line for line in text.markup.text.split("\n") if line.strip()]
    return sum(bool(_LINK_FIRST.match(line)) for line in lines) >= _INDEX_SHARE * max(len(lines), 1)
