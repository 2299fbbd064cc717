"""No text makes reading slow: time grows with its length, whatever stands in it.

The patterns are found in the modules, and the texts in the patterns themselves. Those of
secrets.txt read windows of a few hundred characters, and are measured with the reader ``secrets``.
"""

import ast
import gc
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from patterns import KNOWN_TEXTS, find_patterns, own_texts
from reading_texts import READERS

import memory_palace

PATTERNS = find_patterns()
PACKAGE = Path(memory_palace.__file__).parent
_SHORT, _LONG, _MOST_TIMES_SLOWER = 2_000, 16_000, 24
"""Between 8, which is linear, and 64, which is a square."""
_MOST_TIMES_OF_TEN, _SUSPECT = 40, 13
"""Of a megabyte and of 100 kB. If c n + d n² takes 40 times at a megabyte, d n is 5 c there and a
tenth of that at 100 kB, where it takes (1 + .5) / (1 + .05) * 10, which is 14 times."""
_SECONDS_TO_TRY_ONCE = 5
_LEAST_SECONDS_A_CHARACTER = 2e-9
"""A text that takes less is read in time: forty times what a tenth takes would be more."""
OF_BYTES: set[str] = set()
"""Modules whose patterns are made of pieces, and search bytes."""
_LEAST_SECONDS = 0.0005
"""A text of the long size that takes no longer is no square: that would be over ten times this."""
_AT_THE_END = "§"
"""What nothing matches, so that what was matched so far is given up."""
HOSTILE = [
    "9" * 5000,
    f"{'9' * 5000} days ago, in {'9' * 5000} weeks, at {'1' * 5000}:30",
    f"confidence {'9' * 5000}/5, smashin {'9' * 5000}/12",
    f"{'9' * 5000}. item\n- [x] humor: a (by b)\n",
    "²³ ½ ٣٤٥ 1,000,000 −5 5.5.5.5 99/99/9999 32 January 0000 9999-99-99",
    "\ud800 \udfff\u202e\u200b\x9b\x1b[31m\0",
]


def fill(piece: str, size: int) -> str:
    """Return the start of a piece once, and what stands behind its NUL again and again."""
    start, _, again = piece.rpartition("\0")
    is_ended = again.endswith(_AT_THE_END)
    again = again.removesuffix(_AT_THE_END) or "a"
    return (start + again * (size // len(again) + 1))[:size] + _AT_THE_END * is_ended


def seconds(run: Callable[[str], object], text: str, tries: int) -> float:
    gc.disable()
    try:
        best = float("inf")
        for _ in range(tries):
            started = time.process_time()
            run(text)
            best = min(best, time.process_time() - started)
        return best
    finally:
        gc.enable()


def squares(run: Callable[[str], object], pieces: list[str]) -> Iterator[str]:
    """Yield the pieces of which a text eight times as long takes far more than eight times."""
    for piece in dict.fromkeys(pieces):
        long = fill(piece, _LONG)
        if (large := seconds(run, long, 1)) <= _LEAST_SECONDS:
            continue
        for _ in range(25):
            small = max(seconds(run, fill(piece, _SHORT), 2), _LEAST_SECONDS / 8)
            if large <= _MOST_TIMES_SLOWER * small:
                break
            large = min(large, seconds(run, long, 1))
        else:
            yield piece
            return


def times_as_long(run: Callable[[str], object], piece: str, size: int, enough: float) -> float:
    """Return how often the time of a tenth of a size goes into its time: the best of some runs.

    A machine is busy now and then: mostly one run of each is within ``enough``, and ends it.
    """
    short, long = fill(piece, size // 10), fill(piece, size)
    small = large = float("inf")
    for _ in range(15):
        large = min(large, seconds(run, long, 1))
        if large <= size * _LEAST_SECONDS_A_CHARACTER:
            return 1
        small = min(small, seconds(run, short, 1))
        if large <= enough * small or large > _SECONDS_TO_TRY_ONCE:
            break
    return large / small


def slow_at_a_megabyte(run: Callable[[str], object], pieces: list[str]) -> Iterator[str]:
    """Yield the pieces of which a megabyte takes far more than ten times what a tenth takes.

    Ten times is linear, a hundred a square. The shorter text fits in the caches of a processor and
    the longer one does not, which alone made linear patterns take up to 23 times as long. What
    is a square there shows at 100 kB, if less: only texts that do, and the two likeliest, are read.
    """
    ratio = {piece: times_as_long(run, piece, 100_000, _SUSPECT) for piece in pieces}
    suspects = sorted(ratio, key=ratio.__getitem__, reverse=True)
    for number, piece in enumerate(suspects):
        if number >= 2 and ratio[piece] <= _SUSPECT:
            return
        times = ratio[piece]
        if times <= _MOST_TIMES_OF_TEN:
            times = times_as_long(run, piece, 1_000_000, _MOST_TIMES_OF_TEN)
        if times > _MOST_TIMES_OF_TEN:
            yield piece


def pieces_for(pattern: re.Pattern[str]) -> list[str]:
    """Return the texts to try a pattern with, each once."""
    own = own_texts(pattern)
    pieces = [*KNOWN_TEXTS, *own, *(piece + _AT_THE_END for piece in own)]
    return list(dict.fromkeys(piece if "\0" in piece else f"\0{piece}" for piece in pieces))


def search_all(pattern: re.Pattern[str]) -> Callable[[str], object]:
    def run(text: str) -> None:
        for _ in pattern.finditer(text):
            pass

    return run


def test_the_patterns_of_all_modules_are_found():
    """What is compiled at the top of a module is found, and a table or a function's is too."""
    names = {name.rsplit(".", 2)[0] for name in PATTERNS}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        made = [
            node
            for statement in tree.body
            if isinstance(statement, ast.Assign | ast.AnnAssign)
            for node in ast.walk(statement)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile"
            if not ast.unparse(node.args[0]).startswith("b")
        ]
        assert not made or module in names or module in OF_BYTES, module


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_is_linear(name):
    assert not list(squares(search_all(PATTERNS[name]), pieces_for(PATTERNS[name])))


@pytest.mark.parametrize("name", READERS)
def test_every_reader_is_linear(name):
    pieces = [*KNOWN_TEXTS, *(f"{text}\0 " for text in ("- a", "# a"))]
    assert not list(squares(READERS[name], pieces))


@pytest.mark.long
@pytest.mark.parametrize("name", PATTERNS)
def test_a_megabyte_takes_ten_times_as_long_as_a_tenth_of_it(name):
    assert not [*slow_at_a_megabyte(search_all(PATTERNS[name]), pieces_for(PATTERNS[name]))]


@pytest.mark.parametrize("name", READERS)
def test_no_text_stops_a_reader(name):
    for text in HOSTILE:
        try:
            READERS[name](text)
        except UnicodeEncodeError:
            assert "\ud800" in text  # the reader was given bytes, which cannot hold it


def test_a_square_would_be_noticed():
    pattern = re.compile(r"(?:again and )*x")  # of `\s*x` each of the tries takes a second
    assert list(squares(search_all(pattern), own_texts(pattern)))


@pytest.mark.long
@pytest.mark.parametrize("apart", [300, 1000, 3000])
def test_a_square_that_shows_only_at_size_would_be_noticed(apart):
    """It begins anew so seldom that 16,000 characters are read in half a millisecond."""
    pattern = re.compile("".join(chr(0x4E00 + i) for i in range(apart)) + r"[^|]*\|")
    pieces = pieces_for(pattern)
    assert not list(squares(search_all(pattern), pieces))
    assert list(slow_at_a_megabyte(search_all(pattern), pieces))
