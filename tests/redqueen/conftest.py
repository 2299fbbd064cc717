from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memory_palace.palace import Palace
from memory_palace.redqueen.examined import ExaminedMemory
from memory_palace.redqueen.round_values import Cue

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def sample(tmp_path):
    shutil.copytree(ROOT / "palace", tmp_path / "palace", ignore=shutil.ignore_patterns(".*"))
    return Palace(tmp_path)


def memory(id, content, *, subject=None, anchors=(), image="", links=(), **more):
    facts = {"smashin": 0, "confidence": 0.6, "idle_days": 0.0, **more}
    return ExaminedMemory(
        Cue(id, subject or id, tuple(anchors), image), content, tuple(links), **facts
    )


@pytest.fixture
def orchard():
    made = [
        memory(
            "bees", "The hives stand behind the northern wall. In May 2026 we moved 14 of them."
        ),
        memory("frost", "Blossom dies below minus two degrees. We light the lanterns at midnight."),
        memory("cider", "Sour apples ferment slowly in the cellar. The yeast came from Asturias."),
    ]
    return {m.cue.memory_id: m for m in made}
