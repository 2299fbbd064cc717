"""Which notes hold nothing but sentences of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_palace.notes.rooms import stem_of


def find_copies(
    named: Mapping[int, Sequence[str]], paths: Mapping[int, str]
) -> dict[int, list[int]]:
    """Return copies with the notes that they name, given ``paths`` of the notes that may be named.

    A note that names one which is not there, or not known by its name alone, is no copy.
    """
    places: dict[str, list[int]] = {}
    for place, path in paths.items():
        places.setdefault(stem_of(path), []).append(place)
    found = {copy: [places.get(name, []) for name in names] for copy, names in named.items()}
    return {
        copy: [place for (place,) in originals]
        for copy, originals in found.items()
        if all(len(each) == 1 for each in originals)
    }
