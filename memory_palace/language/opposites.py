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
| before ahead / after afterwards behind
| earlier / later
| early / late
| first / last
| begin start / end stop finish
| better improve good / worse worsen bad
| faster quicker quick fast speed / slower slow
| hot hotter warm warmer heat / cold colder cool cooler freeze
| open / close shut
| always / never
| everybody everyone / nobody
| all / none
| allow permit / forbid prohibit ban
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
| arrive / leave depart
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


def find_allies(stem: str) -> frozenset[str]:
    """Return the stems that stand on the same side as a stemmed word, itself included."""
    return _ALLIES.get(stem, frozenset({stem}))


def _read_groups() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    opposites: dict[str, set[str]] = {}
    allies: dict[str, set[str]] = {}
    for group in _GROUPS.split("|"):
        one, other = ({stem_word(word) for word in side.split()} for side in group.split("/"))
        for mine, theirs in ((one, other), (other, one)):
            for word in mine:
                opposites.setdefault(word, set()).update(theirs)
                allies.setdefault(word, set()).update(mine)
    return _freeze(opposites), _freeze(allies)


def _freeze(found: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {word: frozenset(words) for word, words in found.items()}


_OPPOSITES, _ALLIES = _read_groups()
