"""A small palace of loci, and a search in it."""

import pytest

from memory_palace.features.seek.loci import add_locus
from memory_palace.features.seek.nodes import Pose2D

PLACES = (
    ("Cellar", 2.5, -1.0, "Rows of bottles, wine and juice", ("wine",)),
    ("Attic", 0.0, 9.0, "Boxes of winter clothes under the roof", ("boxes",)),
    ("Garage", 7.0, 3.0, "A car and its tools", ()),
)


@pytest.fixture
def put(palace):
    def put_locus(title, x, y, summary="", tags=(), **more):
        options = {"apply": True} | more
        return add_locus(palace, title, pose=Pose2D(x, y), tags=tags, summary=summary, **options)

    return put_locus


@pytest.fixture
def house(palace, put):
    for place in PLACES:
        put(*place)
    palace.index(embedder="hashing")
    return palace


@pytest.fixture
def notes(palace):
    folder = palace.paths.notes / "chambers"
    for name, text in (
        ("pump", "The pump was moved to the shed in March."),
        ("shed", "The shed has a new roof."),
        ("bread", "Rye bread wants a long night."),
    ):
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n", "utf-8")
    palace.index(embedder="hashing")
    return palace
