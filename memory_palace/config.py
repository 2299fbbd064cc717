"""Where things are, and what ``palace.yaml`` may say. Parsing the file is the caller's job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from memory_palace.anchor_settings import (
    AnchorSettings,
    parse_anchor_settings,
    parse_sources,
)  # fmt: skip
from memory_palace.errors import ConfigError

PALACE = "palace"
ARCHIVE = "archive_basement"
MANIFEST = "watchdog_manifest_v1.jsonl"

ROOMS: Mapping[str, str] = {
    "grand_hall": "palace",
    "chambers": "palace",
    "project_rooms": "project",
    "reflection_wing": "reflection",
    "dispatch_corridor": "task",
    "conflict_room": "conflict",
    ARCHIVE: "archive",
}
"""The seven rooms and the type a note has where neither it nor the manifest names one."""


@dataclass(frozen=True, slots=True)
class PalacePaths:
    """Every place below a root that the package reads or writes."""

    root: Path

    @property
    def palace(self) -> Path:
        """The folder that holds the rooms."""
        return self.root / PALACE

    @property
    def manifest(self) -> Path:
        """The list of notes with type and priority that people edit."""
        return self.palace / MANIFEST

    @property
    def settings(self) -> Path:
        """The optional settings file."""
        return self.palace / "palace.yaml"

    @property
    def index(self) -> Path:
        """Everything derived from the notes; may be deleted at any time."""
        return self.palace / ".index"

    @property
    def commit(self) -> Path:
        """The commit record of the index."""
        return self.index / "INDEX.json"

    @property
    def lock(self) -> Path:
        """The file whose advisory lock a writer holds."""
        return self.index / "lock"

    @property
    def sessions(self) -> Path:
        """Searches that go on over several commands."""
        return self.palace / ".sessions"

    @property
    def logs(self) -> Path:
        """Append-only records that are sources of truth."""
        return self.palace / "grand_hall" / "logs"


@dataclass(frozen=True, slots=True)
class Config:
    """Settings with their defaults. A palace can only narrow what the program may do."""

    embedder: str | None = None
    """Name of the embedder for the first build; ``None`` means minilm where it is present."""
    ignore: str = "palaceignore"
    """``git`` honours ``.gitignore`` too."""
    manifest: str = "append"
    """``frozen`` forbids appending lines for new notes."""
    max_note_bytes: int = 32 * 1024 * 1024
    """A larger file is reported and left out."""
    cold_hint: bool = False
    """Say on stderr that the cold zone holds a better answer."""
    usage_log: bool = False
    """Record what was retrieved in ``grand_hall/logs``."""
    half_life_days: float = 30.0
    """Age at which recency has halved."""
    anchors: AnchorSettings = field(default_factory=AnchorSettings)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Path prefixes with a trust each; a note's source is the longest that fits, else its room."""


CHOICES: Mapping[str, tuple[str, ...]] = {
    "ignore": ("palaceignore", "git"),
    "manifest": ("append", "frozen"),
}

PARSERS: Mapping[str, Callable[[Any, str], Any]] = {
    "anchors": parse_anchor_settings,
    "sources": parse_sources,
}
"""Settings that have settings of their own."""


def parse_config(values: Mapping[str, Any], *, source: str = "palace.yaml") -> Config:
    """Check a parsed settings file. Unknown keys and wrong types raise ``ConfigError``."""
    known = {f.name: f for f in fields(Config)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            near = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
            raise ConfigError(f"{source}: unknown setting {key!r}{hint}")
        checked[key] = _check(key, value, source)
    return Config(**checked)


def _check(key: str, value: Any, source: str) -> Any:
    if key in PARSERS:
        return PARSERS[key](value, source)
    default = getattr(Config(), key)
    if key in CHOICES and value not in CHOICES[key]:
        raise ConfigError(f"{source}: {key} must be one of {', '.join(CHOICES[key])}")
    expected = str if default is None else type(default)
    if expected is float and type(value) is int:
        value = float(value)
    if type(value) is not expected:
        raise ConfigError(f"{source}: {key} must be {expected.__name__}, not {value!r}")
    if isinstance(value, int | float) and expected is not bool and value <= 0:
        raise ConfigError(f"{source}: {key} must be above 0, not {value!r}")
    return value
