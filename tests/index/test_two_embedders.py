"""An index of two embedders, as older versions made them, and names that ask for one."""

from __future__ import annotations

import json

import pytest
from running import run_main

from memory_palace.config import Config, describe_two
from memory_palace.embedding.registry import get_embedder
from memory_palace.errors import ConfigError, UsageError, WrongEmbedderError
from memory_palace.index.commit import _check
from memory_palace.palace import Palace

LINE = (
    "hashing+minilm is two embedders in one index, which palaces no longer have; "
    "run `palace index --embedder hashing`"
)


@pytest.fixture
def joined(indexed: Palace) -> Palace:
    """A palace whose index has the record that two embedders had."""
    path = indexed.paths.commit
    record = json.loads(path.read_text())
    body = record["commit"]
    body |= {"embedder": "hashing+minilm", "dimension": 768, "second_dimension": 384}
    body["fingerprint"] = f"pair:hashing&minilm|{body['fingerprint'].partition('|')[2]}"
    path.write_text(json.dumps(record | {"check": _check(body)}))
    return Palace(indexed.paths.root)


@pytest.mark.parametrize("verb", ["query oven", "recall oven", "doctor", "index", "index --force"])
def test_an_index_of_two_embedders_names_the_command(joined, capsys, verb):
    code, _, err = run_main(capsys, "-C", str(joined.paths.root), *verb.split())
    assert (code, err) == (4, f"palace: {LINE}\n")


def test_the_command_builds_the_index_again(joined, capsys):
    root = str(joined.paths.root)
    assert run_main(capsys, "-C", root, "index", "-q", "--embedder", "hashing")[0] == 0
    assert "second_dimension" not in joined.paths.commit.read_text()
    again = Palace(root)
    assert again.query("where does the oven run hot").hits
    assert again.doctor().findings == ()
    assert again.index().embedded == 0


def test_the_embedder_of_the_settings_builds_it_again(joined):
    Palace(joined.paths.root, config=Config(embedder="hashing")).index()
    assert joined.snapshot().commit.embedder == "hashing"


def test_settings_that_name_two_say_what_to_write(palace):
    palace.paths.settings.write_text("embedder: hashing+llm:gpt\n")
    with pytest.raises(ConfigError, match=r"yaml:1: .* write `embedder: hashing`, then run"):
        Palace(palace.paths.root)


@pytest.mark.parametrize("name", ["hashing+minilm", "minilm+st:org/model"])
def test_two_names_are_no_embedder(indexed, name):
    with pytest.raises(WrongEmbedderError, match=f"--embedder {name.partition('+')[0]}`"):
        indexed.index(embedder=name, force=True)


def test_the_model_of_a_library_may_have_a_plus_sign_in_its_name():
    assert not describe_two("st:/models/a+b")
    assert not describe_two("llm:gpt+4")
    with pytest.raises(UsageError, match="unknown embedder 'hashing\\+'"):
        get_embedder("hashing+")
