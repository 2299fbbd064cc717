"""The least that a search of notes can be: a script that shares only the model with the product.

`floor.py build FOLDER MODEL FILE` splits each Markdown file at its headings, embeds the sections
and writes vectors and places as an .npz; `floor.py ask MODEL FILE QUESTION` prints the five nearest
sections; `floor.py walk FOLDER` only stats every file. It is a Typer script, as the product is one:
the ratios say nothing of what Typer takes (``measure_start`` does).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import typer

HEADING = re.compile(r"^(?=#{1,6} )", re.MULTILINE)
MOST_CHARACTERS = 1_000
"""Of a piece: longer sections are cut, for no model reads more of them."""
SLICE = 32


app = typer.Typer()


@app.command()
def build(folder: str, model: str, file: str) -> None:
    """Embed the sections of all notes below a folder."""
    import numpy as np

    from memory_palace.embedding.registry import get_embedder

    embedder = get_embedder(model)
    places, texts = [], []
    for path in sorted(Path(folder).rglob("*.md")):
        for number, piece in enumerate(cut(path.read_text("utf-8", errors="replace"))):
            places.append(f"{path}#{number}")
            texts.append(piece)
    parts = [
        embedder.embed_passages(texts[start : start + SLICE])
        for start in range(0, len(texts), SLICE)
    ]
    np.savez(file, vectors=np.concatenate(parts), places=places)


def cut(text: str) -> Iterator[str]:
    """Yield the sections of a Markdown text, in pieces of a few sentences."""
    for section in HEADING.split(text):
        for start in range(0, len(section.strip()), MOST_CHARACTERS):
            yield section.strip()[start : start + MOST_CHARACTERS]


@app.command()
def ask(model: str, file: str, question: str) -> None:
    """Print the places of the nearest sections."""
    import numpy as np

    from memory_palace.embedding.registry import get_embedder

    with np.load(file) as arrays:
        scores = arrays["vectors"] @ get_embedder(model).embed_queries([question])[0]
        for row in np.argsort(-scores)[:5].tolist():
            print(f"{scores[row]:.3f} {arrays['places'][row]}")


@app.command()
def walk(folder: str) -> None:
    """Stat every file below a folder."""
    for parent, _, names in os.walk(folder):
        for name in names:
            os.stat(os.path.join(parent, name))  # noqa: PTH116, PTH118 - the least there is


if __name__ == "__main__":
    app()
