"""The settings of a palace that go to a store, and the profiles that a store answers by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memory_palace.config import USERS_ONLY, Config, describe_two
from memory_palace.errors import UsageError, WrongEmbedderError
from memory_palace.index.recipes import Detail
from memory_palace.ranking import SIGNALS, ProfileSettings
from memory_palace.retrieval.profiles import Profile, check_detail

KEPT = ("half_life_days", "locale", "profile", "profiles")
"""What decides on answers, and neither runs nor opens anything."""


def kept_settings(config: Config) -> dict[str, Any]:
    """Return the settings that readers of a store need, as JSON has them; no defaults."""
    usual = Config()
    found = {name: getattr(config, name) for name in KEPT}
    found = {name: value for name, value in found.items() if value != getattr(usual, name)}
    if config.profiles:
        found["profiles"] = {name: _write(own) for name, own in config.profiles.items()}
    return found


def _write(profile: ProfileSettings) -> dict[str, Any]:
    values = {name: value for name, value in asdict(profile).items() if value is not None}
    return {name: [*v] if isinstance(v, tuple) else v for name, v in values.items()}


def read_kept(values: Mapping[str, Any], source: str) -> Config:
    """Check what a store holds of settings; raise ``ConfigError`` as for a settings file."""
    known = {name: values[name] for name in KEPT if name in values}
    if not known:
        return Config()
    from memory_palace.settings import parse_config  # delayed: most palaces have the defaults

    return parse_config(known, source=source)


def refuse_service(embedder: str, hint: str) -> None:
    """Raise ``WrongEmbedderError`` for an embedder that its user alone may choose.

    ``hint`` says what to do instead.
    """
    if embedder.startswith(USERS_ONLY):
        raise WrongEmbedderError(
            f"the store was indexed with {embedder}, which its user may "
            f"choose, and a store cannot; {hint}"
        )


def refuse_two(embedder: str) -> None:
    """Raise ``WrongEmbedderError`` where the vectors of a store are of two embedders."""
    if two := describe_two(embedder, "run `palace index --embedder {0} --force --store …`"):
        raise WrongEmbedderError(two)


def check_stored_profile(profile: Profile, detail: Detail) -> None:
    """Raise ``UsageError`` for a profile that needs more than a store knows of all notes.

    See ``check_detail`` for what its index may lack.
    """
    if "anchor" in profile.weights:
        why = "reads the anchors, which are not pushed"
    elif shares := sorted(profile.weights.keys() - SIGNALS.keys()):
        why = f"compares facts of all notes ({', '.join(shares)})"
    else:
        check_detail(profile, detail)
        return
    raise UsageError(f"the profile {profile.name} {why}: a store cannot; ask with --profile hybrid")
