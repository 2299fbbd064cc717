"""Optional libraries: delayed imports, and errors that name the install command."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from memory_palace.errors import MissingPartError, PalaceError, did_you_mean


def find_pip() -> list[str]:
    """Return the command of pip for this environment; uv's have none, and uv can run one."""
    if find_spec("pip") is None and shutil.which("uv"):
        return ["uv", "tool", "run", "pip", "--python", sys.executable]
    return [sys.executable or "python3", "-m", "pip"]


def install_command(extra: str) -> str:
    """Return the shell command that installs an extra of this package.

    A folder or wheel that it was installed from is read from ``direct_url.json`` (PEP 610), which
    an installation from an index has not.
    """
    from importlib.metadata import PackageNotFoundError, distribution

    source = "."
    with suppress(PackageNotFoundError, ValueError):
        origin = distribution("memory-palace").read_text("direct_url.json")
        parts = urlsplit(json.loads(origin).get("url", "") if origin else "file:memory-palace")
        if parts.scheme == "file":
            source = unquote(parts.path)
    return shlex.join([*find_pip(), "install", f"{source}[{extra}]"])


def find_model(name: str, *, kind: Literal["", "embedding "] = "") -> Any:
    """Return the language or embedding model that ``llm`` knows by this name or alias.

    Raise ``MissingPartError`` if the library or the model's plugin is not installed.
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
def calling(name: str) -> Iterator[None]:
    """Translate errors of ``llm`` into ``MissingPartError`` (no key) and ``PalaceError``."""
    import llm

    try:
        yield
    except llm.NeedsKeyException as error:
        raise MissingPartError(f"{name}: {error}") from error
    except (llm.ModelError, ValueError) as error:
        raise PalaceError(f"{name} failed: {error}") from error


def check_postgres() -> None:
    """Raise ``MissingPartError`` if psycopg or pgvector is not installed."""
    from importlib import import_module

    try:
        import_module("psycopg")
        import_module("pgvector.psycopg")
    except ImportError as error:
        raise MissingPartError(
            f"a store needs psycopg and pgvector ({error}); run `{install_command('postgres')}`"
        ) from error
