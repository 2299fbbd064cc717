"""What a step costs a robot: through a process that stays, and through one for each command."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

from memory_palace.bench.generate import scratch_folder
from memory_palace.bench.timing import Measured, measure_commands, time_calls
from memory_palace.errors import PalaceError
from memory_palace.navigation.searches import SearchPlan
from memory_palace.palace import Palace

PLACES = 300
_GOAL = "a red backpack"
_THINGS = "backpack towel lamp bicycle ladder mirror plant printer kettle piano rug drill".split()
_COLOURS = "red blue green black white yellow grey brown".split()


def measure_robot(embedder: str, *, runs: int, seed: int, places: int = PLACES) -> Measured:
    """Step through a house of ``places`` loci, by `seek serve` and by `seek step`."""
    with scratch_folder() as root:
        palace = furnish(root, embedder, _places(places, random.Random(seed)))
        palace.searches.start(_GOAL, SearchPlan(on_loci=True))
        whole = measure_commands([*_seek(root), "step"], runs=runs)[0].wall_seconds * 1_000
        with serving(root) as ask:
            (served,) = time_calls(lambda: ask({"do": "step"}), runs=runs, warmup=1)
    what = f"a step among {places} loci, served, median"
    return Measured(what, served, "ms", "palace seek step, whole process", whole)


def _places(places: int, source: random.Random) -> list[dict[str, Any]]:
    """Return places, each with two things."""
    return [
        {
            "node_id": number,
            "pose": {"x": source.uniform(0, 60), "y": source.uniform(0, 40)},
            "title": f"Place {number}",
            "summary": " and ".join(
                f"a {source.choice(_COLOURS)} {source.choice(_THINGS)}" for _ in range(2)
            ),
        }
        for number in range(places)
    ]


def furnish(root: Path, embedder: str, nodes: list[dict[str, Any]]) -> Palace:
    """Make a palace of places."""
    palace = Palace.init(root)
    palace.loci.load(nodes, apply=True)
    palace.index(embedder=embedder)
    return palace


def _seek(root: Path) -> list[str]:
    return [sys.executable, "-m", "memory_palace", "-C", str(root), "seek"]


@contextmanager
def serving(root: Path) -> Iterator[Any]:
    """Give what sends a request to a process of `palace seek serve` and returns its answer."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*_seek(root), "serve"], stdin=pipe, stdout=pipe, text=True) as process:
        stdin, stdout = cast(TextIO, process.stdin), cast(TextIO, process.stdout)

        def ask(request: dict[str, Any]) -> dict[str, Any]:
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            answer: dict[str, Any] = json.loads(stdout.readline())
            if not answer["ok"]:
                raise PalaceError(f"the served search does not answer: {answer['error']}")
            return answer

        yield ask
        stdin.close()
