"""Words of opposite meaning: where one text has a word and another its opposite, they differ."""

from __future__ import annotations

from memory_palace.language.stemming import stem_word

_GROUPS = """
more larger bigger greater higher longer stronger increase rise rose grow grew gain raise expand add
maximum most up upwards
/ less fewer smaller lower shorter weaker decrease fall fell shrink lose lost reduce remove minimum
least down downwards
| much many / little few
| above over exceed / below under beneath
| before earlier first begin start early ahead / after later afterwards last end stop late
| better improve good / worse worsen bad
| faster quicker quick fast speed / slower slow
| hot hotter warm warmer heat / cold colder cool cooler freeze
| open / close shut
| always every everybody everything / never none nobody nothing
| allow permit may can / forbid prohibit ban cannot
| accept / reject refuse decline
| inside inner inward inwards into / outside outer outward outwards out
| push / pull
| west western / east eastern
| north northern / south southern
| dry / wet moist
| full / empty
| heavy / light
| hard / soft
| cheap / expensive dear
| new fresh / old
| morning / evening
| day / night
| summer / winter
| spring / autumn
| win won / lose lost
| enable on / disable off
| commit / abort
| send sent / receive
| buy bought / sell sold
| public publish / private secret
| strong / weak
| thick wide / thin narrow
| near / far
| same equal / different
| alone / together
| present / absent missing
| harmless safe / harmful dangerous
| simple / complex
| necessary need require / unnecessary
| alive / dead
| succeed success / fail failure
| top upper / bottom lower
| arrive come came / leave left
| encrypt hash / plain clear
| load / idle
| yes / no
| once / twice
| slowly / quickly
"""
"""Two sides parted by a slash; what stands on one is opposed to all on the other."""


def find_opposites(stem: str) -> frozenset[str]:
    """Return the stems of the opposites of a stemmed word; most words have none."""
    return _OPPOSITES.get(stem, frozenset())


def _read_groups() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _GROUPS.split("|"):
        one, _, other = ({stem_word(word) for word in side.split()} for side in _sides(group))
        for word in one | other:
            found.setdefault(word, set()).update(other if word in one else one)
    return {word: frozenset(others - {word}) for word, others in found.items()}


def _sides(group: str) -> tuple[str, str, str]:
    return group.partition("/")


_OPPOSITES = _read_groups()
