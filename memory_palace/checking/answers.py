"""What is written of an answer, or of a passage, and says something that can be checked.

Not its citations, footnotes, heads of tables and titles: a number in them counts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_palace.errors import UsageError
from memory_palace.language.markers import drop_markers
from memory_palace.language.sentences import split_sentences
from memory_palace.language.tagged_words import Part, split_words
from memory_palace.markdown.prose import strip_markup

MOST_CHARACTERS = 20_000
"""Of an answer."""
MOST_WORDS = 120
"""Of a sentence; the longest of the garden and the help pages has 112."""
_CITATION = re.compile(
    r"[ \t]?(?:"
    r"(?<!\[)\[\^?\d{1,4}(?:[ \t]*[,–-][ \t]*\^?\d{1,4}){0,20}\]"
    r"(?:\([^()\s]{1,500}\)|(?![\]\w(]))"
    r"|\[\^[^\]\s]{1,40}\]"
    r"|(?<!\])\([^()\n]{1,200}\.md(?:[:#][^()\n]{0,80})?\))"
)
"""``[1]``, ``[2, 3](address)``, ``[^note]``, ``(note.md:12-14)``."""
_FOOTNOTE = re.compile(r"^[ \t]{0,3}\[\^?[^\]\n]{1,40}\]:[^\n]*+(?:\n[ \t]++\S[^\n]*+)*+", re.M)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(?P<title>[^\n]*)$", re.M)
_RULE = frozenset("|:->\t ")
"""What the line between the head of a table and its rows is made of."""
_ROW = "- "
_VERBS = (Part.VERB, Part.PARTICIPLE)


def read_prose(text: str) -> str:
    """Return what a passage says, line by line: formulas and code inside of a line included."""
    return strip_markup(drop_markers(text), keep_spans=True)


def read_answer(response: str) -> str:
    """Return what an answer says, without what leads to its sources and what is only a title.

    Raise ``UsageError`` for one of more than ``MOST_CHARACTERS``: each sentence of it is compared
    with every passage.
    """
    if len(response) > MOST_CHARACTERS:
        raise UsageError(
            f"the answer has {len(response):,} characters, and {MOST_CHARACTERS:,} at most are "
            "checked; check it in parts"
        )
    return read_claims(response)


def read_claims(text: str) -> str:
    """Return what a text of any length says that could be checked."""
    text = _FOOTNOTE.sub("", text)
    text = _HEADING.sub(_drop_title, _CITATION.sub("", text))
    return read_prose("\n".join(_read_tables(text.split("\n"))))


def split_prose(prose: str) -> Iterator[str]:
    """Yield the sentences of a prose; one without end in pieces of ``MOST_WORDS`` words.

    Comparing two sentences takes the square of their words: a list of 8,000 took ten minutes.
    """
    for sentence in split_sentences(prose):
        words = sentence.split(" ") if len(sentence) > MOST_WORDS else [sentence]
        for start in range(0, len(words), MOST_WORDS):
            yield " ".join(words[start : start + MOST_WORDS])


def _drop_title(heading: re.Match[str]) -> str:
    """Keep a heading only where it is a sentence: something is said of something."""
    is_sentence = any(word.part in _VERBS for word in split_words(heading["title"]))
    return heading[0] if is_sentence else ""


def _read_tables(lines: list[str]) -> list[str]:
    """Leave out each table's head and the rule under it; every row becomes one statement."""
    kept: list[str] = []
    for line in lines:
        if "|" in line and "-" in line and _RULE.issuperset(line):
            if kept and kept[-1].startswith(_ROW):
                kept.pop()
        elif line.lstrip().startswith("|"):
            cells = (cell.strip() for cell in line.split("|"))
            kept.append(_ROW + ", ".join(cell for cell in cells if cell))
        else:
            kept.append(line)
    return kept
