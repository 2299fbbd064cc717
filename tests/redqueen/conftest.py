import pytest
from copying_palaces import copy_sample
from writing_notes import write_notes

from memory_palace.features.redqueen.session import Cue, ExaminedMemory
from memory_palace.palace import Palace

from .playing import Player, registered


@pytest.fixture
def sample(tmp_path):
    return copy_sample(tmp_path)


def memory(id, content, *, subject=None, anchors=(), image="", **more):
    facts = {"smashin": 0, "confidence": 0.6, "idle_days": 0.0, **more}
    return ExaminedMemory(Cue(id, subject or id, tuple(anchors), image), content, **facts)


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


NOTES = {
    "kettle.md": """# Descaling the kettle

Put one spoon of citric acid in a litre of cold water, pour it in, and wait an hour.

Never do it while the water is hot: the fumes burn the throat.
""",
    "boiler.md": """# Boiler service

The plumber flushes hot water and lime out of the boiler every May. Pour nothing into it yourself.
""",
    "soup.md": """# Onion soup

Pour boiling water over the onions, and wait until they are soft. It is dangerous to taste it then.
""",
    "lease.md": """# Lease of the workshop

Notice has to reach the landlord six months before 31 March. The [boiler](boiler.md) is his.
""",
    "fmea.md": """# Failure mode and effects analysis

We list what may break, and how badly.
""",
    "rope.md": """# Climbing rope

Wash it in lukewarm water without soap.
""",
    "cup.md": """---
type: memory
---
# Cup of silver

## Image

You hold a silver cup that sings.

[Verify: violet raincoat]

## Content

Silver tarnishes in air that holds sulphur.
""",
}


@pytest.fixture
def house(tmp_path):
    """Return an indexed palace of a few invented notes."""
    (tmp_path / ".palace").mkdir()
    write_notes(tmp_path, NOTES)
    made = Palace(tmp_path)
    made.index(embedder="hashing")
    return made


@pytest.fixture
def player(monkeypatch, tmp_path_factory):
    with registered(Player(), monkeypatch, tmp_path_factory.mktemp("llm")) as made:
        yield made
