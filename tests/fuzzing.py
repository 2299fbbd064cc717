"""Texts that nobody would write, each of a number: words of time beside digits, scripts, Markdown.

The same number gives the same text. Lines of the vaults beside this project are among them where
there are any.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import memory_palace.language
from memory_palace.language.words import read_table

TABLES = Path(memory_palace.language.__file__).parent / "time"
VAULTS = Path(__file__).parents[2] / "shared" / "data"
SCRIPTS = (
    (0x41, 0x7A), (0xC0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x58F),
    (0x591, 0x5F4), (0x600, 0x6FF), (0x700, 0x74F), (0x901, 0x97F), (0x981, 0x9FB), (0xA01, 0xA75),
    (0xB82, 0xBFA), (0xC01, 0xC7F), (0xD02, 0xD7F), (0xE01, 0xE5B), (0xE81, 0xEDF), (0xF00, 0xFDA),
    (0x1000, 0x109F), (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F), (0x13A0, 0x13F4),
    (0x1780, 0x17F9), (0x1800, 0x18AA), (0x2000, 0x206F), (0x2070, 0x209C), (0x2150, 0x2189),
    (0x2460, 0x24FF), (0x3041, 0x3096), (0x30A1, 0x30FA), (0x3200, 0x33FF), (0x3400, 0x3450),
    (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFB00, 0xFDFF), (0xFE00, 0xFE0F), (0xFF01, 0xFFEF),
    (0x10400, 0x1044F), (0x1D400, 0x1D7FF), (0x1F300, 0x1F6FF), (0x20000, 0x20100),
    (0xE0000, 0xE007F), (0x1, 0x1F), (0x7F, 0xA0),
)  # fmt: skip
"""Ranges of characters: letters, marks and numbers of more than twenty scripts, and signs."""
DIGITS = (
    "2026 2025 1999 0 1 3 12 15 31 32 99 007 12345 19700101 99999999 1655109426539 3.5 1,000 1/2 3/4"
    " 14.10. 2026-05 2026-W32 12:30 '99 1e5 ２０２５ ٢٠٢٥ २०२५ 二〇二四 十五 ² ½ Ⅷ ① ㊋ ㋀ 四千 廿 "
    "10^9 -1 +3 #4 3rd 2nd. Q3 H2 KW5 W53 1980s 00s 4T 昭和99 令和元"
).split()
MARKS = (
    *"# ## ###### - * + > >> ``` ~~~ ```` | |-|-| --- === *** ___ <!-- --> %% $$ [[ ]] ![[ ( ) [".split(),
    *"](a.md) ](<a b>) [x]: [^1] [^1]: <private> </private> <div> </div> <script> <a href=' &amp;".split(),
    *"&#0; &#x110000; \\ \\[ ** __ ~~ == ` `` :: :---: 1. 1) 999999999. - [ ] - [x] #tag #a/b".split(),
    *"**Superseded 2026-01-01:** [[a|b]] [[a#b^c]] {{x}} Anna: 安娜： [12:40] http://a.b/c AKIAIOSFODNN7EXAMPLE".split(),
    *("\n", "\n\n", "\t", "    ", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff", "\0", "\n> ", "\n- "),
    *("\n    ", "\n1. ", "\n| a | b |\n|---|---|\n", "\n---\n", "\n```\n", "\n$$\n", "-----BEGIN KEY-----"),
)  # fmt: skip
FIELDS = (
    "title date created updated modified tags aliases alias entities type priority private questions valid_from "
    "valid_until superseded_by evergreen source parties status verbatim corridor_card day publishDate"
).split()
VALUES = (
    "", "~", "[]", "{}", "[[]]", "- a", "&a [*a]", "!!binary x", "!!set {a}", "!!int ''", "0x" + "f" * 5000, ".nan",
    ".inf", "1e400", "12:30:45", "2026-02-30", "2026-13-01", "0001-01-01", "9999-12-31T23:59:59+23:00", "-1",
    "1655109426539", "99999999999999999999", "0b1", "1_000", "yes", "[1, 2, {a: b}]", "'\\0'", '"\\uD800"', '"\\0"',
    "? a", "|", ">-", "*x", "%x", "@x", "`x`", "a: b", "[a", "- - - a", "2026-05-03 2026-05-04", "<<: {a: 1}",
)  # fmt: skip


@cache
def time_words() -> tuple[str, ...]:
    """Return each word of each table of ``language/time``, in all its forms."""
    words: dict[str, None] = {}
    for table in sorted(TABLES.glob("*.txt")):
        for listed in read_table(f"time/{table.name}").values():
            for written in re.split(r"[\s|]+", listed):
                stem, *endings = written.strip("?").replace("_", " ").split("/")
                words |= dict.fromkeys([stem, *(stem + ending for ending in endings)])
    return tuple(filter(None, words))


@cache
def vault_lines() -> tuple[str, ...]:
    """Return lines that people wrote; none where there is no vault."""
    found: list[str] = []
    for file in sorted(VAULTS.glob("vaults/**/*.md")) + sorted(
        VAULTS.glob("multilingual-help/**/*.md")
    ):
        found += filter(str.strip, file.read_text("utf-8", "replace").split("\n"))
    return tuple(found)


def make_text(number: int) -> str:
    """Return the text of a number."""
    random = Random(number)
    if number % 5 < 2:
        return time_text(number // 5 * 2 + number % 5, random)
    makers: tuple[Callable[[Random], str], ...] = (script_text, note_text, line_text)
    return makers[number % 5 - 2](random)


def time_text(number: int, random: Random) -> str:
    """Return an expression of time with digits straight before a word and straight behind one."""
    words, pick = time_words(), random.choice
    word, other = words[number % len(words)], pick(words)
    forms = (
        "{0}{1}",
        "{1}{0}",
        "{0}{1}{2}",
        "{0} {1}{2} {3}",
        "{1}{0}{3}{2}",
        "に{0}{1}",
        "{3} {1} {0}",
        "({0}{1})",
    )
    first = pick(forms).format(pick(DIGITS), word, pick(DIGITS), other)
    between = pick(("", " ", "-", "\n", "~", " to ", "年", "、", ":"))
    return f"{first}{between}{word}{pick(DIGITS)}"


def script_text(random: Random) -> str:
    """Return words of a few scripts, with marks and digits of any."""
    scripts = random.choices(SCRIPTS, k=3)
    words = []
    for _ in range(random.randrange(1, 30)):
        first, last = random.choice(scripts)
        words.append(
            "".join(chr(random.randint(first, last)) for _ in range(random.randrange(1, 9)))
        )
    words += random.choices(DIGITS, k=random.randrange(3))
    random.shuffle(words)
    return random.choice((" ", "", "\n", "-", ". ")).join(words)


def note_text(random: Random) -> str:
    """Return Markdown that is hardly any, mostly below front matter that is hardly any."""
    parts = random.choices(MARKS, k=random.randrange(1, 40))
    parts += random.choices((*DIGITS, *random.choices(time_words(), k=9), "word", "Words"), k=12)
    random.shuffle(parts)
    body = random.choice((" ", "", "\n")).join(parts)
    if random.random() < 0.4:
        return body
    values = (
        random.choice((*VALUES, *DIGITS, time_text(random.randrange(9**6), random)))
        for _ in range(4)
    )
    fields = "\n".join(f"{random.choice(FIELDS)}: {value}" for value in values)
    return f"---\n{fields}\n{random.choice(('---', '---', '...', ''))}\n{body}"


def line_text(random: Random) -> str:
    """Return lines that people wrote, cut, joined and with digits and marks put in."""
    lines = vault_lines()
    if not lines:
        return note_text(random)
    text = "\n".join(random.choice(lines)[:200] for _ in range(3))
    for _ in range(random.randrange(4)):
        place = random.randrange(len(text))
        text = text[:place] + random.choice((*DIGITS, *MARKS)) + text[place + random.randrange(3) :]
    return text
