"""The five kinds of asset and the telegraph: where each lies, and the sections it must have."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from memory_palace.errors import UsageError
from memory_palace.notes.document import Document

WING = "reflection_wing"
CONSTITUTION = "grand_hall/constitution.md"
"""The place of the constitution, see ``Rooms.path_of``."""


@dataclass(frozen=True, slots=True)
class AssetKind:
    """One kind of note in the reflection wing."""

    name: str
    """Name on the command line."""
    type: str
    """The ``type`` in its front matter."""
    folder: str
    sections: Sequence[str]
    """All required; the first says what it is about."""
    evidence: str | None = None
    """The section that lists where it worked."""
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other headings a source may have for a section."""

    def missing(self, sections: Mapping[str, str]) -> list[str]:
        """Return the required sections that are absent or empty."""
        filled = {name.casefold() for name, text in sections.items() if text.strip()}
        return [name for name in self.sections if name.casefold() not in filled]

    def find(self, document: Document, section: str) -> str:
        """Return what a note says under a section's name or another heading for it."""
        return document.section(section, *self.synonyms.get(section, ()))


def _read_kinds() -> dict[str, AssetKind]:
    text = files("memory_palace.features.metabolism").joinpath("assets.toml").read_text("utf-8")
    return {name: AssetKind(name, **values) for name, values in tomllib.loads(text).items()}


KINDS = _read_kinds()
TELEGRAM = KINDS.pop("telegram")


def get_kind(name: str) -> AssetKind:
    """Return the kind of that name; ``UsageError`` lists the known ones."""
    if name not in KINDS:
        raise UsageError(f"the kind of an asset is one of {', '.join(KINDS)}, not {name!r}")
    return KINDS[name]


def kind_of(document: Document) -> AssetKind | None:
    """Return the kind that a note's folder in the reflection wing says."""
    for kind in (*KINDS.values(), TELEGRAM):
        if document.place.startswith(f"{WING}/{kind.folder}/"):
            return kind
    return None


def is_protected(document: Document) -> bool:
    """Whether metabolism never touches a note; only a person removes a rule or its record."""
    is_record = kind_of(document) is KINDS["constitution"]
    return (
        document.place == CONSTITUTION
        or document.text("pinned").casefold() in ("true", "yes")
        or (is_record and document.text("decision").casefold() == "accepted")
    )
