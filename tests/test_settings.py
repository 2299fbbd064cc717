"""What `palace.yaml` may say: a mistake is named, and nothing is guessed."""

import pytest

from memory_palace.config import Config
from memory_palace.errors import ConfigError
from memory_palace.settings import parse_config, parse_settings, read_config


@pytest.mark.parametrize(
    "values",
    [
        {"half_life_days": True},
        {"half_life_days": "30"},
        {"max_note_bytes": 1.5},
        {"max_note_bytes": True},
        {"cold_hint": 1},
        {"usage_log": "often"},
        {"usage_log": 1},
        {"embedder": 7},
        {"manifest": "melted"},
        {"ignore": ["git"]},
        {"anchors": {"k": 0}},
        {"anchors": {"theta": 2}},
        {"anchors": {"deny": "x"}},
    ],
    ids=str,
)
def test_a_value_of_another_kind_is_refused(values):
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


@pytest.mark.parametrize("text", ["languages: [de, en]", "languages: [en, de, de]"])
def test_languages_are_a_set(text):
    assert parse_settings(text, "palace.yaml").languages == ("de", "en")


def test_the_code_of_norwegian_is_no_denial():
    assert parse_settings("languages: [no]", "palace.yaml").languages == ("no",)


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_an_empty_file_means_the_defaults(tmp_path, text):
    (tmp_path / "palace.yaml").write_text(text)
    assert read_config(tmp_path / "palace.yaml") == Config()
    assert read_config(tmp_path / "missing.yaml") == Config()


WRONG = {
    "half_life_days: 1" + 400 * "0": "half_life_days must be a",
    "half_life_days: .nan": "above 0",
    "half_life_days: .inf": "above 0, 1,099",
    "max_note_bytes: 9" + 400 * "9": "max_note_bytes must be a whole number above 0, 1,099",
    "max_note_bytes: 9" + 5000 * "9": "is not a value",
    "half_life_days: 2026-13-45": "is not a value",
    "half_life_days: !!int ''": "is not a value",
    "embedder: !!python/object:os.system x": "not valid YAML",
    "cold_hint: [1, 2]": "cold_hint must be true or false",
    "ignore: {a: b}": "ignore must be one of",
    "cold_hint: true\ncold_hint: false": "is set again (first on line 2)",
    "locale: english": "locale must be such as en-GB, de or zh-CN, not 'english'",
    "locale: xx-GB": "locale must be such as",
    "languages: de": "languages must be a list such as [en, de], not 'de'",
    "languages:\n- en\n- xx": "languages: 'xx' is not known; known: ar, ca,",
    "languages: [en, 7]": "languages: 7 is not known",
    "anchors: {k: 1, k: 2}": "is set again (first on line 2)",
    "anchors:\n  theta: .nan": "anchors.theta must be a number",
    "anchors:\n\n  kk: 3": "unknown setting anchors.kk",
    "anchors: [1]": "anchors must be a mapping",
    "sources:\n  a/b: [own]": "trust of",
    "sources:\n  a/b: much": "trust of 'a/b' must be one of own, import, untrusted, not 'much'",
    "sources:\n  /etc: own": "source '/etc' must be a path below the root",
    "sources:\n  palace/../x: own": "source 'palace/../x' must be a path below the root",
    "rooms:\n  Archive: [1]": "there is no room",
    "rooms:\n  ../out: archive_basement": "must be a folder inside",
    "rooms:\n  a: 2026-02-99": "'2026-02-99' is not a value",
    "profile: hybird": "no profile 'hybird'; did you mean 'hybrid'?",
    "profile: [raw]": "profile must be a word",
    "\tembedder: minilm": "not valid YAML",
    "embedder: *none": "aliases",
    "a: &a [1]\nb: &b [*a, *a]": "aliases",
    "? [a, b]\n: c": "the name of a setting must be a word",
    "a: " + 200 * "[": "nested too deeply",
    "a: " + 5000 * "[": "nest",  # a libyaml of its own limit says it first
    "half_lif: 3": "did you mean 'half_life_days'",
    "- a": "a mapping of settings, not a sequence",
    "7: 8": "unknown setting 7",
    "embedder: minilm\n---\nembedder: none": "not valid YAML",
}
LINES = {"rooms:\n  a:": 3, "a: &a": 3, "embedder: minilm\n---": 3, "cold_hint: true": 3}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:20])
def test_what_is_wrong_is_one_line_that_names_its_line(tmp_path, text):
    path = tmp_path / "palace.yaml"
    path.write_text(f"# settings\n{text}\n")
    with pytest.raises(ConfigError) as raised:
        read_config(path)
    line = next((at for start, at in LINES.items() if text.startswith(start)), 2)
    message = str(raised.value)
    assert message.startswith(f"{path}:{line}: ") and WRONG[text] in message
    assert "\n" not in message and len(message) < len(str(path)) + 250


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"embedder: none\n\xff\xfe", ":2: it is not UTF-8"),
        (b"embedder: none\n#\x00\n", ":2: "),
        (b"# long\n" * 100_000, "more than"),
    ],
    ids=["latin", "binary", "huge"],
)
def test_bytes_that_are_no_settings_are_named(tmp_path, data, why):
    path = tmp_path / "palace.yaml"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=why):
        read_config(path)


def test_a_folder_in_place_of_the_settings_is_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path)


@pytest.mark.parametrize(("text", "read"), [("en-GB", "en-GB"), ("de", "de"), ("zh_cn", "zh-CN")])
def test_a_locale_is_a_language_and_perhaps_a_region(text, read):
    assert parse_settings(f"locale: {text}", "palace.yaml").locale == read
