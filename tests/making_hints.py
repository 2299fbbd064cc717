"""Make hints.txt of the tables: ``python tests/making_hints.py > .../time/hints.txt``."""

from memory_palace.language.time_words import LATIN, LETTERS, fold, read_lexicon
from memory_palace.language.words import read_table

HEAD = "# Made of the tables by tests/making_hints.py: what a text is looked through for first.\n"
TELLING_TIME = frozenset("*UMWKNHDQcz#CJ")
"""Categories of which an expression has one, unless it is made of digits."""


def make_hints() -> str:
    """Return for each language the words of which one is needed, and its frequent words."""
    lines = []
    for language in LATIN:
        words, counted = set(), set()
        for first, entries in read_lexicon(language).words.items():
            for entry in entries:
                if entry.letter in TELLING_TIME:
                    words.add(max((first, *entry.rest), key=len))
                elif entry.letter == LETTERS["session"]:
                    counted.add("_".join((first, *entry.rest)))
        telling = fold(read_table(f"time/{language}.txt")["telling"]).split()
        lines += [f"words {language}: {' '.join(sorted(words))}"]
        lines += [f"counted {language}: {' '.join(sorted(counted))}"]
        lines += [f"telling {language}: {' '.join(sorted(set(telling)))}"]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(make_hints(), end="")  # noqa: T201
