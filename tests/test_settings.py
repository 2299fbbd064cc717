"""What `palace.yaml` may say: a mistake is named, and nothing is guessed."""

from __future__ import annotations

import pytest

from memory_palace.config import Config
from memory_palace.errors import ConfigError
from memory_palace.settings import parse_config, read_config


def test_an_unknown_setting_is_an_error_that_names_the_nearest():
    with pytest.raises(ConfigError, match=r"half_lif.*half_life_days"):
        parse_config({"half_lif": 3})


@pytest.mark.parametrize(
    "values",
    [
        {"half_life_days": True},
        {"half_life_days": "30"},
        {"max_note_bytes": 1.5},
        {"max_note_bytes": True},
        {"cold_hint": 1},
        {"usage_log": "on"},
        {"embedder": 7},
        {"manifest": "melted"},
        {"ignore": ["git"]},
    ],
    ids=str,
)
def test_a_value_of_another_type_is_refused(values):
    (name,) = values
    with pytest.raises(ConfigError, match=name):
        parse_config(values)


@pytest.mark.parametrize("name", ["half_life_days", "max_note_bytes"])
@pytest.mark.parametrize("value", [0, -3])
def test_an_amount_is_above_nothing(name, value):
    with pytest.raises(ConfigError, match="above 0"):
        parse_config({name: value})


def test_a_whole_number_of_days_is_a_number():
    assert parse_config({"half_life_days": 7}).half_life_days == 7.0


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_an_empty_file_means_the_defaults(tmp_path, text):
    (tmp_path / "palace.yaml").write_text(text)
    assert read_config(tmp_path / "palace.yaml") == Config()
    assert read_config(tmp_path / "missing.yaml") == Config()


@pytest.mark.parametrize("text", ["- a\n- list\n", "half_life_days: [\n"])
def test_a_file_that_is_no_mapping_is_named(tmp_path, text):
    path = tmp_path / "palace.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"palace\.yaml"):
        read_config(path)
