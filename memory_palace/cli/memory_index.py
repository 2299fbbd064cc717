"""``palace memory index``: root, domains, memories."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_palace.cli.options import SCHEMA, Json, open_palace
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import UsageError
from memory_palace.mnemonics.hierarchy import Retrieved
from memory_palace.mnemonics.memories import find_domain, open_hierarchy


def show_index(
    ctx: typer.Context,
    question: Annotated[list[str] | None, typer.Argument(help="A question; else the root.")] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="The index of this folder of memories.")
    ] = None,
    count: Annotated[int, typer.Option("-k", "--top-k", min=1, help="Memories at most.")] = 3,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="UTF-8 bytes at most, of everything.")
    ] = None,
    words: Annotated[
        bool, typer.Option("--words", help="Compare words alone, without a model.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the root, the index of a domain, or for a question all that two hops read.

    Example: palace memory index "why is there no rain" --budget 2048
    """
    text = " ".join(question or ())
    if text and domain:
        raise UsageError("give a question or --domain, not both")
    index = open_hierarchy(open_palace(ctx), by_words=words or not text)
    if not text:
        name = find_domain(index.memories, domain) if domain else None
        shown = index.domain_text(name) if name else index.root_text
        _print_text(shown, budget, as_json=as_json)
        return
    found = index.look_up(text, count, budget_bytes=budget)
    if as_json:
        print_json({"schema": SCHEMA, **_record(found)})
        return
    print(found.text, end="")
    everywhere = "" if found.route.is_sure else " (not sure: all of them)"
    say(
        f"{len(found.route.domains)} domains{everywhere}, {len(found.memories)} memories, "
        f"{found.context_bytes} bytes, about {found.tokens} tokens"
    )


def _print_text(text: str, budget: int | None, *, as_json: bool) -> None:
    size = len(text.encode())
    if budget is not None and size > budget:
        raise UsageError(
            f"this index has {size} bytes, more than --budget {budget}; ask it instead"
        )
    if as_json:
        print_json({"schema": SCHEMA, "text": text, "bytes": size})
    else:
        print(text, end="")


def _record(found: Retrieved) -> dict[str, object]:
    return {
        "domains": list(found.route.domains),
        "sure": found.route.is_sure,
        "share": round(found.route.share, 6),
        "memories": [memory.id for memory in found.memories],
        "index_bytes": found.index_bytes,
        "bytes": found.context_bytes,
        "tokens": found.tokens,
        "text": found.text,
    }
