"""What ``palace.yaml`` may say of anchors and of sources. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from memory_palace.errors import ConfigError

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
        checked[name] = _check(str(name), given, source)
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


def _check(name: str, given: Any, source: str) -> Any:
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
