"""What the product writes into notes is no matter of theirs: nobody is asked about it."""

from __future__ import annotations

from memory_palace.markdown.markup import Markup
from memory_palace.mnemonics.form import is_own_line, is_own_section


def blank_own_sections(body: str) -> str:
    """Return a body with empty lines for the product's own sections, at any level of heading.

    Those are the image of a memory, its anchors, marks, links, figures and verification.
    """
    lines, level = body.split("\n"), 0
    headings = {h.first: h for h in Markup(body).headings if not h.is_nested}
    for number in range(len(lines)):
        heading = headings.get(number)
        if heading is not None and not (level and heading.level > level):
            level = heading.level if is_own_section(heading.text) else 0
        if level or is_own_line(lines[number]):
            lines[number] = ""
    return "\n".join(lines)
