"""Run the tables of resolution.md."""

import re
import unicodedata
from pathlib import Path

import pytest

from memory_palace.graph.router import LinkGraph, NoteLinks

_NOTE = re.compile(r"- (.+?\.md)(?: \((private|alias: (.+))\))?$")


def cases():
    text = Path(__file__).with_name("resolution.md").read_text("utf-8")
    for section in text.split("\n## ")[1:]:
        heading, *lines = section.splitlines()
        notes = [match.groups() for line in lines if (match := _NOTE.match(line))]
        rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
        for target, source, meaning in rows[1:]:
            yield pytest.param(
                notes, target, source, meaning, id=f"{heading}: {target} in {source}"
            )


def resolve(notes, target, source):
    hot, cold, private = [], [], []
    for path, mark, aliases in notes:
        if "archive_basement" in path:
            cold.append(path)
        elif mark == "private":
            private.append(path)
        else:
            names = aliases.split(", ") if aliases else ()
            targets = (target,) if path == source else ()
            hot.append(NoteLinks(path, path, names, targets))
    graph = LinkGraph(hot, cold_paths=cold, private_paths=private)
    if not graph.edges:
        return "itself"
    [edge] = graph.edges
    found = " ".join(edge.targets)
    return {"resolved": found, "ambiguous": f"ambiguous: {found}"}.get(edge.state, edge.state)


@pytest.mark.parametrize(("notes", "target", "source", "meaning"), list(cases()))
def test_a_link_means_what_the_table_says(notes, target, source, meaning):
    assert resolve(notes, target, source) == meaning


def test_names_are_compared_in_one_unicode_form_and_opened_as_written():
    decomposed = unicodedata.normalize("NFD", "palace/grand_hall/Größe.md")
    graph = LinkGraph(
        [
            NoteLinks(decomposed, "Größe"),
            NoteLinks("palace/a.md", "a", targets=[unicodedata.normalize("NFC", "Größe")]),
        ]
    )
    assert graph.neighbors("palace/a.md").out == (decomposed,)
