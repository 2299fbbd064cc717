"""Plans that no palace gave: made up, the same for the same arguments."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from memory_palace.features.view.gather import NEAR, PalacePlan, PlanDistrict, PlanNote, PlanRoom
from memory_palace.features.view.layout import PLAN, Box, divide_plan
from memory_palace.features.view.page import render

WORDS = """
amber anchor ash bark basin birch bridge brook candle cedar chalk clay cliff cloud copper coral
cotton crane dawn delta dune ember fern field flint fog forest frost garden glass grain granite
grove harbour hazel heath hollow honey iron island ivory ivy jade juniper kelp lagoon lake larch
ledge linen lime linden maple marble marsh meadow mill mist moss moth nettle oak ochre olive onyx
orchard otter owl peat pebble pine plum pond poppy quartz quill rain raven reed ridge river robin
rose rye sage salt sand shale shell shore silk slate snow spruce stone storm straw stream swan
tide timber valley violet walnut water wheat willow wren
"""
VOCABULARY = WORDS.split()


def make_plan(notes: int = 60, rooms: int = 6, *, words: int = 40, seed: int = 1) -> PalacePlan:
    """Return a plan of ``notes`` in ``rooms`` side by side, each note of about ``words``."""
    luck = random.Random(seed)
    places = [notes * (r + 1) // rooms - notes * r // rooms for r in range(rooms)]
    across = math.ceil(math.sqrt(rooms))
    wide = PLAN.width // across
    boxes = [
        Box(r % across * wide, r // across * wide, wide * 94 // 100, wide * 94 // 100)
        for r in range(rooms)
    ]
    made: list[PlanNote] = []
    for room, (count, box) in enumerate(zip(places, boxes, strict=True)):
        made += [
            make_note(luck, room, cell, len(made) + n, notes, words)
            for n, cell in enumerate(cells(box, count))
        ]
    return PalacePlan(
        title="A made-up palace",
        rooms=tuple(
            PlanRoom(name_of(room), box, room == rooms - 1, count)
            for room, (count, box) in enumerate(zip(places, boxes, strict=True))
        ),
        districts=tuple(
            PlanDistrict(room, part, " ".join(luck.sample(VOCABULARY, 2)))
            for room, box in enumerate(boxes)
            for part in divide_plan([1] * 4, box, 0)
        ),
        notes=tuple(made),
    )


def name_of(room: int) -> str:
    return f"{VOCABULARY[room % len(VOCABULARY)]} {room}" if room else ""


def make_note(
    luck: random.Random, room: int, box: Box, place: int, notes: int, words: int
) -> PlanNote:
    title = " ".join(luck.sample(VOCABULARY, luck.randint(1, 5))) + f" {place}"
    text = f"# {title}\n\n" + " ".join(luck.choices(VOCABULARY, k=words)) + ".\n"
    targets = [luck.randrange(notes) for _ in range(luck.choice((0, 0, 1, 1, 2, 5)))]
    return PlanNote(
        path=f"{name_of(room)}/{place:05}.md" if room else f"{place:05}.md",
        title=title,
        aliases=(f"alias {place}",) if luck.random() < 0.1 else (),
        tags=tuple(luck.sample(VOCABULARY[:9], luck.choice((0, 0, 1, 2)))),
        room=room,
        box=box,
        length=len(text.encode()) * luck.choice((1, 1, 2, 9)),
        day=20_000 - int(1_500 * luck.random() ** 2),
        is_cold=False,
        links=tuple((f"{target:05}", target) for target in targets),
        near=tuple(luck.sample(range(notes), min(NEAR, notes - 1))),
        text=text,
    )


def cells(box: Box, count: int) -> list[Box]:
    """Return ``count`` cells of a grid in ``box``, of which about a quarter stays free."""
    across = max(1, math.ceil(math.sqrt(count * 1.33)))
    width, height = box.width // across, box.height // across
    return [
        Box(box.x + n % across * width, box.y + n // across * height, width, height)
        for n in range(count)
    ]


def write_page(folder: Path, *changes: Mapping[str, object], count: int) -> tuple[Path, list[str]]:
    """Write the page of a made plan of notes, the first ones changed; return it and their paths."""
    plan = make_plan(max(len(changes), count), 2)
    notes = [replace(n, **new) for n, new in zip(plan.notes, changes, strict=False)]
    file = folder / "page.html"
    file.write_bytes(render(replace(plan, notes=(*notes, *plan.notes[len(notes) :]))))
    return file, [note.path for note in plan.notes]
