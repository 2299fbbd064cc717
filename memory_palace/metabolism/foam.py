"""Foam: what a report of work says that nobody needs to read again."""

from __future__ import annotations

import re

from memory_palace.language.sentences import split_sentences
from memory_palace.markdown.markup import Markup

_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_FOAM = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # acknowledgements
        r"^(many |warm )?(thanks|thank you|cheers|kudos|merci|danke|gracias)\b",
        r"^(great|good|nice|excellent|brilliant|amazing|awesome) (job|work|effort|teamwork)\b",
        r"^(sure|ok(ay)?|got it|understood|will do|no problem|sounds good|perfect)[.!,]?$",
        # interim status
        r"^(still |currently |now )?(working on|looking into|in progress|making progress)\b",
        r"^(status|update)\s*[:—-]",
        r"^(will|i'll|we'll) (report|update|check|get) back\b",
        r"^more (soon|later|tomorrow)\b",
        # motivational asides
        r"^(let's|we can|we will|you can) (do this|do it|go|get there|keep going|keep it up)\b",
        r"^(keep going|keep it up|never give up|fingers crossed|onwards?|we got this|hooray)\b",
        # trials without a new insight
        r"^(tried|trying|tried it|ran it|retried) (again|once more|one more time)"
        r"([,.]? (still )?(nothing|no (luck|change|success|difference)|the same( \w+)?))?[.!]?$",
        r"^(no luck|no change|same (error|result|again)|still (nothing|failing|broken))[.!]?$",
    )
)


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
