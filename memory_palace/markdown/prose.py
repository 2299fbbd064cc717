"""The prose of a Markdown text: without code, addresses, link targets and markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from memory_palace.markdown.links import MarkdownLink
from memory_palace.markdown.markup import Markup

_STRUCTURE = re.compile(r"[`~#\[]|^(?:===|---)", re.M)
"""Without any of these a text has neither code nor heading nor link."""
_BREAK = " . "
"""Stands for what is left out, so that no phrase reaches over it."""
_MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.S)
_URL = re.compile(r"(?:https?://|www\.)[^\s)\]>]+")
_HTML = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_BULLET = re.compile(r"^([ \t]*)\*(?=\s)", re.M)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,2}|_{1,2}(?!\w)|~~|==")
_NAME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^#]*/(?=[^/]))?|#\^.*$|^#")
"""What of the target of a link is no name: folders, the mark of a block."""
_STEPS = (
    (("$",), _MATH, _BREAK),
    (("://", "www."), _URL, _BREAK),
    (("<",), _HTML, " "),
    (("*",), _BULLET, r"\1-"),
    (("*", "_", "==", "~~"), _EMPHASIS, ""),
)
"""In order: marks without which the step is skipped, what is replaced, and by what."""
_Edit = tuple[int, int, str]
_TAGS = (
    "a|abbr|article|audio|b|blockquote|br|button|center|code|col|d[dlt]|del|details|div|em|embed|fig\\w+"
    "|font|h[1-6r]|i|iframe|img|input|ins|kbd|li|link|mark|[ou]l|p|picture|pre|q|s|script|section|small"
    "|source|span|strong|style|su[bp]|summary|svg|table|t[dhr]|tbody|thead|u|video|wbr"
)
_UNSEEN = re.compile(
    r"(?P<kept>```.*?(?:```|\Z)|`[^`\n]*`|\$\$.+?\$\$)"
    r"|(?P<noise>(?<![\w}\\])\{\{[^{}]{1,300}\}\}|\{%[^%]{1,300}%\}|<%[^%]{1,300}%>"
    rf"|\(\([0-9a-f-]{{36}}\)\)|<!--.*?(?:-->|\Z)|</?(?:{_TAGS})\b(?! [^<>=/]*>)[^<>]*(?:>|\Z))"
    r"|(?P<link>!?\[\[(?P<wiki>[^\[\]\n]*)\]\]|!?\[(?P<text>[^\[\]\n]*)\]"
    r"\((?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+[\"'][^\"'\n]*[\"'])?\)|\*\*)",
    re.S,
)
"""Code and formulas, which stay; marks of programs; links and bold letters."""
_PLACE = re.compile(r"\A(?:[a-z][a-z0-9+.-]*://\S+|[a-z][\w-]+(?:\.[a-z][\w-]*)+(?:#\S*)?)")
"""The address of a note, or its name in Dendron."""


def shown_text(text: str, *, keep_links: bool = False) -> str:
    """Return a text as people see it: no HTML, no braces of templates, links as their words.

    With ``keep_links`` these are left to who shows them, the note first and then the label.
    """

    def show(match: re.Match[str]) -> str:
        if match["kept"] is not None or (keep_links and match["link"] and match["wiki"] is None):
            return match[0]
        if match["noise"] is not None:
            return "\n" * match[0].count("\n")
        name, label = _read_wiki(match["wiki"] or "")
        if keep_links:
            return f"[[{name}|{label}]]" if _PLACE.fullmatch(name) and label else match[0]
        return (label or _NAME.sub("", name) or match["text"] or "").replace("**", "")

    return _UNSEEN.sub(show, text)


def _read_wiki(inside: str) -> tuple[str, str]:
    """Return the note and the label of a wiki link, which Dendron writes the other way about."""
    first, _, second = (part.strip() for part in inside.replace("\\|", "|").partition("|"))
    is_turned = _PLACE.fullmatch(second) and not _PLACE.fullmatch(first)
    return (second, first) if is_turned else (first, second)


def strip_markup(text: str, *, keep_spans: bool = False) -> str:
    """Return the prose of a note or a part of one; lines stay lines. Code is left out.

    Headings become small letters: their capitals say nothing. Links become the text they show.
    With ``keep_spans`` code and formulas inside of a line stay: they are what a sentence is about.
    """
    if _STRUCTURE.search(text):
        markup = Markup(text, is_part=True)
        text = _apply(_with_small_headings(markup), sorted(_edits(markup, keep_spans)))
    for marks, pattern, replacement in _STEPS:
        if any(mark in text for mark in marks) and not (keep_spans and pattern is _MATH):
            text = pattern.sub(partial(_replace, replacement), text)
    return text


def _replace(replacement: str, match: re.Match[str]) -> str:
    return match.expand(replacement) + "\n" * match[0].count("\n")


def _with_small_headings(markup: Markup) -> str:
    lines = markup.text.split("\n")
    for heading in markup.headings:
        for number in range(heading.first, heading.last + 1):
            small = lines[number].lower()
            # Offsets must stay, and a few capitals have small letters of another length.
            if len(small) == len(lines[number]) and not heading.is_nested:
                lines[number] = small
    return "\n".join(lines)


def _edits(markup: Markup, keep_spans: bool) -> Iterator[_Edit]:
    """Yield what is left out: where it starts and ends, and what stands for it."""
    for part in markup.hidden:
        if part.kind == "code" and keep_spans:
            marks = re.match("`*", markup.text[part.start : part.end])
            width = marks.end() if marks else 0
            yield part.start, part.start + width, ""
            yield part.end - width, part.end, ""
        elif part.kind in ("block", "code"):
            lines = "\n" * markup.text.count("\n", part.start, part.end)
            yield part.start, part.end, (lines or "\n") if part.kind == "block" else _BREAK + lines
    for link in markup.links:
        if link.form == "wiki":
            start, end = _shown_name(markup.text, link)
            yield link.start, start, ""
            yield end, link.end, ""
        else:
            yield link.start, link.start + (2 if link.is_image else 1), ""
            yield link.text_end, link.end, ""


def _shown_name(text: str, link: MarkdownLink) -> tuple[int, int]:
    """Return where the text of a wiki link is: its alias, or the last part of its target."""
    start, end = link.target_start, link.target_end
    bar = text.find("|", start, end)
    if bar >= 0 and text[bar + 1 : end].strip():
        return bar + 1, end
    stops = [place for mark in "#|" if (place := text.find(mark, start, end)) >= 0]
    end = min(stops, default=end)
    return max(start, text.rfind("/", start, end) + 1), end


def _apply(text: str, edits: Sequence[_Edit]) -> str:
    kept: list[str] = []
    position = 0
    for start, end, replacement in edits:
        if start >= position:
            kept += [text[position:start], replacement]
            position = end
    return "".join([*kept, text[position:]])
