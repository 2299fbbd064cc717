"""What ``Markup`` reads is what markdown-it-py reads: headings, code and links.

It differs on purpose in this, and the comparison leaves it out: ``[[wiki links]]`` are links;
links and code inside HTML blocks are read, because people write notes there; front matter is no
Markdown; a reference definition is part of a paragraph, as in cmark, so that an indented line below
it goes on with that paragraph.
"""

import random
import re
from itertools import pairwise
from urllib.parse import unquote

import pytest
from evaluation_data import GARDEN, ROOT
from markdown_it import MarkdownIt

from memory_palace.markdown.markup import Markup, unescape
from memory_palace.notes.frontmatter import split_front_matter
from memory_palace.notes.note import decode_note

PARSER = MarkdownIt("commonmark")


def one_line(text):
    return " ".join(re.sub(r"<!--.*?-->", "", text, flags=re.S).split())


def theirs(text):
    headings, blocks, spans, links = [], [], [], []
    tokens = PARSER.parse(text)
    for token, after in pairwise([*tokens, None]):
        if token.type == "heading_open":
            headings.append((int(token.tag[1]), one_line(after.content), token.map[0]))
        elif token.type in ("fence", "code_block"):
            blocks.append((token.type == "fence", token.map[0]))
        for child in token.children or ():
            if child.type == "code_inline":
                spans.append("".join(child.content.split()))
            elif child.type == "link_open" and child.info != "auto":
                links.append(unquote(child.attrs["href"]))
            elif child.type == "image":
                links.append(unquote(child.attrs["src"]))
    return headings, blocks, spans, sorted(links)


def ours(text):
    markup = Markup(text)
    html = {
        line
        for block in markup.blocks
        if block.kind in ("html", "comment")
        for line in range(block.first, block.last + 1)
    }
    code = [block for block in markup.blocks if block.kind in ("fence", "indented")]
    inside = {line for block in code for line in range(block.first, block.last + 1)} | html
    headings = [(found.level, one_line(found.text), found.first) for found in markup.headings]
    blocks = [(block.kind == "fence", block.first) for block in code]
    spans = [
        "".join(text[part.start : part.end].strip("`").split())
        for part in markup.hidden
        if part.kind == "code" and markup.line_at(part.start) not in inside
    ]
    links = [
        unquote(unescape(text[link.target_start : link.target_end]))
        for link in markup.links
        if link.form != "wiki" and markup.line_at(link.start) not in html
    ]
    return headings, blocks, spans, sorted(links)


def bodies(folder):
    for path in sorted(folder.rglob("*.md")):
        text = decode_note(path.read_bytes(), path.name)[0]
        yield path, text[split_front_matter(text).end :]


def test_the_sample_and_the_references_are_read_as_markdown_it_reads_them():
    read = 0
    for folder in ("palace", "references", "tests/golden"):
        for path, body in bodies(ROOT / folder):
            assert ours(body) == theirs(body), path
            read += 1
    assert read > 30


@pytest.mark.skipif(not GARDEN.is_dir(), reason="the garden vault is not there")
def test_the_garden_is_read_as_markdown_it_reads_it():
    for path, body in bodies(GARDEN):
        mine, his = ours(body), theirs(body)
        # It refuses some addresses in links, and reads a cell of a table by itself.
        assert mine[:3] == his[:3] and set(his[3]) <= set(mine[3]), path


LINES = """\
# A
## B ##
Title
===
---
- item
  more
    deep
1. one
2. two
10) ten
   cont
> quote
> # q
> - deep
> ```
- ```
  ```
```
~~~~
````md
`a
b`
``x `y`` z
<!-- c
-->
<!-- whole -->
[t](d.md)
[t](<a b.md> 'x')
[t](a(b)c.md "x")
[t][l]
[l][]
[l]
\\[esc](no.md)
\\`no`
a\\
[x] [y](z)
[a [b](c) d](e)
![i](p.png)
[![i](p.png)](q.md)
- [x](y.md)
-
* * *
***
_ _ _
<div>
</div>
<b>
  ===
    # no
#nope
text
""".splitlines()
LINES += ["#", "### x#", "####### x", "   # x", "[t](a b.md)"]
LINES += ["", "", "", "\tcode", "    code", "-\tfoo", '[l]: /url "t"\n', "[m]: <x.md>\n"]


@pytest.mark.parametrize("seed", range(8))
def test_what_commonmark_can_hold_is_read_as_markdown_it_reads_it(seed):
    chosen = random.Random(seed)
    for _ in range(500):
        text = "\n".join(chosen.choice(LINES) for _ in range(chosen.randint(1, 9)))
        assert ours(text) == theirs(text), text
