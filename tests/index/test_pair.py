"""Two embedders in one index: their vectors side by side, each with its own chance and signals."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import numpy as np
import pytest
from typer.testing import CliRunner

from memory_palace.bench.vectors import RememberingEmbedder
from memory_palace.cli.commands import app
from memory_palace.config import Config
from memory_palace.embedding import registry
from memory_palace.embedding.base import PART_LENGTH, find_parts, find_token_reader
from memory_palace.embedding.hashing import HashingEmbedder
from memory_palace.embedding.pair import PairEmbedder
from memory_palace.errors import ConfigError, MissingPartError, UsageError, WrongEmbedderError
from memory_palace.index.calibration import list_choices
from memory_palace.index.segment import PASSAGES
from memory_palace.palace import Palace
from memory_palace.retrieval.profiles import SECOND

BOTH = "hashing+letters"


class LetterEmbedder:
    """Counts letters: a second opinion on what texts have in common."""

    name, dimension, token_limit, read_limit = "letters", 26, 100, 1000
    fingerprint = "letters:1"
    are_weights_here = True
    asked = 0

    def count_tokens(self, text):
        if not self.are_weights_here:
            raise MissingPartError("letters has no weights; run `palace models fetch letters`")
        return 40 * sum(ord(letter) > 127 for letter in text)

    def embed_queries(self, texts):
        return self.embed_passages(texts)

    def embed_passages(self, texts):
        type(self).asked += len(texts)
        counts = np.array(
            [[text.casefold().count(chr(97 + n)) for n in range(26)] for text in texts], np.float32
        )
        lengths = np.linalg.norm(counts, axis=1, keepdims=True)
        return np.divide(counts, lengths, out=np.zeros_like(counts), where=lengths > 0)


@pytest.fixture(autouse=True)
def letters(monkeypatch):
    """Register the embedder, as a module and a line of the table are."""
    module = ModuleType("memory_palace.embedding.letters")
    module.load = lambda model, environ: LetterEmbedder()
    module.is_available = lambda environ: LetterEmbedder.are_weights_here
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(registry.EMBEDDERS, "letters", ("letters", "letters alone"))
    monkeypatch.setattr(LetterEmbedder, "asked", 0)
    return LetterEmbedder


@pytest.fixture
def pair(palace):
    palace.index(embedder=BOTH)
    return palace


def vectors_of(palace, which=PASSAGES):
    snapshot = palace.snapshot(include_cold=True)
    return snapshot.rows_of(np.flatnonzero(snapshot.row_note >= 0), which)


def test_each_embedder_has_its_own_part_of_a_row(pair):
    snapshot = pair.snapshot()
    assert (snapshot.commit.embedder, snapshot.commit.dimension) == (BOTH, 384 + 26)
    _, first, second = list_choices(snapshot.commit)
    text = "Rye flour keeps for six months."
    row = snapshot.paths.index("palace/chambers/baker/2026-02-03 flour.md")
    place = int(np.flatnonzero(snapshot.row_note == row)[0])
    for which, embedder in ((first, HashingEmbedder()), (second, LetterEmbedder())):
        stored = snapshot.rows_of(np.array([place]), which)
        np.testing.assert_allclose(stored, embedder.embed_passages([text]), atol=1e-6)
    whole = snapshot.rows_of(np.array([place]))[0]
    assert np.linalg.norm(whole) == pytest.approx(1)


def test_the_product_of_two_rows_is_the_mean_of_both_cosines(pair):
    _, first, second = list_choices(pair.snapshot().commit)
    parts = [vectors_of(pair, which) for which in (first, second)]
    mean = sum(part @ part.T for part in parts) / 2
    whole = vectors_of(pair)
    np.testing.assert_allclose(whole @ whole.T, mean, atol=1e-6)


def test_raw_scores_are_the_mean_of_both_cosines(pair, tmp_path):
    hit = pair.query("sourdough starter", profile="raw").hits[0]
    values = []
    for name in ("hashing", "letters"):
        alone = Palace(pair.paths.root)
        alone.index(embedder=name, force=True)
        found = alone.query("sourdough starter", profile="raw", limit=9).hits
        values.append(next(h.score for h in found if h.chunk.digest == hit.chunk.digest))
    assert hit.score == pytest.approx(sum(values) / 2, abs=2e-6)


def test_each_has_chance_and_signals_of_its_own(pair):
    figures = pair.snapshot().commit.calibration
    for name in ("null_mean", "null_std", "best_null", "best_deviation"):
        assert len({figures[name], figures[f"first_{name}"], figures[f"second_{name}"]}) > 1
    assert len(list(pair.paths.index.glob("null-*.npz"))) == 2
    hit = pair.query("where does the sourdough starter stand").hits[0]
    values = {c.signal: c.value for c in hit.contributions}
    assert values.keys() >= SECOND
    assert values["second_dense"] != values["dense"]


def test_an_index_of_one_embedder_has_neither_their_signals_nor_a_larger_record(indexed):
    hit = indexed.query("where does the sourdough starter stand").hits[0]
    assert not SECOND & {c.signal for c in hit.contributions}
    record = json.loads(indexed.paths.commit.read_text())["commit"]
    assert "second_dimension" not in record
    assert not any(name.startswith("second") for name in record["calibration"])


def test_a_second_embedder_orders_what_the_first_cannot_tell_apart(pair):
    for name, text in (("one", "Zzz zzz."), ("two", "Qqq qqq.")):
        (pair.paths.notes / "chambers" / f"{name}.md").write_text(text)
    pair.index()
    hits = pair.query("qq", profile="raw").hits
    assert hits[0].path.endswith("two.md")


def test_an_index_grown_by_updates_answers_like_a_fresh_one(pair):
    note = pair.paths.notes / "chambers/baker/2026-02-03 flour.md"
    note.write_text("Spelt flour keeps for three months.\n")
    report = pair.index()
    assert (report.embedded, report.reused_halves) == (1, 0)
    grown = [(h.path, h.score) for h in pair.query("spelt flour").hits]
    fresh = Palace(pair.paths.root)
    fresh.index(force=True)
    assert [(h.path, h.score) for h in fresh.query("spelt flour").hits] == grown


def test_what_one_of_two_has_embedded_is_used_again(indexed):
    before = indexed.snapshot(include_cold=True).commit
    hashed = vectors_of(indexed)
    report = indexed.index(embedder=BOTH, force=True)
    assert (report.embedded, report.reused_halves) == (before.rows, before.rows)
    _, first, _ = list_choices(indexed.snapshot().commit)
    np.testing.assert_allclose(vectors_of(indexed, first), hashed, atol=1e-6)
    reused = vectors_of(indexed)
    assert indexed.index(force=True).reused_halves == 0
    assert np.array_equal(vectors_of(indexed), reused)


def test_forcing_the_same_pair_embeds_everything(pair, letters):
    rows = pair.snapshot(include_cold=True).commit.rows
    report = pair.index(force=True)
    assert (report.embedded, report.reused, report.reused_halves) == (rows, 0, 0)


def test_a_stopped_change_to_two_embedders_goes_on_where_it_was(indexed, letters, monkeypatch):
    for number in range(40):
        note = indexed.paths.notes / "chambers" / f"{number}.md"
        note.write_text(f"Note {number} on the roof, rain {number * 7} and keys.\n")
    indexed.index()
    embed = LetterEmbedder.embed_passages

    def stop(self, texts):
        if LetterEmbedder.asked > 30:
            raise KeyboardInterrupt
        return embed(self, texts)

    monkeypatch.setattr("memory_palace.index.rows.AT_ONCE", 0)
    monkeypatch.setattr(LetterEmbedder, "embed_passages", stop)
    with pytest.raises(KeyboardInterrupt):
        indexed.index(embedder=BOTH, force=True)
    assert indexed.snapshot().commit.embedder == "hashing"
    assert indexed.query("sourdough starter").hits
    monkeypatch.setattr(LetterEmbedder, "embed_passages", embed)
    total = indexed.snapshot(include_cold=True).commit.rows
    report = indexed.index(embedder=BOTH, force=True)
    assert 0 < report.embedded < total - 20
    assert Palace(indexed.paths.root).doctor().findings == ()


def test_another_pair_or_one_of_both_needs_to_be_asked_for(pair):
    for name in ("hashing", "letters+hashing"):
        with pytest.raises(
            WrongEmbedderError, match=f"--force --embedder {name}".replace("+", r"\+")
        ):
            pair.index(embedder=name)
    pair.index(embedder="hashing", force=True)
    assert pair.snapshot().commit.dimension == 384


def test_missing_weights_of_one_are_named_before_the_other_works(palace, letters, monkeypatch):
    monkeypatch.setattr(LetterEmbedder, "are_weights_here", False)
    assert not registry.is_available(BOTH)
    with pytest.raises(MissingPartError, match="palace models fetch letters"):
        palace.index(embedder=BOTH)
    assert not list(palace.paths.index.glob("*-*.npz"))


def test_doctor_says_whose_vector_differs(pair, monkeypatch):
    assert pair.doctor().findings == ()
    embed = LetterEmbedder.embed_passages
    monkeypatch.setattr(LetterEmbedder, "embed_passages", lambda *a: embed(*a)[:, ::-1])
    findings = pair.doctor().findings
    assert findings
    assert {f.what for f in findings} == {"vector"}
    assert all(f.message.endswith("by letters") for f in findings)


def test_a_difference_of_a_hundred_thousandth_in_one_part_is_seen(pair, monkeypatch):
    embed = LetterEmbedder.embed_passages
    monkeypatch.setattr(LetterEmbedder, "embed_passages", lambda *a: embed(*a) + 1.2e-5)
    assert pair.doctor().findings
    monkeypatch.setattr(LetterEmbedder, "embed_passages", lambda *a: embed(*a) + 0.7e-5)
    assert pair.doctor().findings == ()


def test_status_says_which_two_and_what_they_take(pair):
    out = CliRunner().invoke(app, ["-C", str(pair.paths.root), "status", "--details"]).stdout
    assert "hashing+letters, 410 dimensions: 6 KiB of hashing + 0 KiB of letters" in out


def test_index_says_what_was_known_of_one_and_what_both_take(indexed):
    root = str(indexed.paths.root)
    asked = ["-C", root, "index", "--force", "--embedder", BOTH]
    out = CliRunner().invoke(app, asked).stdout
    assert "embedded   4 chunks with hashing+letters; one vector of 4 was known" in out
    assert "vectors    6 KiB of hashing + 0 KiB of letters" in out
    out = CliRunner().invoke(app, ["-C", root, "index", "--force", "--embedder", "hashing"]).stdout
    assert "vectors " not in out


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hashing+hashing", "two different embedders, not hashing twice"),
        ("hashing+letters+minilm", "one embedder or two, not 3: hashing\\+letters\\+minilm"),
        ("hashing+none", "none makes no vectors"),
        ("hashing+hashin", "did you mean 'hashing'"),
        ("hashing+", "unknown embedder ''"),
    ],
)
def test_what_is_no_pair_is_said_in_one_line(name, message):
    with pytest.raises(UsageError, match=message) as caught:
        registry.get_embedder(name)
    assert "\n" not in str(caught.value)


def test_the_model_of_a_library_may_have_a_plus_sign_in_its_name():
    assert registry.split_name("llm:gpt+4") == ["llm:gpt+4"]
    assert registry.split_name("llm:gpt+4+hashing") == ["llm:gpt+4+hashing"]
    assert registry.split_name("hashing+llm:gpt") == ["hashing", "llm:gpt"]


def test_settings_choose_no_service_as_one_of_two(tmp_path):
    palace = Palace.init(tmp_path)
    (palace.paths.notes / "palace.yaml").write_text("embedder: hashing+llm:gpt\n")
    with pytest.raises(ConfigError, match="for you to choose, and not for a palace"):
        Palace(tmp_path)


def test_settings_may_name_two(palace):
    again = Palace(palace.paths.root, config=Config(embedder=BOTH))
    again.index()
    assert again.snapshot().commit.embedder == BOTH


def test_passages_are_those_of_the_first_but_where_the_second_could_not_read_them():
    both = PairEmbedder(HashingEmbedder(), LetterEmbedder())
    assert both.token_limit == HashingEmbedder.token_limit
    plain = "a plain text of some words"
    assert both.count_tokens(plain) == HashingEmbedder().count_tokens(plain)
    assert both.count_tokens("ñ" * 30) == -(-40 * 30 * both.token_limit // 1000)
    slow = PairEmbedder(LetterEmbedder(), HashingEmbedder())
    assert slow.count_tokens(plain) == 0, "text of ASCII is counted by the first alone"
    assert slow.count_tokens("ñandú") > 0


def test_a_text_that_one_of_two_has_no_vector_for_keeps_that_of_the_other(pair):
    (pair.paths.notes / "chambers/digits.md").write_text("4711 0815\n")
    pair.index()
    _, first, second = list_choices(pair.snapshot().commit)
    lengths = [np.linalg.norm(vectors_of(pair, which), axis=1).min() for which in (first, second)]
    assert lengths == pytest.approx([1, 0])
    assert pair.query("4711", profile="raw").hits[0].path.endswith("digits.md")
    assert pair.doctor().findings == ()


def test_parts_of_an_embedder_are_itself_or_both():
    alone, both = registry.get_embedder("hashing"), registry.get_embedder(BOTH)
    assert find_parts(alone) == (alone,)
    assert [part.name for part in find_parts(both)] == ["hashing", "letters"]
    assert float(PART_LENGTH) ** 2 == pytest.approx(0.5)


def test_benchmarks_share_the_vectors_of_each_embedder(tmp_path, letters):
    alone = RememberingEmbedder(registry.get_embedder("letters"), tmp_path)
    alone.embed_passages(["a rope"])
    alone.save()
    for _ in range(2):
        both = RememberingEmbedder(registry.get_embedder(BOTH), tmp_path)
        made = both.embed_passages(["a rope", "two ropes"])
        both.save()
    assert letters.asked == 2
    assert len(list(tmp_path.glob("vectors-*.npz"))) == 2
    expected = registry.get_embedder(BOTH).embed_passages(["a rope", "two ropes"])
    assert np.array_equal(made, expected)


def test_what_reads_words_is_found_in_a_pair(letters):
    both = registry.get_embedder("letters+minilm")
    assert find_token_reader(both) == both.parts[1].embed_tokens
    assert find_token_reader(registry.get_embedder(BOTH)) is None
