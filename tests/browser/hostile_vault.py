"""Notes that were written to take over the page that shows them, or to show what it must not."""

from collections.abc import Iterator, Mapping
from pathlib import Path

PWNED = "pwned"
"""Every script here sets this name on ``window``, so that one check finds whichever was run."""
_RUN = f"window.{PWNED}=1"

MARKUP: tuple[str, ...] = (
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"<!--<script>{_RUN}",
    f"--><script>{_RUN}</script><!--",
    f"<![CDATA[<script>{_RUN}</script>]]>",
    f"</title></style></textarea><script>{_RUN}</script>",
    f"<img src=x onerror={_RUN}>",
    f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<math><mtext></mtext><mglyph><style><img src=x onerror={_RUN}></style></mglyph></math>",
    f"<details open ontoggle={_RUN}>",
    f"<input autofocus onfocus={_RUN}>",
    f"<body onload={_RUN}>",
    f"<iframe srcdoc='<script>parent.{PWNED}=1</script>'></iframe>",
    f"<iframe src='javascript:parent.{PWNED}=1'></iframe>",
    f"<object data='javascript:{_RUN}'></object><embed src='javascript:{_RUN}'>",
    f"<form action='javascript:{_RUN}'><button id=search>search</button></form>",
    f"<a href='javascript:{_RUN}' style='position:fixed;inset:0;z-index:9999'>x</a>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href='https://evil.example/'><link rel=stylesheet href='https://evil.example/x.css'>",
    "<style>*{display:none}body{background:url(https://evil.example/bg)}</style>",
    "<img src='https://evil.example/pixel.png' srcset='https://evil.example/2x.png 2x'>",
    "<video autoplay src='https://evil.example/v'><source src='https://evil.example/w'></video>",
    f'"><img src=x onerror={_RUN}>',
    f"' onmouseover='{_RUN}' x='",
    f"${{{_RUN}}} {{{{constructor.constructor('{_RUN}')()}}}} <%= {_RUN} %>",
)
"""HTML that does something where it is taken for HTML."""

LINKS: tuple[str, ...] = (
    f"javascript:{_RUN}",
    f"JaVaScRiPt:{_RUN}",
    f" javascript:{_RUN}",
    f"javascript&colon;{_RUN}",
    f"javascript&#58;{_RUN}",
    f"javascript&#x3a;{_RUN}",
    f"&#106;avascript:{_RUN}",
    f"&#x6A;&#x61;vascript:{_RUN}",
    f"java&Tab;script:{_RUN}",
    f"java&NewLine;script:{_RUN}",
    f"java\tscript:{_RUN}",
    f"\x01javascript:{_RUN}",
    f"&#1;javascript:{_RUN}",
    f"javascript\\:{_RUN}",
    f"javascript%3A{_RUN}",
    f"\u200bjavascript:{_RUN}",
    f"javascript://%0a{_RUN}",
    f"feed:javascript:{_RUN}",
    f"view-source:javascript:{_RUN}",
    f"vbscript:{_RUN}",
    f"livescript:{_RUN}",
    f"data:text/html,<script>parent.{PWNED}=1</script>",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==",
    f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{_RUN}'/>",
    f"DATA:text/html,<script>{_RUN}</script>",
    "blob:https://evil.example/1",
    "filesystem:https://evil.example/1",
    "file:///etc/passwd",
    "//evil.example/x",
    "\\\\evil.example\\share",
    "about:blank",
    "ms-msdt:/id",
    "intent://evil.example#Intent;end",
)
"""Targets that a page must never lead to, in disguises that browsers or Markdown see through."""

PROTOTYPES = (
    "__proto__ constructor prototype toString valueOf hasOwnProperty __defineGetter__ "
    "isPrototypeOf length name then toJSON"
).split()

TRICKS: Mapping[str, str] = {
    "override": "gnp\u202eexe.\u202c \u2066isolated \u2067 never closed",
    "zalgo": "z" + "\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308\u0309" * 30 + "algo",
    "zero width": "no\u200bth\u200cin\u200dg \u2060to\ufeff see\u00ad",
    "right to left": "\u05d0\u05e8\u05de\u05d5\u05df \u0627\u0644\u0630\u0627\u0643\u0631\u0629",
    "line separators": "one\u2028two\u2029three\u0085four",
    "controls": "a\x00b\x01c\x1b[31md\x7fe\x9b",
    "wide": "\ufdfd" * 40
    + "\U0001f3f4\U000e0067\U000e007f \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "private use": "\ue000\uf8ff\uffff\ufffe \U0010ffff",
    "emoji joined": "\U0001f469\u200d" * 300,
    "tags": "".join(chr(0xE0000 + ord(letter)) for letter in "select me"),
    "noncharacter escapes": "\\ud800 \\u0000 &#0; &#xD800; &#x110000; &NotANumber;",
}
"""Text that is laid out or cut wrongly where it is not expected."""

UNCLOSED: Mapping[str, str] = {
    "fence": "```js\nlet x = 1;\n",
    "comment": "before <!-- never closed\n\nafter",
    "percent": "before %% never closed\n\nafter",
    "tags": "<div><table><tr><td><b><i><select><option>never closed\n\nafter",
    "attribute": "<a href=\"never closed\n\nafter > and <p title='",
    "emphasis": "**bold *both _under ~~struck `code ![[ [[ [a]( [b][ <http://",
    "table": "| a | b |\n|---|\n| c\n|| |\\| `|` | [[x|y]] |\n",
    "list": "- a\n  - b\n      - c\n        1. d\n            > e\n",
    "reference": "[x]: <javascript:\n[y]: /z 'never closed\n\n[x] [y]",
    "front matter": "---\ntitle: a\n...\n---\ntitle: b",
    "plaintext": "<plaintext><xmp><noscript><noembed><noframes><template><frameset>",
}

CANARIES: Mapping[str, str] = {
    "private note": "zibeline",
    "private title": "quokkish",
    "private name": "xerothermic",
    "private alias": "wyvernal",
    "private tag": "vexillary",
    "private folder": "umbraculate",
    "private span": "tmesipteral",
    "open span": "sphragistic",
    "cold note": "rhyparograph",
    "cold title": "quincuncial",
    "cold name": "psephomancy",
    "cold alias": "onychophagy",
    "secret": "AKIA" + "QZJ4W7XNOPHRMTKB",
    "unreadable matter": "nudiustertian",
    "ignored": "mumpsimusly",
}
"""Words, none of which may be in a file that is shown to a friend, and where each stands."""
COLD = ("cold note", "cold title", "cold name", "cold alias")
"""Those that may be there where cold rooms are asked for."""


def _titled(title: str, body: str, **fields: object) -> str:
    """Return a note; what it is called is quoted as YAML in the form that takes any character."""
    lines = [f"{key}: {value}" for key, value in {"title": _quoted(title), **fields}.items()]
    return "---\n" + "\n".join(lines) + f"\n---\n{body}\n"


def _quoted(text: str) -> str:
    """Write a text as a YAML scalar, in double quotes and ASCII."""
    plain = "".join(
        letter
        if letter.isprintable() and letter.isascii() and letter not in '"\\'
        # YAML has no half of a pair; the note's own text has none either.
        else f"\\U{ord(letter):08x}"
        for letter in text
    )
    return f'"{plain}"'


def _write_markup() -> Iterator[tuple[str, str]]:
    for number, markup in enumerate(MARKUP):
        quoted = _quoted(markup)
        fields = {"aliases": f"[{quoted}]", "tags": f"[{quoted}]", "type": quoted, "author": quoted}
        body = (
            f"# {markup}\n\n{markup}\n\nInline {markup} too, and `{markup}`.\n\n"
            f"- {markup}\n\n> {markup}\n\n| {markup} |\n|---|\n| {markup} |\n\n"
            f"```{markup}\n{markup}\n```\n\n    {markup}\n\n"
            f"[{markup}](markup%200.md '{markup}') ![{markup}](markup%201.md) "
            f"[[{markup}]] [[markup 2|{markup}]] [[markup 3#{markup}]] #{markup}\n\n"
            f"[^1]\n\n[^1]: {markup}\n\n$$ {markup} $$ =={markup}== ^[{markup}] %%{markup}%%\n"
        )
        yield f"markup/markup {number}.md", _titled(markup, body, **fields)
    for number, markup in enumerate(MARKUP):
        name = markup.replace("/", "\u2215")[:60]
        yield f"names/{name} {number}.md", f"See [[markup {number}]].\n"
        if number < 8:
            yield f"{name}/below.md", f"# In a folder of a name\n\n[[{name} {number}]]\n"


def _write_links() -> Iterator[tuple[str, str]]:
    for number, link in enumerate(LINKS):
        body = (
            f"# Links {number}\n\n[inline]({link}) [angle](<{link}>) [titled]({link} 'a title')\n"
            f"![image]({link}) [![both]({link})]({link}) <{link}> {link}\n\n"
            f"[reference][r] [r] ![r]\n\n[[{link}]] [[{link}|alias]] ![[{link}]] [[x|{link}]]\n\n"
            f'<a href="{link}">html</a> <img src="{link}">\n\n[r]: <{link}>\n'
        )
        yield f"links/links {number}.md", body


def _write_tricks() -> Iterator[tuple[str, str]]:
    for name, text in TRICKS.items():
        title = text if name != "controls" else "a\x01b\x1b[31mc"
        body = f"# {text}\n\n{text} [[{text}]] [{text}](x.md)\n\n```\n{text}\n```\n"
        yield f"tricks/{name}.md", _titled(title, body, aliases=f"[{_quoted(title)}]")
    for name, text in UNCLOSED.items():
        yield f"unclosed/{name}.md", f"{text}"
    for name in PROTOTYPES:
        links = " ".join(f"[[{other}]] #{other}" for other in PROTOTYPES)
        fields = {"aliases": f"[{name}-alias]", "tags": f"[{name}]", "type": name, name: name}
        yield f"{name}/{name}.md", _titled(name, f"{links}\n\n[[{name}#{name}]]", **fields)
    yield "long/title.md", _titled("long " * 1_000, "A title of 5,000 characters.")
    yield "long/word.md", _titled("w" * 5_000, "x" * 5_000 + "\n\n## " + "y" * 5_000)
    yield (
        "long/tags.md",
        _titled("Many tags", "z", tags=f"[{', '.join(f't{n}' for n in range(999))}]"),
    )
    yield f"long/{'n' * 250}.md", "# A name at the limit\n"
    deep = "/".join(["deep" + "d" * 180] * 17)
    yield f"{deep}/deep.md", "# A path near the limit\n\n[[title]]\n"
    yield "empty.md", ""
    yield "blank.md", "\n \n\t\n"
    yield "only matter.md", "---\ntags: []\n---\n"


def _write_canaries() -> Iterator[tuple[str, str]]:
    word = CANARIES
    private = {"aliases": f"[{word['private alias']}]", "tags": f"[{word['private tag']}]"}
    body = f"# {word['private title']}\n\nThis is {word['private note']}. See [[neighbour]].\n"
    yield (
        f"diary/{word['private name']}.md",
        _titled(word["private title"], body, private="true", **private),
    )
    yield f"{word['private folder']}/only.md", "---\nprivate: true\n---\n# Nobody's business\n"
    yield (
        "diary/broken.md",
        f"---\nprivate: true\na: [\n---\n# Broken\n\n{word['unreadable matter']}\n",
    )
    cold = f"# {word['cold title']}\n\nOld: {word['cold note']}. See [[neighbour]].\n"
    yield (
        f"Archive/{word['cold name']}.md",
        _titled(word["cold title"], cold, aliases=f"[{word['cold alias']}]"),
    )
    yield (
        "diary/neighbour.md",
        f"# Neighbour\n\nSee [[markup 0]] and [[only]].\n\n<private>my {word['private span']}\n"
        f"</private> and more.\n\nkey = {word['secret']}\n\n<PRIVATE >Open: {word['open span']}\n",
    )
    yield f"ignored/{word['ignored']}.md", f"# {word['ignored']}\n"


def write_hostile_vault(root: Path) -> Path:
    """Write the notes into a folder that is a palace as it stands, and return it."""
    (root / ".palace").mkdir(parents=True)
    (root / ".palace" / "palace.yaml").write_text("rooms:\n  Archive: archive_basement\n")
    (root / ".palaceignore").write_text("ignored\n")
    for write in (_write_markup, _write_links, _write_tricks, _write_canaries):
        for name, text in write():
            _write(root, name, text.encode("utf-8", "surrogatepass"))
    # Half of a pair of code units, and bytes that are no UTF-8, where the file system lets them.
    for name in (b"half \xed\xa0\x80.md", b"latin \xe9.md"):
        path = root / "tricks" / name.decode("utf-8", "surrogateescape")
        path.write_bytes(b"# Half \xed\xa0\x80 and \xff\xfe\n\n[[half]]\n")
    return root


def _write(root: Path, name: str, data: bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


_MEGABYTES = 10_000_000
HEAVY: Mapping[str, str] = {
    "one line": "word " * (_MEGABYTES // 5),
    "one word": "x" * _MEGABYTES,
    "brackets": "[" * _MEGABYTES,
    "quotes": ">" * 10_000 + " deep",
    "lists": "".join("  " * depth + "- deep\n" for depth in range(2_000)),
    "emphasis": "*a **b " * 10_000,
    "links": "[a](" * 10_000 + "![" * 10_000 + "[[" * 10_000,
    "html": "<div>" * 10_000 + "<b>" * 10_000,
    "entities": "&amp;&#x41;" * 50_000,
    "ticks": "".join("`" * length + " " for length in range(1_000)),
    "table": "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n" + ("|" + "c|" * 100 + "\n") * 1_000,
    "headings": "# h\n\n" * 20_000,
    "wiki links": "[[one line]] " * 20_000,
}
"""Notes of up to 10 MB, each of a form that takes some reader of Markdown very long."""
