"""Foam: what a report of work says that nobody needs to read again."""

from __future__ import annotations

import re
from importlib.resources import files

from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.markup import Markup

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_LINES = files("memory_palace.metabolism").joinpath("foam.txt").read_text("utf-8").splitlines()
_FOAM = [re.compile(line, re.IGNORECASE) for line in _LINES if not line.startswith("#")]


def split_statements(text: str) -> list[str]:
    """Return sentences and list items in order; fenced code and headings are left out."""
    lines = text.split("\n")
    statements: list[str] = []
    paragraph: list[str] = []

    def end_paragraph() -> None:
        statements.extend(split_sentences(" ".join(paragraph)))
        paragraph.clear()

    for line, is_fenced in zip(lines, Markup(text).fenced, strict=True):
        item = _ITEM.match(line)
        if is_fenced or item or not line.strip() or line.lstrip().startswith("#"):
            end_paragraph()
        if is_fenced or line.lstrip().startswith("#") or not line.strip():
            continue
        paragraph.append(line[item.end() :].strip() if item else line.strip())
    end_paragraph()
    return statements


def strip_foam(statements: list[str]) -> list[str]:
    """Drop foam and whatever was said before in the same words."""
    kept: list[str] = []
    seen: set[str] = set()
    for statement in statements:
        key = " ".join(re.findall(r"\w+", statement.casefold()))
        if key and key not in seen and not any(foam.search(statement) for foam in _FOAM):
            seen.add(key)
            kept.append(statement)
    return kept
