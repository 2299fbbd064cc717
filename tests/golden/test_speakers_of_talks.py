"""Conversations with other labels, and pages that are none."""

import re
from dataclasses import replace

import pytest
from evaluation_data import DATA

from benchmarks.datasets.locomo import load_locomo
from benchmarks.report import core, summarise
from benchmarks.runs import run_system
from memory_palace.embedding.registry import get_embedder
from memory_palace.language.sentences import find_speakers, find_talkers
from memory_palace.markdown.markup import strip_markup

TALKS = DATA / "locomo" / "locomo_dev.json"
CJK = ("安娜", "卡罗琳", "小明", "玛丽亚", "约翰", "李雷", "王芳", "刘洋", "张伟", "梅兰妮")
FORMS = {
    "plain": "{}: {}",
    "lower": "{}: {}",
    "cjk": "{}：{}",
    "stamped": "[12:40] {}: {}",
    "whatsapp": "01/05/2024, 12:40 - {}: {}",
    "slack": "{}  12:40 PM\n{}",
}


def _vary(collection, kind):
    """Return a conversation with its labels, and the names in its questions, as the kind has it."""
    names = sorted({p.text.partition(":")[0] for d in collection.documents for p in d.passages})
    labels = {name: name.lower() if kind == "lower" else name for name in names}
    if kind == "cjk":
        labels = dict(zip(names, CJK, strict=False))
    called = {
        "cjk": labels,
        "misspelt": {name: name[:-2] + name[-1] + name[-2] for name in names},
        "unknown": dict.fromkeys(names, "Xzqvw"),
    }

    def label(text):
        who, _, said = text.partition(": ")
        return FORMS.get(kind, "{}: {}").format(labels[who], said)

    def ask(text):
        for name, other in called.get(kind, {}).items():
            text = re.sub(rf"\b{name}\b", other, text)
        return text

    documents = tuple(
        replace(d, passages=tuple(replace(p, text=label(p.text)) for p in d.passages))
        for d in collection.documents
    )
    questions = tuple(replace(q, text=ask(q.text)) for q in collection.questions)
    return replace(collection, documents=documents, questions=questions)


def _judge(kind, cache):
    found = load_locomo(TALKS, gold=TALKS.with_name("gold_dev.jsonl"))
    varied = [_vary(collection, kind) for collection in found]
    run = run_system(f"talks-{kind}", varied, "hybrid", embedder=get_embedder("none"), cache=cache)
    return summarise(core(run.answers))["any@5"]


@pytest.mark.long
@pytest.mark.skipif(not TALKS.exists(), reason="needs the evaluation data")
def test_turns_are_found_by_who_said_them_however_they_are_labelled(tmp_path):
    kinds = ("lower", "cjk", "stamped", "whatsapp", "slack", "misspelt", "unknown")
    plain = _judge("plain", tmp_path)
    lost = {kind: plain - _judge(kind, tmp_path) for kind in kinds}
    # Words alone: the name stays lost to BM25, so that a third comes back (with minilm .62 of it).
    assert lost.pop("misspelt") <= lost.pop("unknown") * 0.7, lost
    assert max(lost.values()) <= 0.005, lost


@pytest.mark.long
@pytest.mark.parametrize("name", ["vaults/jackyzha0-garden", "multilingual-help/notes"])
def test_pages_gain_no_speaker(name):
    if not (DATA / name).exists():
        pytest.skip("needs the evaluation data")
    for path in sorted((DATA / name).rglob("*.md")):
        text = path.read_text("utf-8")
        talkers = find_talkers(text) and find_talkers(strip_markup(text))
        assert [*find_speakers(text, talkers)] == [*find_speakers(text, ())], path
