"""The public hook: a signal and a fact of somebody else, in Python and by entry point."""

import json
import subprocess
import sys
from importlib import metadata

import numpy as np
import pytest
from running import run_well

from memory_palace import signals
from memory_palace.errors import MissingPartError, UsageError
from memory_palace.index.values import Derived
from memory_palace.palace import Palace
from memory_palace.signals import Extension, ProfileSettings, Signal, register


def shouts(evidence, rows):
    return evidence.mark(evidence.facts_in.rows("shout", "yes"), rows).astype(np.float32)


def read_shouts(note, chunk, config):
    return Derived(facts=(("shout", "yes"),) if "!" in chunk.text else ())


SHOUTS = Extension(
    "shouts",
    signals={"shouts": Signal(shouts)},
    facts=read_shouts,
    profiles={"loud": ProfileSettings("hybrid", weights={"shouts": 3.0})},
)


class Entry:
    name, value = "shouts", "some_package:SHOUTS"

    def __init__(self, found=SHOUTS):
        self._found = found

    def load(self):
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    monkeypatch.setattr(signals, "_registered", dict(signals._registered))
    signals._load_installed.cache_clear()
    yield
    signals._load_installed.cache_clear()


def install(monkeypatch, entry):
    found = metadata.entry_points
    monkeypatch.setattr(
        metadata,
        "entry_points",
        lambda **how: [entry] if how == {"group": signals.GROUP} else found(**how),
    )


@pytest.fixture
def palace(tmp_path):
    (tmp_path / "calm.md").write_text("# Calm\n\nThe gauge was levelled in spring.\n")
    (tmp_path / "loud.md").write_text("# Loud\n\nThe gauge was levelled in autumn!\n")
    return Palace.init(tmp_path, here=True)


@pytest.mark.parametrize("way", ["python", "entry point"])
def test_a_signal_and_its_fact_are_seen_in_details(palace, monkeypatch, way):
    if way == "python":
        register(SHOUTS)
    else:
        install(monkeypatch, Entry())
    root = str(palace.paths.root)
    run_well("-C", root, "index", "--embedder", "hashing")
    assert palace.snapshot().commit.fingerprint.endswith("|plain-11+shouts-1")
    asked = ("-C", root, "query", "gauge levelled", "--profile", "loud", "--details")
    first = run_well(*asked)[0].split("\n\n")[0]
    assert "Loud" in first and "shouts 1.000000 x 3.000000" in " ".join(first.split())
    shown = json.loads(run_well(*asked, "--json")[0])
    values = {
        hit["path"]: part["value"]
        for hit in shown["hits"]
        for part in hit["parts"]
        if part["signal"] == "shouts"
    }
    assert values == {"loud.md": 1.0, "calm.md": 0.0}
    assert palace.doctor().findings == ()


def test_without_the_extension_the_index_answers_and_is_made_again(palace, monkeypatch):
    register(SHOUTS)
    palace.index(embedder="hashing")
    monkeypatch.setattr(signals, "_registered", {})
    plain = Palace(palace.paths.root)
    assert plain.query("gauge").hits
    assert plain.index().embedded == 0
    assert plain.snapshot().commit.fingerprint.endswith("|plain-11")
    with pytest.raises(UsageError, match="no profile 'loud'"):
        plain.query("gauge", profile="loud")


def test_a_reader_that_fails_is_a_problem_of_the_note_and_no_failed_build(palace):
    def fail(note, chunk, config):
        raise ZeroDivisionError

    register(Extension("shouts", facts=fail))
    report = palace.index(embedder="hashing")
    assert len(report.added) == 2 and all("shouts" in str(p) for p in report.problems)
    assert palace.query("gauge").hits


def test_names_that_are_taken_and_packages_that_do_not_load_are_one_line(palace, monkeypatch):
    with pytest.raises(UsageError, match="the extension x: the signal dense is taken"):
        register(Extension("x", signals={"dense": Signal(shouts)}))
    install(monkeypatch, Entry(ImportError("no such module")))
    with pytest.raises(MissingPartError, match=r"shouts \(some_package:SHOUTS\) cannot be loaded"):
        palace.index(embedder="hashing")


@pytest.mark.parametrize("wrong", [np.float32([1.0]), np.float32([-1, 0]), np.float32([np.nan, 0])])
def test_values_that_are_no_scores_are_refused(palace, wrong):
    profile = ProfileSettings("hybrid", weights={"odd": 1.0})
    register(Extension("odd", {"odd": Signal(lambda evidence, rows: wrong)}, {"odd": profile}))
    palace.index(embedder="hashing")
    with pytest.raises(UsageError, match="signal odd gives no score"):
        palace.query("gauge", profile="odd")


def test_an_index_and_a_question_by_default_import_no_structure(palace):
    code = (
        "import sys; from memory_palace import Palace; p = Palace(sys.argv[1]); "
        "p.index(embedder='hashing'); p.query('gauge'); "
        "sys.exit(any(name.startswith('memory_palace.features.structure') for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(palace.paths.root)]
    assert subprocess.run(command, check=False).returncode == 0
