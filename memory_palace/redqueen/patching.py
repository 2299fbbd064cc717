"""Write an evolution into a note: its anchors, the field aliases, the section Image."""

from __future__ import annotations

import re

from memory_palace.language.markers import MARKER
from memory_palace.mnemonics.form import IMAGE, is_memory, read_form
from memory_palace.mnemonics.rendering import add_anchors
from memory_palace.notes.document import Document
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.sections import read_section, replace_section
from memory_palace.redqueen.round_values import Evolution

_UNSAFE = re.compile(r"<!--|-->|^#{1,6}[ \t].*$", re.MULTILINE)


def patch_note(document: Document, evolution: Evolution) -> bytes:
    """Return the note's bytes with the evolution in them; every other line stays.

    What the note already says is not said again. Raise ``PalaceError`` for a note that is not
    UTF-8.
    """
    path, data = document.path, document.data
    known = {name.casefold() for name in read_form(document).anchors}
    anchors = [anchor for anchor in evolution.anchors if anchor.casefold() not in known]
    if is_memory(document):
        data = _change_image(path, data, evolution)
    if anchors:
        data = add_anchors(path, data, anchors)
    aliases = document.texts("aliases")
    taken = {name.casefold() for name in aliases}
    names = [name for name in evolution.aliases if name.casefold() not in taken]
    return set_fields(path, data, {"aliases": [*aliases, *names]}) if names else data


def _change_image(path: str, data: bytes, evolution: Evolution) -> bytes:
    """Put a new image, its tokens kept, or a prompt for one, into the section Image."""
    old = read_section(path, data, IMAGE)
    if old is None or not (evolution.image or evolution.image_prompt):
        return data
    if evolution.image:
        tokens = (match[0] for match in MARKER.finditer(old))
        return replace_section(path, data, IMAGE, " ".join([_clean(evolution.image), *tokens]))
    prompt = f"<!-- image prompt: {_clean(evolution.image_prompt)} -->"
    return replace_section(path, data, IMAGE, f"{old.strip()}\n\n{prompt}")


def _clean(text: str) -> str:
    """Return a text on one line that can neither forge a token nor open a heading or comment."""
    return " ".join(_UNSAFE.sub(" ", MARKER.sub(" ", text)).split())
