"""Where things are below a root, and what ``palace.yaml`` may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

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


TRUST: Mapping[str, float] = {"own": 1.0, "import": 0.8, "untrusted": 0.5}
"""What the anchor score of a passage is multiplied by, per level of trust in its source."""


@dataclass(frozen=True, slots=True)
class AnchorSettings:
    """Parameters of anchors, with the defaults of source document 003 where it names any."""

    k: int = 20
    """Passages per anchor, at a nightly build."""
    k_max: int = 50
    """Passages per anchor, with those of later updates."""
    max_chunks: int = 30
    """Passages that one lookup returns at most."""
    theta: float | None = None
    """Least cosine of anchor and passage; ``None`` is calibrated per embedder."""
    sem_theta: float | None = None
    """Least cosine of question and anchor; ``None`` is calibrated per embedder."""
    anchor_weight: float = 0.6
    query_weight: float = 0.4
    vocabulary: int = 2000
    """Discovered anchors at most; curated ones do not count."""
    deny: tuple[str, ...] = ()
    """Anchors that never trigger: terms, or patterns between slashes."""
    allow: tuple[str, ...] = ()
    """Path prefixes that anchors may lead to; empty means all."""
    source_cap: float = 0.34
    """Largest share of an answer that one source below trust ``own`` may fill."""


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


def read_config(path: Path) -> Config:
    """Return the settings of a palace; a missing or empty file means the defaults."""
    if not path.exists():
        return Config()
    import yaml  # delayed: most palaces have no settings, and a query should not pay for it

    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    if values is None:
        return Config()
    if not isinstance(values, dict):
        raise ConfigError(f"{path} must be a mapping of settings, not a {type(values).__name__}")
    return parse_config(values, source=str(path))


def parse_anchor_settings(value: Any, source: str) -> AnchorSettings:
    """Check the mapping ``anchors`` of a settings file."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: anchors must be a mapping of settings, not {value!r}")
    known = {field.name for field in fields(AnchorSettings)}
    checked: dict[str, Any] = {}
    for name, given in value.items():
        if name not in known:
            raise ConfigError(
                f"{source}: unknown setting anchors.{name}; known: {', '.join(sorted(known))}"
            )
        checked[name] = _check_anchor(str(name), given, source)
    return AnchorSettings(**checked)


def parse_sources(value: Any, source: str) -> dict[str, str]:
    """Check the mapping ``sources``: path prefixes below the root, each with its trust."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: sources must map path prefixes to a trust, not {value!r}")
    for prefix, trust in value.items():
        parts = str(prefix).split("/")
        if str(prefix).startswith("/") or ".." in parts or not parts[0]:
            raise ConfigError(f"{source}: source {prefix!r} must be a path below the root")
        if trust not in TRUST:
            raise ConfigError(
                f"{source}: trust of {prefix!r} must be one of {', '.join(TRUST)}, not {trust!r}"
            )
    return {str(prefix): str(trust) for prefix, trust in value.items()}


def _check_anchor(name: str, given: Any, source: str) -> Any:
    if name in ("deny", "allow"):
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise ConfigError(f"{source}: anchors.{name} must be a list of strings")
        return tuple(given)
    is_whole = name in ("k", "k_max", "max_chunks", "vocabulary")
    number = type(given) is int or (type(given) is float and not is_whole)
    if not number or given < (1 if is_whole else 0) or (not is_whole and given > 1):
        wanted = "a whole number above 0" if is_whole else "a number from 0 to 1"
        raise ConfigError(f"{source}: anchors.{name} must be {wanted}, not {given!r}")
    return given if is_whole else float(given)


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
