"""The grammar: patterns of letters in the order in which they are tried, whatever the language.

A letter is a word's category (``lexicon.LETTERS``), ``d`` a number of one or two digits, ``n`` of
more, ``y`` a year, ``q`` a day in characters, ``1`` to ``5`` numeric dates, a sign itself, ``|``
anything else. What is made of them is a letter again: ``T`` a duration, ``Y`` a year, ``m`` a
month, ``Z`` a week, ``x`` any other span of days. So a rule reads what earlier ones made, and a
language is only a table of words: "last Friday of May" and "der letzte Freitag im Mai" are ``LWm``
and ``LWim``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

from memory_palace.language.time import distances, points
from memory_palace.language.time.spans import Setting, Token

Named: TypeAlias = dict[str, Token]
"""The tokens of the groups of a pattern that matched."""


class Rule:
    """A pattern of letters, and what is made of the tokens that it names."""

    def __init__(
        self, needs: str, source: str, make: Callable[[Setting, Named], Any], letter: str
    ) -> None:
        """Take a pattern, and letters of which a text needs one of each group to be searched.

        In the pattern ``unit=U`` stands for ``(?P<unit>U)``, and spaces for nothing.
        """
        self.needs = tuple(map(frozenset, needs.split()))
        self.source = source
        self.make = make
        self.letter = letter
        """Of what is made; empty where that is a year, month, week or other span by its unit."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern: few are needed, and all would take a tenth of a second."""
        named = re.sub(r"([a-z]+)=(\[[^\]]*\]|\S)", r"(?P<\1>\2)", self.source)
        return re.compile(named.replace(" ", ""))


_X = "[xmZY]"
_END = rf"(?P<b>{_X}|y)"
_IN, _AT = "[iIjeF]{0,4}", "[iej]{0,3}"
_YEAR = " year=[yY]"
_TO = "[-tju]"

_LISTED: tuple[tuple[str, str, Callable[[Setting, Named], Any], str], ...] = (
    # Counts and durations
    ("w wa", "ten=w -?&? one=[wa]", distances.compound, "w"),
    ("w o", "ten=w -?&? one=o", distances.compound, "o"),
    ("U & h", "count=[dnwa]? unit=U &a? half=h", distances.duration, "T"),
    ("dnw & h U", "count=[dnw] &a? half=h unit=U", distances.duration, "T"),
    ("h U", "(?<![oL])a? half=h -?a? unit=U", distances.duration, "T"),
    ("dnwaf U", "(?:a(?=f))? count=[dnwaf] unit=U (?!#)", distances.duration, "T"),
    # Numeric dates
    ("1", "text=1", points.numeric_day, "x"),
    ("2", "text=2", points.numeric_month, "m"),
    ("3", "(?<=[ieFbRtjuBAsVWkU&,-]) text=3", points.slashed_day, "x"),
    ("3", "text=3 (?=[-tju]e?x)", points.slashed_day, "x"),
    # Years and months by their distance
    ("C", "unit=C", distances.shifted_unit, ""),
    ("U L", "unit=U [BV]?(?P<before>B|(?<=[BV])) last=L", distances.before_last, ""),
    ("U A S", "unit=U A next=S", distances.before_last, ""),
    ("SLp U", "(?<![dnwaf]) shift=[SLp] unit=U", distances.shifted_year, ""),
    ("U SLp", "unit=U shift=[SLp] (?!U)", distances.shifted_year, ""),
    ("U y", "unit=U year=y", points.written_year, "Y"),
    # Days of a month; "q" is one of characters
    (
        "dow M",
        f"[FbRs]?{_IN} from=[dow] [.]?(?P<to>{_TO}|&){_IN} day=[dow] [.]?{_IN} month=M "
        f"(?:[,-]?{_IN}{_YEAR})?",
        points.days_of_month,
        "x",
    ),
    ("M do -tju", f"month=M from=[do] to={_TO} day=[do] (?:,?{_YEAR})?", points.days_of_month, "x"),
    ("M q", f"F?(?:{_YEAR})? month=M from=q [-t(&] day=q [)b]?", points.days_of_month, "x"),
    ("yY dow M", f"{_YEAR},?{_IN} day=[dow] [.]?,? month=M", points.day_of_month, "x"),
    ("yY M doq", f"{_YEAR}[,-]?{_IN} month=M -? day=[doq]", points.day_of_month, "x"),
    ("dow M", f"day=[dow] [.]?[,-]? month=M (?:[,-]?{_IN}{_YEAR})?", points.day_of_month, "x"),
    (
        "M doq",
        f"month=M -?(?P<day>[dq]|o(?![WT]))(?![U#])(?:[,-]?{_YEAR})?",
        points.day_of_month,
        "x",
    ),
    ("o m", "day=o [.]? within=m", points.day_of_span, "x"),
    ("m oq", "within=m ,?[ie]? (?P<day>q|o(?![UTWhJ#]))", points.day_of_span, "x"),
    ("x W", "day=x W", points.named_day, "x"),
    # Months
    ("M yY", f"month=M [,-]?{_IN}{_YEAR}", points.month, "m"),
    ("yY M", f"{_YEAR}[,-]?{_IN} month=M", points.month, "m"),
    ("SLp M", "shift=[SLp] month=M", points.month, "m"),
    ("M SLp", "month=M shift=[SLp] (?!U)", points.month, "m"),
    ("M", "month=M (?=(?P<to>[-tju&]e?[Mm]|[()<>E]))?", points.month, "m"),
    ("o", "ordinal=o (?![UWMmhTJ#.dow])", distances.short_weekday, "W"),
    # What comes once a year
    ("N yY", f"season=N [,-]?{_IN}{_YEAR}(?:[/-] next=[dy])?", points.season, "x"),
    ("N 2", "season=N double=2", points.season, "x"),
    ("yY N", f"{_YEAR}[,-]?{_IN} season=N", points.season, "x"),
    ("SLp N", "shift=[SLp] season=N", points.season, "x"),
    ("N SLp", "season=N shift=[SLp] (?!U)", points.season, "x"),
    ("N", "season=N (?=(?P<to>[()<>]))?", points.season, "x"),
    ("H yY", f"holiday=H [,-]?{_IN}{_YEAR}", points.holiday, "x"),
    ("yY H", f"{_YEAR}[,-]?{_IN} holiday=H", points.holiday, "x"),
    ("SLp H", "shift=[SLp] holiday=H", points.holiday, "x"),
    ("H SLp", "holiday=H shift=[SLp] (?!U)", points.holiday, "x"),
    ("H", "holiday=H (?=(?P<to>[()<>]))?", points.holiday, "x"),
    # Quarters, halves, weeks, decades
    ("yY 5", f"{_YEAR}[,/-]? part=5", points.numbered_part, ""),
    ("5", f"part=5 (?:[,/-]?{_IN}{_YEAR})?", points.numbered_part, ""),
    ("doL U# yY", f"number=[doL] [.]? unit=[U#] (?:[,/-]?{_IN}{_YEAR})", points.numbered_unit, ""),
    ("yY do U#", f"{_YEAR}[,/-]? number=[do] [.]? unit=[U#]", points.numbered_unit, ""),
    ("U# do", f"unit=[U#] number=[do] (?:[,/-]?{_IN}{_YEAR})?", points.numbered_unit, ""),
    ("doL U#", f"(?<!m) number=[do] [.]? unit=[U#] (?!{_IN}{_X})", points.numbered_unit, ""),
    ("doL J", f"number=[doL] [.]? half=J (?:[,/-]?{_IN}{_YEAR})?", points.half_year, "x"),
    ("J", f"(?:{_YEAR}[,/-]?)? half=J (?:[,/-]? later=[yY])?", points.half_year, "x"),
    ("U dwzy", "unit=U number=[dwzy]", points.decade, "x"),
    ("z", "[e]? number=z (?:U)?", points.decade, "x"),
    # Parts of a span
    ("oL T xmYy", f"which=[oL] long=T {_IN} within=[xmYy]", points.of_span, "x"),
    ("dnw oL U xmYy", f"count=[dnw] which=[oL] unit=U {_IN} within=[xmYy]", points.of_span, "x"),
    ("oL UW mYyxU", f"which=[oL] unit=[UW] {_IN} within=[mYyxU]", points.of_span, "x"),
    ("mYy oL< T", "within=[mYy] ,? which=[oL<] long=T", points.of_span, "x"),
    ("mYy oL UW#", "within=[mYy] ,? which=[oL] unit=[UW#]", points.of_span, "x"),
    ("oL h", f"which=[oL] half=h {_IN} within=[xmYyU]", points.half, "x"),
    ("mYy ]", "within=[mYyxU] which=]", points.half, "x"),
    ("X", "within=[mYyxZU] U? part=X", points.third, "x"),
    ("E", f"part=E -?{_IN} within=[mYyxZU] (?![SLp])", points.third, "x"),
    ("h mYyx", f"(?<![oL]) middle=h {_IN} within=[mYyx]", points.third, "x"),
    # Weeks, weekdays and days by their distance
    ("U x", f"week=U {_IN} within=x", points.week_of, ""),
    ("SLp U", "(?<![dnwaf]) shift=[SLp] unit=U", distances.shifted_unit, ""),
    ("U SLp", "unit=U shift=[SLp] (?!U)", distances.shifted_unit, ""),
    ("U", "weekend=U (?!g)", distances.weekend, "x"),
    ("Wk x", f"[Wk],?{_IN} day=x", points.named_day, "x"),
    ("W Z", f"weekday=W P?,?{_IN} week=Z", points.weekday_of_week, "x"),
    ("Z W", f"week=Z ,?{_IN} weekday=W P?", points.weekday_of_week, "x"),
    ("E ZYxm", f"part=E {_IN} within=[ZYxm]", points.third, "x"),
    ("W BVA x", f"weekday=W to=[BVA] {_IN} anchor=x", distances.weekday_beside, "x"),
    ("q W", "day=q weekday=W P?", distances.day_alone, "x"),
    ("SLp W", "shift=[SLp] weekday=W [PQ]?", distances.weekday, "x"),
    ("W SLp", "weekday=W shift=[SLp] (?!U)[PQ]?", distances.weekday, "x"),
    ("W", "weekday=W (?P<time>[iIj]?[PQ])?", distances.weekday, "x"),
    ("D", f"day=D (?:{_IN}[PQ])?", distances.day_word, "x"),
    ("Q", "before=[ie]? day=Q (?:[iI]?e?[PQ])?", distances.day_word, "x"),
    ("q", "day=q P?", distances.day_alone, "x"),
    # Relative to another date, or to today
    ("xm T g", "anchor=[xm] ,? long=T g", distances.yearly_ago, ""),
    ("xm GV T", f"anchor=[xm] ,?{_IN}[GV] long=T", distances.yearly_ago, ""),
    ("T g xm", f"long=T g,?{_IN} anchor=[xm]", distances.yearly_ago, ""),
    ("GV T xm", f"[GV] long=T ,?{_IN} anchor=[xm]", distances.yearly_ago, ""),
    ("TU BVAlF xmZY", f"long=[TU] to=[BVAlF] {_IN} anchor={_X}", distances.beside, ""),
    ("v xmZY", f"eve=v {_IN} anchor={_X}", distances.beside, "x"),
    ("xmZY v", f"anchor={_X} [<>]? eve=v", distances.beside, "x"),
    ("xmZY T g<l>", f"anchor={_X} long=T to=[g<l>]", distances.beside, "x"),
    ("x <> T", "anchor=x to=[<>] long=T", distances.beside, "x"),
    ("s T", "s[GV]? long=T (?!g)", distances.since_long, "x"),
    ("U g", "unit=U g", distances.some_ago, "x"),
    ("T g<", "long=T [g<](?:i?x)?", distances.ago, "x"),
    ("GV T", "x?[GV] long=T", distances.ago, "x"),
    ("T l>", "long=T [l>]", distances.ahead, "x"),
    ("IR T", "x?[IR] long=T", distances.ahead, "x"),
    ("SLplc T", "shift=[SLplc] long=T", distances.rolling, "x"),
    ("< T", "(?<![xmZY]) shift=< long=T", distances.rolling, "x"),
    ("SLp U", "count=[dnwaf] shift=[SLp] unit=U", distances.rolling, "x"),
    ("T SLp", "long=T shift=[SLp]", distances.rolling, "x"),
    ("c", "recent=c", distances.recently, "x"),
    # Intervals
    ("bR &", f"[bR]e?(?P<a>{_X}|y)&{_IN}{_END}", distances.between, "x"),
    ("& b", f"a={_X} & b={_X} b", distances.between, "x"),
    (
        "-tju(",
        f"[Fs]?{_AT}(?P<a>{_X}|(?<=[Fs])y)[(]?[-tju(]{_IN}{_END}[)b]?",
        distances.between,
        "x",
    ),
    ("y -tju", f"a=y {_TO}{_IN}{_END}[)]?", distances.between, "x"),
    (
        "sF",
        f"(?:s|F(?=.(?:[O(]|i(?:[|]|$)))){_AT}(?P<since>{_X}|y)(?:[O(]|i(?=[|]|$))?",
        distances.edge,
        "x",
    ),
    ("(O", f"(?P<since>{_X}|y)(?P<sign>[(O])", distances.edge, "x"),
    ("u", f"u{_AT}(?P<until>{_X}|y(?!U))[)]?", distances.edge, "x"),
    (")", f"(?P<until>{_X}|y)[)]", distances.edge, "x"),
    ("BV", f"[BV]{_AT}(?P<before>{_X}|y)", distances.edge, "x"),
    ("<", f"(?P<before>{_X}|y)<", distances.edge, "x"),
    ("A", f"A{_AT}(?P<after>{_X}|y)", distances.edge, "x"),
    (">", f"(?P<after>{_X}|y)>", distances.edge, "x"),
    ("iI y", "[iI] year=y", points.written_year, "Y"),
    ("o", "(?<=[ie]) day=[o] (?![A-Za-z])", distances.day_alone, "x"),
    ("U d", "number=U day=d (?![A-Za-z])", distances.day_alone, "x"),
)
RULES = tuple(Rule(*listed) for listed in _LISTED)
"""In the order in which they claim tokens."""
