"""Read ``palace.yaml``."""

from __future__ import annotations

from pathlib import Path

from memory_palace.config import Config, parse_config
from memory_palace.errors import ConfigError


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
