"""Parse the bytes of a file into a note with passages and links. Pure: no file is opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from memory_palace.config import LONG_LINE_BYTES
from memory_palace.language.sentences import find_talkers
from memory_palace.language.visible import drop_markers
from memory_palace.markdown.markup import WIKI_LINK, MarkdownLink, Markup, strip_markup, unescape
from memory_palace.models import Link, Priority, Problem
from memory_palace.notes.chunking import (
    LONGEST_HEADING,
    Cutter,
    chunk_body,
    chunk_claim,
    chunk_plainly,
    question_chunk,
)
from memory_palace.notes.dating import read_times
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.manifest import PRIORITIES
from memory_palace.notes.note import Chunk, Fence, Note, read_body, stem_of
from memory_palace.notes.superseding import blank_claims, blank_quotes, find_claims

_SUFFIX = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)
_PAGE_TAG = re.compile(
    r"(?:\{\{[<%]\s*(?:rel)?ref\s++(?:path=)?|\{%-?\s*(?:link|post_url)\s)\s*+[\"'`]?([^\s\"'`#%>{}]++)"
    r"[^{}\n]*+\}"
)
"""A page named in a tag of Hugo (``ref``, ``relref``) or Jekyll (``link``, ``post_url``)."""
_OPEN = re.compile(r"\Aobsidian://open\?(?:[^#]*&)?file=([^&#]+)")
_PAGE = re.compile(r"\A(?:[^?:]*/)?[^./?:]*(?:[^./?:]|/|\.html)")
"""A relative URL of a page on a site. Its link target ends with ``/``, and need not be a note."""
_SCHEME = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+:")


class _Target(NamedTuple):
    """A link, and the offsets of its target in the text."""

    link: Link
    is_wiki: bool
    start: int
    end: int


def find_links(body: str, *, first_line: int = 1) -> tuple[Link, ...]:
    """Return the links of a body, then the pages of its Hugo and Jekyll tags, in linear time."""
    return links_of(Markup(body), first_line=first_line)


def links_of(markup: Markup, *, first_line: int) -> tuple[Link, ...]:
    """Return the links of a parsed body, then the pages of its Hugo and Jekyll tags."""
    links = [target.link for target in _targets(markup, first_line)]
    for tag in _PAGE_TAG.finditer(markup.plain) if "{" in markup.text else ():
        line = first_line + markup.line_at(tag.start())
        links.append(Link(target=_SUFFIX.sub("", unquote(tag[1])), line=line))
    return tuple(links)


def find_links_in_fields(raw: str) -> tuple[Link, ...]:
    """Return the wikilinks of a front matter block, which is not parsed as Markdown."""
    return tuple(target.link for target in _targets_in_fields(raw))


def rewrite_links(text: str, rename: Callable[[str, bool], str | None]) -> str:
    """Return a note's text with new link targets; every other character stays.

    ``rename`` takes ``Link.target`` and whether it is a wikilink, and returns the new target, or
    ``None`` to keep it. A reference link is changed in its definition.
    """
    body = split_front_matter(text).end
    parts = ((0, _targets_in_fields(text[:body])), (body, _targets(Markup(text[body:]), 1)))
    new = {
        (begin + target.start, begin + target.end): name
        for begin, targets in parts
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
    """Return the target of a Markdown link; ``None`` unless it may name a note."""
    name, _, heading = text[found.target_start : found.target_end].partition("#")
    file = unquote(unescape(name)).strip()
    if opened := _OPEN.match(name):  # possibly a note of another vault
        file = _SUFFIX.sub("", unquote(opened[1])) + "/.md"
    elif file.startswith("[[") and file.endswith("]]"):  # Logseq, Zettlr: [label]([[note]])
        file = f"{file[2:-2]}.md"
    elif _PAGE.fullmatch(file) and not found.is_image:
        file = f"{file.removesuffix('.html').rstrip('/')}/.md"
    if _SUFFIX.search(file) is None or _SCHEME.match(file):
        return None
    link = Link(target=_SUFFIX.sub("", file), line=line, heading=heading or None)
    return _Target(link, False, found.target_start, found.target_start + len(name))


_TAG = re.compile(r"(?<![\w&/#\[])(?<!\]\()#([^\W\d_][\w/-]*)")
INBOX = ("inbox", "agent")
"""``type`` and ``origin`` of an inbox note, in which each section is a memory of an agent."""
MOST_QUESTIONS = 50
"""Most ``questions`` read per note; each is embedded like a passage."""


def parse_note(
    path: str,
    data: bytes,
    *,
    count_tokens: Callable[[str], int],
    token_limit: int,
    locale: str = "",
    line_bytes: int = LONG_LINE_BYTES,
) -> Note:
    """Parse a note; private, secret and other withheld text is dropped before anything is read.

    ``locale`` decides the order of day and month in a date such as 3/4/2026.
    """
    matter, is_closed, body, first_line, problems = read_body(path, data, line_bytes)
    digest = sha256(data).hexdigest()
    if is_closed:
        return Note(path, digest, stem_of(path), is_private=True, problems=problems)
    defects: list[Problem] = []
    fence, values = Fence(path, defects.append), matter.values
    markup = fence.read("Markdown", lambda: Markup(body), Markup(""))
    named = fence.read("title", lambda: _text(values.get("title")) or markup.title, None)
    title = (named or "")[:LONGEST_HEADING]
    priority, remark = fence.read("priority", lambda: _priority(values, path), (None, ()))
    dated = partial(read_times, values, path, title, body=body, locale=locale)
    times, wrong = fence.read("dates", dated, ({}, ()))
    questions, left = fence.read("questions", lambda: _questions(values, path), ([], ()))
    talkers = fence.read(
        "speakers", lambda: find_talkers(body) and find_talkers(strip_markup(body)), frozenset()
    )
    cutter = Cutter(count_tokens, token_limit, title, talkers)
    chunks: tuple[Chunk, ...] = ()
    if markup.text == body:
        cut = partial(_cut, cutter, path, values, markup, first_line)
        chunks = fence.read("passages", cut, ())
    return Note(
        path,
        digest,
        title or stem_of(path),
        type=fence.read("type", lambda: _text(values.get("type")), None),
        priority=priority,
        tags=fence.read("tags", lambda: _tags(values, markup.plain), ()),
        aliases=fence.read("aliases", lambda: _names(values, "aliases", "alias"), ()),
        entities=fence.read("entities", lambda: _names(values, "entities"), ()),
        links=fence.read("links", lambda: links_of(markup, first_line=first_line), ()),
        **times,
        body=body,
        body_first_line=first_line,
        chunks=chunks or chunk_plainly(body, first_line=first_line, size=token_limit),
        originals=fence.read("originals", lambda: _originals(values, body), ()),
        talkers=talkers,
        questions=tuple(map(question_chunk, questions)),
        problems=(*problems, *remark, *left, *wrong, *defects),
    )


def digest_words(body: str) -> str:
    """Return the ``verbatim`` field of a telegraph: a short SHA-256 of its body's words."""
    words = " ".join(body.split()).encode("utf-8", "surrogateescape")
    return f"text-{sha256(words).hexdigest()[:16]}"


def _originals(values: Mapping[str, Any], body: str) -> tuple[str, ...]:
    """Return the notes that a telegraph quotes; none if its body was edited since."""
    card = _text(values.get("corridor_card"))
    if card is None or _text(values.get("verbatim")) != digest_words(body):
        return ()
    return (card, *_names(values, "source"))


def _cut(
    cutter: Cutter, path: str, values: Mapping[str, Any], markup: Markup, first_line: int
) -> tuple[Chunk, ...]:
    """Return the passages of a body, then those of its superseded claims."""
    claims = find_claims(markup.text)
    held = blank_claims(markup.text, claims)
    if "parties" in values and values.get("status") in ("resolved", "wontfix"):
        held, claims = blank_quotes(held), []
    chunks = chunk_body(
        cutter,
        markup if held == markup.text else Markup(held),
        first_line=first_line,
        stem=stem_of(path),
        is_inbox=(values.get("type"), values.get("origin")) == INBOX,
    )
    lost = (chunk_claim(cutter, markup, claim, first_line=first_line) for claim in claims)
    return (*chunks, *chain.from_iterable(lost))


def _priority(values: Mapping[str, Any], path: str) -> tuple[Priority | None, tuple[Problem, ...]]:
    value = values.get("priority")
    text = (_text(value) or "").lower()
    if not text or text in PRIORITIES:
        return cast("Priority | None", text or None), ()
    message = f"priority {value!r} is not high, medium or low; it is ignored"
    return None, (Problem(path, None, "front matter", message),)


def _questions(values: Mapping[str, Any], path: str) -> tuple[list[str], tuple[Problem, ...]]:
    """Return the distinct ``questions`` of front matter, and a problem if they exceed a limit."""
    value = values.get("questions")
    items = value if isinstance(value, list) else [value]
    given = list(dict.fromkeys(text for item in items if (text := _text(item))))
    found = [text[:LONGEST_HEADING] for text in given[:MOST_QUESTIONS]]
    if found == given:
        return given, ()
    message = (
        f"of {len(given):,} questions only {MOST_QUESTIONS} are read, "
        f"and of each only {LONGEST_HEADING} characters"
    )
    return found, (Problem(path, None, "front matter", message),)


def _tags(values: Mapping[str, Any], plain: str) -> tuple[str, ...]:
    named = [tag.removeprefix("#") for tag in _names(values, "tags", "tag")]
    inline = _TAG.findall(plain) if "#" in plain else ()
    return tuple(dict.fromkeys([*named, *inline]))


def _names(values: Mapping[str, Any], *keys: str) -> tuple[str, ...]:
    """Return the distinct strings of fields that are lists or comma-separated text."""
    found: list[str] = []
    for key in keys:
        value = values.get(key)
        items = value if isinstance(value, list) else str(value).split(",") if value else []
        found += [text for item in items if (text := _text(item))]
    return tuple(dict.fromkeys(found))


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, list | dict | bool):
        return None
    return " ".join(drop_markers(str(value)).split()) or None
