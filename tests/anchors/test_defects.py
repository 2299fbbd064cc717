"""Defects H1 to H20 of the reference design of source document 003, none of which may return.

H1, H2, H4 and H6 are in test_lookup; H12, H13, H19 and H20 in test_update; H9, H10 in
test_policy.
"""

import json

import numpy as np
from asking_anchors import with_settings


def test_h2_the_exported_vectors_pair_with_the_exported_texts(palace, tmp_path):
    index, embeds, meta = palace.anchors.export(tmp_path / "export")
    arrays = np.load(embeds)
    texts = arrays["anchor_texts"].tolist()
    assert len(texts) == len(arrays["anchor_embeds"])
    assert np.allclose(arrays["anchor_embeds"], palace.embedder().embed_passages(texts), atol=1e-6)
    entries = json.loads(index.read_text("utf-8"))
    assert set(entries) <= set(texts)
    fields = {"path", "line", "score", "source", "preview", "chunk_id"}
    assert all(set(entry) == fields for found in entries.values() for entry in found)
    figures = json.loads(meta.read_text("utf-8"))
    assert figures["n_anchors"] == len(texts)
    assert figures["built_at"].endswith("+00:00")
    assert figures["dim"] == palace.snapshot().commit.dimension


def test_h3_anchors_are_unit_vectors_and_scores_are_bounded(palace):
    file = palace.anchors.book().file
    assert np.allclose(np.linalg.norm(file.matrix, axis=1), 1, atol=1e-5)
    assert file.scores.min() >= 0 and file.scores.max() <= 1


def test_h7_a_lookup_embeds_nothing_but_the_question(palace, monkeypatch):
    kind, asked = type(palace.embedder()), []
    embed = kind.embed_passages

    def note_texts(self, texts):
        asked.extend(texts)
        return embed(self, texts)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "embed_passages", note_texts)
    assert palace.look_up("tipping bucket").hits
    assert asked == ["tipping bucket"]


def test_h16_the_threshold_is_calibrated_or_literal(palace):
    calibrated = palace.anchors.build()
    literal = with_settings(palace, anchors={"theta": 0.8}).anchors.build()
    assert 0 < calibrated.theta < 0.8
    assert literal.theta == 0.8
    assert literal.entries <= calibrated.entries
