"""Write what was proposed into a note; every other byte stays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from memory_palace.graph.resolve import fold_name
from memory_palace.language.markers import MARKER
from memory_palace.mnemonics.form import IMAGE, is_memory
from memory_palace.notes.document import Document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.sections import read_section, replace_section, split_lines
from memory_palace.redqueen.note_text import BodyText
from memory_palace.redqueen.proposals import RoundProposal

_UNSAFE = re.compile(r"<!--|-->|^#{1,6}[ \t].*$", re.MULTILINE)


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
    for key, kinds in (("aliases", ("alias", "acronym")), ("questions", ("question",))):
        known = document.texts(key)
        new = _missing(known, (p.text for p in proposals if p.kind in kinds))
        if new:
            fields[key] = [*known, *new]
    return set_fields(path, data, fields) if fields else data


def _add_links(path: str, data: bytes, links: Sequence[RoundProposal]) -> bytes:
    """Put links around the words they are proposed for, where those are still as they were."""
    for link in links:
        lines, above, body = split_lines(path, data)
        text, number = BodyText(body), link.line - 1
        if not above <= number < len(lines):
            continue
        at = text.find_open(link.text, number - above)
        if at is None:
            continue
        line = lines[number]
        start = at - text.markup.starts[number - above]
        rest = line[start + len(link.text) :]
        lines[number] = f"{line[:start]}{link.written}{rest}"
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
