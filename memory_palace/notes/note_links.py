"""Links between notes: Obsidian's, and Markdown links to files of notes, outside code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

from memory_palace.markdown.links import WIKI_LINK, MarkdownLink, unescape
from memory_palace.markdown.markup import Markup
from memory_palace.models import Link
from memory_palace.notes.frontmatter import split_front_matter

_SUFFIX = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)
_TAG = re.compile(
    r"(?:\{\{[<%]\s*(?:rel)?ref\s++(?:path=)?|\{%-?\s*(?:link|post_url)\s)\s*+[\"'`]?([^\s\"'`#%>{}]++)"
    r"[^{}\n]*+\}"
)
"""How Hugo (``ref``, ``relref``) and Jekyll (``link``, ``post_url``) name a page in a tag."""
_OPEN = re.compile(r"\Aobsidian://open\?(?:[^#]*&)?file=([^&#]+)")
_PAGE = re.compile(r"\A(?:[^?:]*/)?[^./?:]*(?:[^./?:]|/|\.html)")
"""The address of a page of a site. It ends with a slash as a target, and need not be a note."""
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+:")


class _Target(NamedTuple):
    """What a link leads to, and where the part of it that names the note is written."""

    link: Link
    is_wiki: bool
    start: int
    end: int


def find_links(body: str, *, first_line: int = 1) -> tuple[Link, ...]:
    """Return every link of a body in order. Time grows with its length, whatever is in it."""
    return links_of(Markup(body), first_line=first_line)


def links_of(markup: Markup, *, first_line: int) -> tuple[Link, ...]:
    """Return the links of a body that has been read already."""
    links = [target.link for target in _targets(markup, first_line)]
    for tag in _TAG.finditer(markup.plain) if "{" in markup.text else ():
        line = first_line + markup.line_at(tag.start())
        links.append(Link(target=_SUFFIX.sub("", unquote(tag[1])), line=line))
    return tuple(links)


def find_links_in_fields(raw: str) -> tuple[Link, ...]:
    """Return the wiki links of front matter, which is YAML and no Markdown."""
    return tuple(target.link for target in _targets_in_fields(raw))


def rewrite_links(text: str, rename: Callable[[str, bool], str | None]) -> str:
    """Give links of a whole note new targets; every other character stays.

    ``rename`` is given the target as ``Link`` holds it and whether it is a wiki link, and returns
    what to write instead, or ``None``. A reference link changes in its definition.
    """
    body = split_front_matter(text).end
    targets = [
        *_targets_in_fields(text[:body]),
        *(
            target._replace(start=body + target.start, end=body + target.end)
            for target in _targets(Markup(text[body:]), 1)
        ),
    ]
    new = {
        (target.start, target.end): name
        for target in targets
        if (name := rename(target.link.target, target.is_wiki)) is not None
    }
    for (start, end), name in sorted(new.items(), reverse=True):
        text = f"{text[:start]}{name}{text[end:]}"
    return text


def _targets(markup: Markup, first_line: int) -> Iterator[_Target]:
    for found in markup.links:
        line = first_line + markup.line_at(found.start)
        if found.form == "wiki":
            yield _wiki(markup.text, found.target_start, found.target_end, found.is_image, line)
        elif (target := _file(markup.text, found, line)) is not None:
            yield target


def _targets_in_fields(raw: str) -> Iterator[_Target]:
    for match in WIKI_LINK.finditer(raw):
        line = 1 + raw.count("\n", 0, match.start())
        yield _wiki(raw, *match.span(1), match[0][0] == "!", line)


def _wiki(text: str, start: int, end: int, is_embed: bool, line: int) -> _Target:
    # In a table the bar before an alias is escaped.
    inside, _, alias = text[start:end].replace("\\|", "|").partition("|")
    name, _, heading = inside.partition("#")
    link = Link(
        target=_SUFFIX.sub("", name.strip()),
        line=line,
        heading=heading.strip() or None,
        alias=alias.strip() or None,
        is_embed=is_embed,
    )
    return _Target(link, True, start, start + len(name))


def _file(text: str, found: MarkdownLink, line: int) -> _Target | None:
    """Return where a Markdown link leads; ``None`` unless it is a file of a note."""
    name, _, heading = text[found.target_start : found.target_end].partition("#")
    file = unquote(unescape(name)).strip()
    if opened := _OPEN.match(name):  # maybe in another vault
        file = _SUFFIX.sub("", unquote(opened[1])) + "/.md"
    elif file.startswith("[[") and file.endswith("]]"):  # Logseq, Zettlr: [label]([[note]])
        file = f"{file[2:-2]}.md"
    elif _PAGE.fullmatch(file) and not found.is_image:
        file = f"{file.removesuffix('.html').rstrip('/')}/.md"
    if _SUFFIX.search(file) is None or _SCHEME.match(file):
        return None
    link = Link(target=_SUFFIX.sub("", file), line=line, heading=heading or None)
    return _Target(link, False, found.target_start, found.target_start + len(name))
