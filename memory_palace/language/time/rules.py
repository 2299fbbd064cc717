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
_N = "[dnwaf]"
_IN, _AT = "[iIjeF]{0,4}", "[iej]{0,3}"
_YEAR = " year=[yY]"
_TO = "[-tju]"

_LISTED: tuple[tuple[str, str, Callable[[Setting, Named], Any], str], ...] = (
    # Counts and durations
    ("w wa", "ten=w -?&? one=[wa]", distances.compound, "w"),
    ("w o", "ten=w -?&? one=o", distances.compound, "o"),
    ("a w", "a number=w", distances.plain, "w"),
    ("U & h", "count=[dnwa]? unit=U &a? half=h", distances.duration, "T"),
    ("dnw & h U", "count=[dnw] &a? half=h unit=U", distances.duration, "T"),
    ("h U", "(?<![oL])a? half=h -?a? unit=U", distances.duration, "T"),
    ("f U", "a? count=f unit=U", distances.duration, "T"),
    ("dnwa U", "count=[dnwa] unit=U (?!#)", distances.duration, "T"),
    # Numeric dates
    ("1", "text=1", points.numeric_day, "x"),
    ("2", "text=2", points.numeric_month, "m"),
    ("4", "text=4", points.numeric_week, "Z"),
    ("3", "(?<=[ieFbRtjuBAsVWkU&,-]) text=3", points.slashed_day, "x"),
    ("3", "text=3 (?=[-tju]e?x)", points.slashed_day, "x"),
    # Years and months by their distance
    ("C", "unit=C", distances.shifted_unit, ""),
    ("U L", "unit=U [BV]?(?P<before>B|(?<=[BV])) last=L", distances.before_last, ""),
    ("U A S", "unit=U A next=S", distances.before_last, ""),
    ("SLp U", "(?<![dnwaf]) shift=[SLp] unit=U", distances.shifted_year, ""),
    ("U SLp", "unit=U shift=[SLp] (?!U)", distances.shifted_year, ""),
    ("U y", "unit=U year=y", points.written_year, "Y"),
    # DaySpan of a month
    (
        "dow M",
        f"[FbRs]?{_IN} from=[dow] [.]?(?P<to>{_TO}|&){_IN} day=[dow] [.]?{_IN} month=M "
        f"(?:[,-]?{_IN}{_YEAR})?",
        points.days_of_month,
        "x",
    ),
    ("M do -tju", f"month=M from=[do] to={_TO} day=[do] (?:,?{_YEAR})?", points.days_of_month, "x"),
    ("yY dow M", f"{_YEAR},?{_IN} day=[dow] [.]?,? month=M", points.day_of_month, "x"),
    ("yY M do", f"{_YEAR}[,-]?{_IN} month=M -? day=[do]", points.day_of_month, "x"),
    ("dow M", f"day=[dow] [.]?[,-]? month=M (?:[,-]?{_IN}{_YEAR})?", points.day_of_month, "x"),
    ("M do", f"month=M -? day=[do] (?![U#])(?:[,-]?{_YEAR})?", points.day_of_month, "x"),
    ("o m", "day=o [.]? within=m", points.day_of_span, "x"),
    ("d m", "(?<=[ieFjsuBAVU]) day=d [.]? within=m", points.day_of_span, "x"),
    ("m o", "within=m ,?[ie]? day=o (?![UTWhJ])", points.day_of_span, "x"),
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
    ("N", "season=N", points.season, "x"),
    ("H yY", f"holiday=H [,-]?{_IN}{_YEAR}", points.holiday, "x"),
    ("yY H", f"{_YEAR}[,-]?{_IN} holiday=H", points.holiday, "x"),
    ("SLp H", "shift=[SLp] holiday=H", points.holiday, "x"),
    ("H SLp", "holiday=H shift=[SLp] (?!U)", points.holiday, "x"),
    ("H", "holiday=H", points.holiday, "x"),
    # Quarters, halves, weeks, decades
    ("5", f"part=5 (?:[,/-]?{_IN}{_YEAR})?", points.numbered_part, ""),
    ("yY 5", f"{_YEAR}[,/-]? part=5", points.numbered_part, ""),
    ("doL U# yY", f"number=[doL] [.]? unit=[U#] (?:[,/-]?{_IN}{_YEAR})", points.numbered_unit, ""),
    ("yY do U#", f"{_YEAR}[,/-]? number=[do] [.]? unit=[U#]", points.numbered_unit, ""),
    ("U# do", f"unit=[U#] number=[do] (?:[,/-]?{_IN}{_YEAR})?", points.numbered_unit, ""),
    ("doL U#", f"number=[do] [.]? unit=[U#] (?!{_IN}{_X})", points.numbered_unit, ""),
    ("doL J", f"number=[doL] [.]? half=J (?:[,/-]?{_IN}{_YEAR})?", parts.half_year, "x"),
    ("yY doL J", f"{_YEAR}[,/-]? number=[doL] [.]? half=J", parts.half_year, "x"),
    ("J", f"(?:{_YEAR}[,/-]?)? half=J (?:[,/-]? later=[yY])?", parts.half_year, "x"),
    ("U dwzy", "unit=U number=[dwzy]", points.decade, "x"),
    ("z", "[e]? number=z (?:U)?", points.decade, "x"),
    # Parts of a span
    ("oLSp T xmYy", f"which=[oLSp] long=T {_IN} within=[xmYy]", parts.of_span, "x"),
    ("dnw oL U xmYy", f"count=[dnw] which=[oL] unit=U {_IN} within=[xmYy]", parts.of_span, "x"),
    ("oL UW mYyxU", f"which=[oL] unit=[UW] {_IN} within=[mYyxU]", parts.of_span, "x"),
    ("mYy oL T", "within=[mYy] ,? which=[oL] long=T", parts.of_span, "x"),
    ("mYy oL UW", "within=[mYy] ,? which=[oL] unit=[UW]", parts.of_span, "x"),
    ("oL h", f"which=[oL] half=h {_IN} within=[xmYyU]", parts.half, "x"),
    ("mYy oL h", "within=[mYy] which=[oL] half=h", parts.half, "x"),
    ("SL E", f"shift=[SL] part=E {_IN} within=[mYyxZ]", parts.third, "x"),
    ("E", f"part=E -?{_IN} within=[mYyxZU] (?![SLp])", parts.third, "x"),
    ("h mYyx", f"(?<![oL]) middle=h {_IN} within=[mYyx]", parts.third, "x"),
    ("E", "within=[mYyxZ] part=E", parts.third, "x"),
    # Weeks, weekdays and days by their distance
    ("U x", f"week=U {_IN} within=x", parts.week_of, ""),
    ("SLp U", "(?<![dnwaf]) shift=[SLp] unit=U", distances.shifted_unit, ""),
    ("U SLp", "unit=U shift=[SLp] (?!U)", distances.shifted_unit, ""),
    ("U", "weekend=U (?!g)", distances.weekend, "x"),
    ("Wk x", f"[Wk],?{_IN} day=x", parts.named_day, "x"),
    ("W Z", f"weekday=W P?,?{_IN} week=Z", parts.weekday_of_week, "x"),
    ("Z W", f"week=Z ,?{_IN} weekday=W", parts.weekday_of_week, "x"),
    ("E ZYxm", f"part=E {_IN} within=[ZYxm]", parts.third, "x"),
    ("W BVA LS", "weekday=W [BVA] last=[LS]", distances.weekday_before_last, "x"),
    ("W T g", "weekday=W ,? long=T g", distances.weekday_ago, "x"),
    ("W GV T", "weekday=W ,?[GV] long=T", distances.weekday_ago, "x"),
    ("T g W", "long=T gi? weekday=W", distances.weekday_ago, "x"),
    ("WK g", "count=[dnwa] weekday=[WK] g", distances.weekdays_ago, "x"),
    ("GV WK", "[GV] count=[dnwa] weekday=[WK]", distances.weekdays_ago, "x"),
    ("W BVA x", f"weekday=W to=[BVA] {_IN} anchor=x", distances.weekday_beside, "x"),
    ("SLp W", "shift=[SLp] weekday=W [PQ]?", distances.weekday, "x"),
    ("W SLp", "weekday=W shift=[SLp] (?!U)[PQ]?", distances.weekday, "x"),
    ("W", "weekday=W (?P<time>[iIj]?[PQ])?", distances.weekday, "x"),
    ("D", f"day=D (?:{_IN}[PQ])?", distances.day_word, "x"),
    ("PQ D", "[PQ] day=D", distances.day_word, "x"),
    ("S PQ", "shift=S time=[PQ]", distances.part_of_day, "x"),
    ("Q", "before=[ie]? day=Q (?:[iI]?e?[PQ])?", distances.day_word, "x"),
    # Relative to another date, or to today
    ("xm T g", "anchor=[xm] ,? long=T g", distances.yearly_ago, ""),
    ("xm GV T", f"anchor=[xm] ,?{_IN}[GV] long=T", distances.yearly_ago, ""),
    ("T g xm", f"long=T g,?{_IN} anchor=[xm]", distances.yearly_ago, ""),
    ("GV T xm", f"[GV] long=T ,?{_IN} anchor=[xm]", distances.yearly_ago, ""),
    ("TU BVAlF xmZY", f"long=[TU] to=[BVAlF] {_IN} anchor={_X}", distances.beside, ""),
    ("v xmZY", f"eve=v {_IN} anchor={_X}", distances.beside, "x"),
    ("xmZY v", f"anchor={_X} eve=v", distances.beside, "x"),
    ("xmZY T g<l>", f"anchor={_X} long=T to=[g<l>]", distances.beside, "x"),
    ("s T", "s[GV]? long=T (?!g)", distances.since_long, "x"),
    ("U g", "unit=U g", distances.some_ago, "x"),
    ("F T", "F long=T (?!g)", distances.since_da, "x"),
    ("T g", "long=T g(?:i?x)?", distances.ago, "x"),
    ("GV T", "x?[GV] long=T", distances.ago, "x"),
    ("T l>", "long=T [l>]", distances.ahead, "x"),
    ("IR T", "x?[IR] long=T", distances.ahead, "x"),
    ("SLp T", "shift=[SLp] long=T", distances.rolling, "x"),
    ("SLp U", f"count={_N} shift=[SLp] unit=U", distances.rolling, "x"),
    ("T SLp", "long=T shift=[SLp]", distances.rolling, "x"),
    ("c", "recent=c", distances.recently, "x"),
    # Intervals
    ("bR &", f"[bR]e?(?P<a>{_X}|y)&{_IN}(?P<b>{_X}|y)", distances.between, "x"),
    (
        "-tju",
        f"[Fs]?{_AT}(?P<a>{_X}|(?<=[Fs])y){_TO}{_IN}(?P<b>{_X}|y)[)]?",
        distances.between,
        "x",
    ),
    ("y -tju", f"a=y {_TO}{_IN}(?P<b>{_X}|y)[)]?", distances.between, "x"),
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
    ("iI y", "[iI] year=y", points.written_year, "Y"),
    ("o", "(?<=[ie]) day=[o] (?![A-Za-z])", distances.day_of_this_month, "x"),
    ("i d", "(?<=i) day=d (?![A-Za-z0-9.,%&-])", distances.day_of_this_month, "x"),
    ("d .", "(?<=[iF]) day=d [.](?![A-Za-z])", distances.day_of_this_month, "x"),
    ("U d", "number=U day=d (?![A-Za-z])", distances.day_of_this_month, "x"),
)
RULES = tuple(Rule(*listed) for listed in _LISTED)
"""In the order in which they claim tokens."""
