"""How telling a word is: short lists of words that say little, and weights by rarity.

Lists name words that say nothing of a subject, that point, or that deny; the long lists of grammar
stand in text files, read here. ``bm25_idf`` falls to almost nothing for a word that most texts
have: right where texts are ranked and common words must not decide. ``share_idf`` stays above ln 2:
right where the words of a question share out a whole among themselves and each that is known must
keep a part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from memory_palace.language.tokens import tokenize

_WORDS = """
a about above after again all am an and any are as at be because been before being below
between both but by can could did do does doing down during each few for from further had has
have having he her here hers herself him himself his how i if in into is it its itself just me
might more most must my myself no nor not of off on once only or other our ours ourselves out
over own same shall she should so some such than that the their theirs them themselves then
there these they this those through to too under until up us very was we were what when where
which while who whom whose why will with would you your yours yourself yourselves
"""
STOPWORDS = frozenset(_WORDS.split())
"""Articles, pronouns, prepositions, conjunctions, auxiliaries and question words.

Shorter than ``vocabulary.FUNCTION_WORDS``, which lists whatever is no noun in a phrase: "today",
"Monday" and "please" are among those, and are worth searching for."""
STOP_STEMS = frozenset(tokenize(" ".join(sorted(STOPWORDS))))
"""The same as ``tokenize`` gives them."""
PSEUDO_TEXTS = 4
NEGATIONS = frozenset(
    "no not never none nobody without neither nor cannot hardly nowhere unable".split()
)
FOREIGN_NEGATIONS = frozenset(
    "nicht kein keine nie niemals ohne ne pas jamais sans nunca jamás sin".split()
)
"""German, French and Spanish ones. Apart, because "sin" and "pas" are words of English too."""
TIME_WORDS = frozenset(
    """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    spring summer autumn fall winter
    day days week weeks weekend weekends month months year years
    morning afternoon evening night tonight today tomorrow yesterday
    ago back earlier lately other recently
    """.split()
)
"""English words of time, which say little of what a text is about."""
_SPANS = "since year month week day hour minute ago"
_NUMBERS = f"""
one two three four five six seven eight nine ten eleven twelve dozen couple few several hundred
thousand once twice {" ".join(map(str, range(1, 101)))}
"""
_TIMES = """
yesterday today tonight tomorrow last next ago week weekend month year
monday tuesday wednesday thursday friday saturday sunday
january february april june july august september october november december
"""
_ASKED = {"how long": _SPANS, "when": _TIMES}
_ASKED |= dict.fromkeys(("how many", "how much", "how often", "how old"), _NUMBERS)
_ASKED |= dict.fromkeys(("what date", "what day", "what month", "what year"), _TIMES)
_ASKING = re.compile(rf"\b(?:{'|'.join(_ASKED)})\b", re.I)


def drop_stop_stems(stems: Sequence[str]) -> tuple[str, ...]:
    """Return the distinct stems that carry meaning, in order; all where none does."""
    distinct = tuple(dict.fromkeys(stems))
    return tuple(stem for stem in distinct if stem not in STOP_STEMS) or distinct


def answer_stems(question: str) -> frozenset[str]:
    """Return stems of which an answer has one, where an English question asks for a kind of thing.

    A time, a span of time, or a number; none where it asks for anything else. A place and a person
    have no words of their own.
    """
    asked = _ASKING.search(question)
    return frozenset(tokenize(_ASKED[asked[0].casefold()])) if asked else frozenset()


def is_negation(word: str) -> bool:
    """Say whether a word of ``plain_words`` denies in English."""
    return word in NEGATIONS or word.endswith("n't")


def read_table(name: str) -> dict[str, str]:
    """Return the entries of a file in this folder, in order: ``key: text`` a line.

    A line that begins with a space goes on with the entry before it; ``#`` begins a comment.
    The file is found by its path, because importing ``importlib.resources`` takes 30 ms.
    """
    table: dict[str, str] = {}
    key = ""
    for line in (Path(__file__).parent / name).read_text("utf-8").splitlines():
        if line.startswith(" "):
            table[key] += f" {line.strip()}"
        elif line and not line.startswith("#"):
            key, _, text = line.partition(":")
            table[key] = text.strip()
    return table


def bm25_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + (N - df + .5) / (df + .5))`` (Robertson and Spärck Jones 1976, as Lucene)."""
    return math.log1p((texts - having + 0.5) / (having + 0.5))


def expect_idf(stem: str, having: int, texts: int) -> float:
    """Return ``bm25_idf`` with pseudo-counts: what a word says where there are few texts.

    ``PSEUDO_TEXTS`` stand beside them, half of which have every stop word, and none another word.
    """
    usual = PSEUDO_TEXTS // 2 if stem in STOP_STEMS else 0
    return bm25_idf(having + usual, texts + PSEUDO_TEXTS)


def share_idf(having: int, texts: int) -> float:
    """Return ``ln(1 + N / df)``, at least ln 2 for a word of any text; ``having`` is above 0."""
    return math.log1p(texts / having)
