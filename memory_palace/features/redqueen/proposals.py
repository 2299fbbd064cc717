"""Propose the links that are missing, and write what a round proposes into notes."""

from __future__ import annotations

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from memory_palace.features.memories.form import IMAGE, is_memory
from memory_palace.features.redqueen.askings import Meanings
from memory_palace.features.redqueen.examined import blank_own_sections, may_change
from memory_palace.features.redqueen.session import RoundProposal
from memory_palace.graph.resolve import fold_name, strip_suffix
from memory_palace.language.markers import MARKER
from memory_palace.language.tokens import tokenize
from memory_palace.language.word_lists import STOP_STEMS
from memory_palace.markdown.markup import Markup
from memory_palace.notes.document import Document, Library
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.sections import read_section, replace_section, split_lines

MOST_SHOWN = 20
"""Proposals of one round: a person reads each."""
_PER_NOTE = 2
"""Links that one round proposes in a note, and to a note: the next round has more."""
_LEAST_RATE = 0.34
"""Of the notes that name another the share that link it, below which people chose not to: the
link probability of Mihalcea and Csomai (2007), "keyphraseness"."""
_FEW = 2
"""Notes that may name another which nobody links: more chose not to."""
_WORD = re.compile(r"(?<![-\w/.@=])[^\W_]+")
"""A word, and no later part of a longer one, of a path or an address."""
_SHUT_LINE = re.compile(r">|\||\[\^|%%|:{3}|~{3}|\[[^\[\]\n]++\]:")
"""The beginning of a quotation, table, footnote, comment or definition."""
_SHUT_SPAN = re.compile(
    r"\$\$.*?\$\$|\$[^$\n]++\$|%%.*?%%|(?:https?://|www\.)[^\s)\]>]++|<[^<>\n]++>|(?<!\w)#[\w/-]++"
    r"|\{\{[^{}\n]*+\}\}|\[[^\[\]\n]*+\]",
    re.S,
)
"""Formulas, comments, addresses, HTML, tags, templates, brackets of any other kind."""
_LONGER = re.compile(r"[^\W_]|[-_/=@]|\.\w")
"""The rest of a longer word, a path or an address."""
_UNSAFE = re.compile(r"<!--|-->|^#{1,6}[ \t].*$", re.MULTILINE)


def propose(library: Library) -> list[RoundProposal]:
    """Return the links that are missing, most often linked by others first.

    A name that two notes share leads nowhere. Of the notes that write a name at least a third
    link the note that it names, or at most two write it; else people chose not to.
    """
    documents = {path: d for path, d in library.documents.items() if may_change(d)}
    meanings = Meanings(documents)
    links = {
        path: {meanings.find(link.target.strip("/"), path) for link in document.links}
        for path, document in documents.items()
    }
    mentions = list(_find_mentions(documents, links))
    linking = Counter(target for targets in links.values() for target in targets)
    naming = Counter(mention.target for mention in mentions)
    rates = {target: linking[target] / (linking[target] + n) for target, n in naming.items()}
    mentions.sort(key=lambda m: (-rates[m.target], m.path, m.target))
    forms = Counter(
        link.form
        for document in documents.values()
        for link in Markup(document.body).links
        if not link.is_image
    )
    is_wiki = 2 * forms["wiki"] >= forms.total()
    sources, targets, found = Counter[str](), Counter[str](), list[RoundProposal]()
    for mention in mentions:
        source, target = mention.path, mention.target
        is_usual = rates[target] >= _LEAST_RATE or naming[target] <= _FEW
        if is_usual and max(sources[source], targets[target]) < _PER_NOTE:
            sources[source] += 1
            targets[target] += 1
            others = "other note links" if linking[target] == 1 else "other notes link"
            reason = f"names {documents[target].title}"
            reason += f"; {linking[target]} {others} it" if linking[target] else ""
            written = _write_link(mention, meanings, is_wiki=is_wiki)
            found.append(replace(mention, reason=reason, written=written))
    return found[:MOST_SHOWN]


def _write_link(mention: RoundProposal, meanings: Meanings, *, is_wiki: bool) -> str:
    """Return a link around the words: as most links of the vault, and as short as leads there.

    Addresses count as Markdown links, and a vault of as many wiki links has wiki links.
    """
    source, target, words = mention.path, mention.target, mention.text
    if not is_wiki:
        path = posixpath.relpath(target, posixpath.dirname(source) or ".")
        return f"[{words}]({quote(path)})"
    parts = strip_suffix(target).split("/")
    ends = ("/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))
    name = next((end for end in ends if meanings.find(end, source) == target), "/".join(parts))
    return f"[[{name}]]" if name == words else f"[[{name}|{words}]]"


def _find_mentions(
    documents: Mapping[str, Document], links: Mapping[str, set[str | None]]
) -> Iterator[RoundProposal]:
    """Yield the first mention of every note in each that does not link to it, without a reason."""
    names = _collect_names(documents)
    for source, document in documents.items():
        markup = Markup(blank_own_sections(document.body))
        text, end = open_text(markup), 0
        done = {source, *links[source]}
        for word in _WORD.finditer(text):
            start = word.start()
            for name, target in names.get(word[0].casefold(), ()) if start >= end else ():
                written = text[start : start + len(name)]
                if _is_same(written, name) and not _LONGER.match(text, start + len(name)):
                    end = start + len(name)
                    if target not in done:
                        done.add(target)
                        line = document.body_first_line + markup.line_at(start)
                        yield RoundProposal("link", source, written, line, target)
                    break


def _collect_names(documents: Mapping[str, Document]) -> Mapping[str, list[tuple[str, str]]]:
    """Return the names that only one note has, by their first word, the longest first.

    A name has two words that say something, or is written as no other word is: with two capitals
    or a figure among its letters.
    """
    owners: dict[str, set[str]] = defaultdict(set)
    spelled: dict[str, set[str]] = defaultdict(set)
    for path, document in documents.items():
        for name in document.names:
            owners[fold_name(name)].add(path)
            if name != document.stem or name == document.title or " " in name:
                spelled[fold_name(name)].add(name)
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for folded, paths in owners.items():
        for name in spelled[folded] if len(paths) == 1 else ():
            first = _WORD.match(name)
            if first and _is_telling(name):
                found[first[0].casefold()].append((name, min(paths)))
    return {word: sorted(same, key=lambda x: (-len(x[0]), x)) for word, same in found.items()}


def _is_telling(name: str) -> bool:
    if " " in name:
        return len(set(tokenize(name)) - STOP_STEMS) > 1 and any(map(str.isalpha, name))
    capitals = sum(map(str.isupper, name))
    return capitals > 1 or (capitals == 1 and any(map(str.isdigit, name)))


def _is_same(written: str, name: str) -> bool:
    """Say whether words are a name letter by letter; of several words, the first may be small."""
    first = written[:1].lower() == name[0].lower() and " " in name
    return written == name or (first and written[1:] == name[1:])


def open_text(markup: Markup) -> str:
    """Return the body with blanks for all that no link may be put into; offsets stay."""
    text, starts = markup.text, markup.starts
    kept = bytearray(len(text))
    for block in markup.blocks:
        for line in range(block.first, block.last + 1) if block.kind == "prose" else ():
            if not _SHUT_LINE.match(markup.line_text(line).lstrip(" \t")):
                start, end = starts[line], starts[line + 1] - 1
                kept[start:end] = b"\1" * (end - start)
    shut = [(part.start, part.end) for part in markup.hidden]
    shut += [(link.start, link.end) for link in markup.links]
    for start, end in shut:
        kept[start:end] = bytes(end - start)
    rest = "".join(c if is_open else " " for c, is_open in zip(text, kept, strict=True))
    return _SHUT_SPAN.sub(lambda found: " " * len(found[0]), rest)


def patch_note(document: Document, proposals: Sequence[RoundProposal]) -> bytes:
    """Return the note's bytes with the proposals in them; what it says already is not said again.

    Raise ``PalaceError`` for a note that is not UTF-8.
    """
    path, data = document.path, document.data
    images = [proposal.text for proposal in proposals if proposal.kind == "image"]
    if images and is_memory(document):
        data = _change_image(path, data, images[-1])
    data = _add_links(path, data, [p for p in proposals if p.kind == "link"])
    fields = {}
    for key, kind in (("aliases", "alias"), ("questions", "question")):
        known = document.texts(key)
        if new := _missing(known, (p.text for p in proposals if p.kind == kind)):
            fields[key] = [*known, *new]
    return set_fields(path, data, fields) if fields else data


def _add_links(path: str, data: bytes, links: Sequence[RoundProposal]) -> bytes:
    """Put links around the words they are proposed for, where those are still as they were."""
    for link in links:
        lines, above, body = split_lines(path, data)
        markup, number = Markup(blank_own_sections(body.text)), link.line - 1
        if not above <= number < len(lines):
            continue
        start, end = (markup.starts[number - above + after] for after in (0, 1))
        pattern = re.compile(rf"(?<![^\W_]){re.escape(link.text)}(?![^\W_])")
        at = pattern.search(open_text(markup), start, end)
        if at is not None:
            line, column = lines[number], at.start() - start
            lines[number] = f"{line[:column]}{link.written}{line[column + len(link.text) :]}"
            data = "".join(lines).encode()
    return data


def _missing(known: Sequence[str], texts: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for text in map(_clean, texts):
        found.setdefault(fold_name(text), text)
    taken = {"", *map(fold_name, known)}
    return [text for key, text in found.items() if key not in taken]


def _change_image(path: str, data: bytes, image: str) -> bytes:
    """Put a new image into the section Image; its tokens are kept."""
    old = read_section(path, data, IMAGE)
    if old is None:
        return data
    tokens = (match[0] for match in MARKER.finditer(old))
    return replace_section(path, data, IMAGE, " ".join([_clean(image), *tokens]))


def _clean(text: str) -> str:
    """Return a text on one line that can neither forge a token nor open a heading or comment."""
    return " ".join(_UNSAFE.sub(" ", MARKER.sub(" ", text)).split())
