"""The grammar: patterns of letters in the order in which they are tried, whatever the language.

A letter is a word's category (``lexicon.LETTERS``), ``d`` a number of one or two digits, ``n`` of
more, ``y`` a year, ``1`` to ``5`` numeric dates, a sign itself, ``|`` anything else. What is made
of them is a letter again: ``T`` a duration, ``Y`` a year, ``m`` a month, ``Z`` a week, ``x`` any
other span of days. So a rule reads what earlier ones made, and a language is only a table of
words: "last Friday of May" and "der letzte Freitag im Mai" are ``LWm`` and ``LWim``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

from memory_palace.language.time import distances, parts, points
from memory_palace.language.time.spans import Setting, Token

Named: TypeAlias = dict[str, Token]
"""The tokens of the groups of a pattern that matched."""


class Rule:
    """A pattern of letters, and what is made of the tokens that it names."""

    def __init__(
        self, needs: str, source: str, make: Callable[[Setting, Named], Any], letter: str
    ) -> None:
        """Take a pattern, and letters of which a text needs one of each group to be searched."""
        self.needs = tuple(map(frozenset, needs.split()))
        self.source = source
        self.make = make
        self.letter = letter
        """Of what is made; empty where that is a year, month, week or other span by its unit."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern: few are needed, and all would take a tenth of a second."""
        return re.compile(self.source)


_X = "[xmZY]"
_N = "[dnwaf]"
_IN, _AT = "[iIjeF]{0,4}", "[iej]{0,3}"
_YEAR = "(?P<year>[yY])"
_TO = "[-tju]"

_LISTED: tuple[tuple[str, str, Callable[[Setting, Named], Any], str], ...] = (
    # Counts and durations
    ("w wa", "(?P<ten>w)-?&?(?P<one>[wa])", distances.compound, "w"),
    ("w o", "(?P<ten>w)-?&?(?P<one>o)", distances.compound, "o"),
    ("a w", "a(?P<number>w)", distances.plain, "w"),
    ("U & h", "(?P<count>[dnwa])?(?P<unit>U)&a?(?P<half>h)", distances.duration, "T"),
    ("dnw & h U", "(?P<count>[dnw])&a?(?P<half>h)(?P<unit>U)", distances.duration, "T"),
    ("h U", "(?<![oL])a?(?P<half>h)-?a?(?P<unit>U)", distances.duration, "T"),
    ("f U", "a?(?P<count>f)(?P<unit>U)", distances.duration, "T"),
    ("dnwa U", "(?P<count>[dnwa])(?P<unit>U)(?!#)", distances.duration, "T"),
    # Numeric dates
    ("1", "(?P<text>1)", points.numeric_day, "x"),
    ("2", "(?P<text>2)", points.numeric_month, "m"),
    ("4", "(?P<text>4)", points.numeric_week, "Z"),
    ("3", "(?<=[ieFbRtjuBAsVWkU&,-])(?P<text>3)", points.slashed_day, "x"),
    ("3", "(?P<text>3)(?=[-tju]e?x)", points.slashed_day, "x"),
    # Years and months by their distance
    ("C", "(?P<unit>C)", distances.shifted_unit, ""),
    ("U L", "(?P<unit>U)[BV]?(?P<before>B|(?<=[BV]))(?P<last>L)", distances.before_last, ""),
    ("U A S", "(?P<unit>U)A(?P<next>S)", distances.before_last, ""),
    ("SLp U", "(?<![dnwaf])(?P<shift>[SLp])(?P<unit>U)", distances.shifted_year, ""),
    ("U SLp", "(?P<unit>U)(?P<shift>[SLp])(?!U)", distances.shifted_year, ""),
    ("U y", "(?P<unit>U)(?P<year>y)", points.written_year, "Y"),
    # DaySpan of a month
    (
        "dow M",
        f"[FbRs]?{_IN}(?P<from>[dow])[.]?(?P<to>{_TO}|&){_IN}(?P<day>[dow])[.]?{_IN}(?P<month>M)"
        f"(?:[,-]?{_IN}{_YEAR})?",
        points.days_of_month,
        "x",
    ),
    (
        "M do -tju",
        f"(?P<month>M)(?P<from>[do])(?P<to>{_TO})(?P<day>[do])(?:,?{_YEAR})?",
        points.days_of_month,
        "x",
    ),
    ("yY dow M", f"{_YEAR},?{_IN}(?P<day>[dow])[.]?,?(?P<month>M)", points.day_of_month, "x"),
    ("yY M do", f"{_YEAR}[,-]?{_IN}(?P<month>M)-?(?P<day>[do])", points.day_of_month, "x"),
    (
        "dow M",
        f"(?P<day>[dow])[.]?[,-]?(?P<month>M)(?:[,-]?{_IN}{_YEAR})?",
        points.day_of_month,
        "x",
    ),
    ("M do", f"(?P<month>M)-?(?P<day>[do])(?![U#])(?:[,-]?{_YEAR})?", points.day_of_month, "x"),
    ("o m", "(?P<day>o)[.]?(?P<within>m)", points.day_of_span, "x"),
    ("d m", "(?<=[ieFjsuBAVU])(?P<day>d)[.]?(?P<within>m)", points.day_of_span, "x"),
    ("m o", "(?P<within>m),?[ie]?(?P<day>o)(?![UTWhJ])", points.day_of_span, "x"),
    # Months
    ("M yY", f"(?P<month>M)[,-]?{_IN}{_YEAR}", points.month, "m"),
    ("yY M", f"{_YEAR}[,-]?{_IN}(?P<month>M)", points.month, "m"),
    ("SLp M", "(?P<shift>[SLp])(?P<month>M)", points.month, "m"),
    ("M SLp", "(?P<month>M)(?P<shift>[SLp])(?!U)", points.month, "m"),
    ("M", "(?P<month>M)(?=(?P<to>[-tju&]e?[Mm]|[()<>E]))?", points.month, "m"),
    ("o", "(?P<ordinal>o)(?![UWMmhTJ#.dow])", distances.short_weekday, "W"),
    # What comes once a year
    ("N yY", f"(?P<season>N)[,-]?{_IN}{_YEAR}(?:[/-](?P<next>[dy]))?", points.season, "x"),
    ("N 2", "(?P<season>N)(?P<double>2)", points.season, "x"),
    ("yY N", f"{_YEAR}[,-]?{_IN}(?P<season>N)", points.season, "x"),
    ("SLp N", "(?P<shift>[SLp])(?P<season>N)", points.season, "x"),
    ("N SLp", "(?P<season>N)(?P<shift>[SLp])(?!U)", points.season, "x"),
    ("N", "(?P<season>N)", points.season, "x"),
    ("H yY", f"(?P<holiday>H)[,-]?{_IN}{_YEAR}", points.holiday, "x"),
    ("yY H", f"{_YEAR}[,-]?{_IN}(?P<holiday>H)", points.holiday, "x"),
    ("SLp H", "(?P<shift>[SLp])(?P<holiday>H)", points.holiday, "x"),
    ("H SLp", "(?P<holiday>H)(?P<shift>[SLp])(?!U)", points.holiday, "x"),
    ("H", "(?P<holiday>H)", points.holiday, "x"),
    # Quarters, halves, weeks, decades
    ("5", f"(?P<part>5)(?:[,/-]?{_IN}{_YEAR})?", points.numbered_part, ""),
    ("yY 5", f"{_YEAR}[,/-]?(?P<part>5)", points.numbered_part, ""),
    (
        "doL U# yY",
        f"(?P<number>[doL])[.]?(?P<unit>[U#])(?:[,/-]?{_IN}{_YEAR})",
        points.numbered_unit,
        "",
    ),
    ("yY do U#", f"{_YEAR}[,/-]?(?P<number>[do])[.]?(?P<unit>[U#])", points.numbered_unit, ""),
    ("U# do", f"(?P<unit>[U#])(?P<number>[do])(?:[,/-]?{_IN}{_YEAR})?", points.numbered_unit, ""),
    ("doL U#", f"(?P<number>[do])[.]?(?P<unit>[U#])(?!{_IN}{_X})", points.numbered_unit, ""),
    ("doL J", f"(?P<number>[doL])[.]?(?P<half>J)(?:[,/-]?{_IN}{_YEAR})?", parts.half_year, "x"),
    ("yY doL J", f"{_YEAR}[,/-]?(?P<number>[doL])[.]?(?P<half>J)", parts.half_year, "x"),
    ("J", f"(?:{_YEAR}[,/-]?)?(?P<half>J)(?:[,/-]?(?P<later>[yY]))?", parts.half_year, "x"),
    ("U dwzy", "(?P<unit>U)(?P<number>[dwzy])", points.decade, "x"),
    ("z", "[e]?(?P<number>z)(?:U)?", points.decade, "x"),
    # Parts of a span
    ("oLSp T xmYy", f"(?P<which>[oLSp])(?P<long>T){_IN}(?P<within>[xmYy])", parts.of_span, "x"),
    (
        "dnw oL U xmYy",
        f"(?P<count>[dnw])(?P<which>[oL])(?P<unit>U){_IN}(?P<within>[xmYy])",
        parts.of_span,
        "x",
    ),
    ("oL UW mYyxU", f"(?P<which>[oL])(?P<unit>[UW]){_IN}(?P<within>[mYyxU])", parts.of_span, "x"),
    ("mYy oL T", "(?P<within>[mYy]),?(?P<which>[oL])(?P<long>T)", parts.of_span, "x"),
    ("mYy oL UW", "(?P<within>[mYy]),?(?P<which>[oL])(?P<unit>[UW])", parts.of_span, "x"),
    ("oL h", f"(?P<which>[oL])(?P<half>h){_IN}(?P<within>[xmYyU])", parts.half, "x"),
    ("mYy oL h", "(?P<within>[mYy])(?P<which>[oL])(?P<half>h)", parts.half, "x"),
    ("SL E", f"(?P<shift>[SL])(?P<part>E){_IN}(?P<within>[mYyxZ])", parts.third, "x"),
    ("E", f"(?P<part>E)-?{_IN}(?P<within>[mYyxZU])(?![SLp])", parts.third, "x"),
    ("h mYyx", f"(?<![oL])(?P<middle>h){_IN}(?P<within>[mYyx])", parts.third, "x"),
    ("E", "(?P<within>[mYyxZ])(?P<part>E)", parts.third, "x"),
    # Weeks, weekdays and days by their distance
    ("U x", f"(?P<week>U){_IN}(?P<within>x)", parts.week_of, ""),
    ("SLp U", "(?<![dnwaf])(?P<shift>[SLp])(?P<unit>U)", distances.shifted_unit, ""),
    ("U SLp", "(?P<unit>U)(?P<shift>[SLp])(?!U)", distances.shifted_unit, ""),
    ("U", "(?P<weekend>U)(?!g)", distances.weekend, "x"),
    ("Wk x", f"[Wk],?{_IN}(?P<day>x)", parts.named_day, "x"),
    ("W Z", f"(?P<weekday>W)P?,?{_IN}(?P<week>Z)", parts.weekday_of_week, "x"),
    ("Z W", f"(?P<week>Z),?{_IN}(?P<weekday>W)", parts.weekday_of_week, "x"),
    ("E ZYxm", f"(?P<part>E){_IN}(?P<within>[ZYxm])", parts.third, "x"),
    ("W BVA LS", "(?P<weekday>W)[BVA](?P<last>[LS])", distances.weekday_before_last, "x"),
    ("W T g", "(?P<weekday>W),?(?P<long>T)g", distances.weekday_ago, "x"),
    ("W GV T", "(?P<weekday>W),?[GV](?P<long>T)", distances.weekday_ago, "x"),
    ("T g W", "(?P<long>T)gi?(?P<weekday>W)", distances.weekday_ago, "x"),
    ("WK g", "(?P<count>[dnwa])(?P<weekday>[WK])g", distances.weekdays_ago, "x"),
    ("GV WK", "[GV](?P<count>[dnwa])(?P<weekday>[WK])", distances.weekdays_ago, "x"),
    ("W BVA x", f"(?P<weekday>W)(?P<to>[BVA]){_IN}(?P<anchor>x)", distances.weekday_beside, "x"),
    ("SLp W", "(?P<shift>[SLp])(?P<weekday>W)[PQ]?", distances.weekday, "x"),
    ("W SLp", "(?P<weekday>W)(?P<shift>[SLp])(?!U)[PQ]?", distances.weekday, "x"),
    ("W", "(?P<weekday>W)(?P<time>[iIj]?[PQ])?", distances.weekday, "x"),
    ("D", f"(?P<day>D)(?:{_IN}[PQ])?", distances.day_word, "x"),
    ("PQ D", "[PQ](?P<day>D)", distances.day_word, "x"),
    ("S PQ", "(?P<shift>S)(?P<time>[PQ])", distances.part_of_day, "x"),
    ("Q", "(?P<before>[ie])?(?P<day>Q)(?:[iI]?e?[PQ])?", distances.day_word, "x"),
    # Relative to another date, or to today
    ("xm T g", "(?P<anchor>[xm]),?(?P<long>T)g", distances.yearly_ago, ""),
    ("xm GV T", f"(?P<anchor>[xm]),?{_IN}[GV](?P<long>T)", distances.yearly_ago, ""),
    ("T g xm", f"(?P<long>T)g,?{_IN}(?P<anchor>[xm])", distances.yearly_ago, ""),
    ("GV T xm", f"[GV](?P<long>T),?{_IN}(?P<anchor>[xm])", distances.yearly_ago, ""),
    ("TU BVAlF xmZY", f"(?P<long>[TU])(?P<to>[BVAlF]){_IN}(?P<anchor>{_X})", distances.beside, ""),
    ("v xmZY", f"(?P<eve>v){_IN}(?P<anchor>{_X})", distances.beside, "x"),
    ("xmZY v", f"(?P<anchor>{_X})(?P<eve>v)", distances.beside, "x"),
    ("xmZY T g<l>", f"(?P<anchor>{_X})(?P<long>T)(?P<to>[g<l>])", distances.beside, "x"),
    ("s T", "s[GV]?(?P<long>T)(?!g)", distances.since_long, "x"),
    ("U g", "(?P<unit>U)g", distances.some_ago, "x"),
    ("F T", "F(?P<long>T)(?!g)", distances.since_da, "x"),
    ("T g", "(?P<long>T)g(?:i?x)?", distances.ago, "x"),
    ("GV T", "x?[GV](?P<long>T)", distances.ago, "x"),
    ("T l>", "(?P<long>T)[l>]", distances.ahead, "x"),
    ("IR T", "x?[IR](?P<long>T)", distances.ahead, "x"),
    ("SLp T", "(?P<shift>[SLp])(?P<long>T)", distances.rolling, "x"),
    ("SLp U", f"(?P<count>{_N})(?P<shift>[SLp])(?P<unit>U)", distances.rolling, "x"),
    ("T SLp", "(?P<long>T)(?P<shift>[SLp])", distances.rolling, "x"),
    ("c", "(?P<recent>c)", distances.recently, "x"),
    # Intervals
    ("bR &", f"[bR]e?(?P<a>{_X}|y)&{_IN}(?P<b>{_X}|y)", distances.between, "x"),
    (
        "-tju",
        f"[Fs]?{_AT}(?P<a>{_X}|(?<=[Fs])y){_TO}{_IN}(?P<b>{_X}|y)[)]?",
        distances.between,
        "x",
    ),
    ("y -tju", f"(?P<a>y){_TO}{_IN}(?P<b>{_X}|y)[)]?", distances.between, "x"),
    (
        "sF",
        f"(?:s|F(?=.(?:O|i(?:[|]|$)))){_AT}(?P<since>{_X}|y)(?:O|i(?=[|]|$))?",
        distances.edge,
        "x",
    ),
    ("(O", f"(?P<since>{_X}|y)[(O]", distances.edge, "x"),
    ("u", f"u{_AT}(?P<until>{_X}|y(?!U))", distances.edge, "x"),
    (")", f"(?P<until>{_X}|y)[)]", distances.edge, "x"),
    ("BV", f"[BV]{_AT}(?P<before>{_X}|y)", distances.edge, "x"),
    ("<", f"(?P<before>{_X}|y)<", distances.edge, "x"),
    ("A", f"A{_AT}(?P<after>{_X}|y)", distances.edge, "x"),
    (">", f"(?P<after>{_X}|y)>", distances.edge, "x"),
    ("iI y", "[iI](?P<year>y)", points.written_year, "Y"),
    ("o", "(?<=[ie])(?P<day>[o])(?![A-Za-z])", distances.day_of_this_month, "x"),
    ("i d", "(?<=i)(?P<day>d)(?![A-Za-z0-9.,%&-])", distances.day_of_this_month, "x"),
    ("d .", "(?<=[iF])(?P<day>d)[.](?![A-Za-z])", distances.day_of_this_month, "x"),
    ("U d", "(?P<number>U)(?P<day>d)(?![A-Za-z])", distances.day_of_this_month, "x"),
)
RULES = tuple(Rule(*listed) for listed in _LISTED)
"""In the order in which they claim tokens."""
