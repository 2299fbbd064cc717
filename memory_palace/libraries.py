"""Optional libraries, imported when they are first needed, and what is said where they fail."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from memory_palace.errors import MissingPartError, PalaceError, did_you_mean


def install_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, as it is typed in a shell.

    The package is on no index yet: pip notes the folder that it was installed from (PEP 610).
    """
    from importlib.metadata import PackageNotFoundError, distribution

    source = "."
    with suppress(PackageNotFoundError, ValueError):
        origin = json.loads(distribution("memory-palace").read_text("direct_url.json") or "{}")
        parts = urlsplit(origin.get("url", ""))
        if parts.scheme == "file":
            source = unquote(parts.path)
    return shlex.join([sys.executable or "python3", "-m", "pip", "install", f"{source}[{extra}]"])


def find_model(name: str, *, kind: Literal["", "embedding "] = "") -> Any:
    """Return the language or embedding model that ``llm`` knows by this name or alias.

    Raise ``MissingPartError`` without the library, or a plugin that has the model.
    """
    try:
        import llm
    except ImportError as error:
        raise MissingPartError(
            f"the model {name} needs the llm library; run `{install_command('llm')}`"
        ) from error
    known: Mapping[str, Any]
    known = llm.get_embedding_model_aliases() if kind else llm.get_model_aliases()
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, ";")
    raise MissingPartError(
        f"llm knows no {kind}model {name!r}{hint} it knows {', '.join(sorted(known)) or 'none'}; "
        "install the plugin that has it with `llm install PLUGIN`"
    )


@contextmanager
def calling(name: str, *, hint: str = "") -> Iterator[None]:
    """Turn what ``llm`` raises while a model is asked into errors of this program."""
    import llm

    try:
        yield
    except llm.NeedsKeyException as error:
        raise MissingPartError(f"{name}: {error}") from error
    except (llm.ModelError, ValueError) as error:
        raise PalaceError(f"{name} failed: {error}{hint}") from error


def check_postgres() -> None:
    """Raise ``MissingPartError`` where the libraries of the store are missing."""
    from importlib import import_module

    try:
        import_module("psycopg")
        import_module("pgvector.psycopg")
    except ImportError as error:
        raise MissingPartError(
            f"a store needs psycopg and pgvector ({error}); run `{install_command('postgres')}`"
        ) from error
