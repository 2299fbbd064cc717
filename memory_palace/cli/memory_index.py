"""``palace memory index``."""

from __future__ import annotations

from typing import Annotated, Any

from typer import Argument, Context, Option

from memory_palace.cli.options import Budget, Json, Words, open_palace
from memory_palace.cli.printing import plural, print_answer, say
from memory_palace.errors import UsageError
from memory_palace.mnemonics.hierarchy import Retrieved
from memory_palace.mnemonics.memories import find_domain


def show_index(
    ctx: Context,
    question: Annotated[
        list[str] | None, Argument(help="A question; without one the root is printed.")
    ] = None,
    domain: Annotated[
        str | None, Option("--domain", help="Print the index of this folder of memories.")
    ] = None,
    count: Annotated[int, Option("-k", "--top-k", min=1, help="Memories to find.")] = 3,
    budget: Budget = None,
    words: Words = False,
    as_json: Json = False,
) -> None:
    """Print the root, the index of a domain, or everything that two hops read for a question.

    Example: palace memory index "why is there no rain" --budget 2048
    """
    text = " ".join(question or ())
    if text and domain:
        raise UsageError("give a question or --domain, not both")
    index = open_palace(ctx).memories.hierarchy(by_words=words or not text)
    if not text:
        name = find_domain(index.memories, domain) if domain else None
        shown = index.domain_text(name) if name else index.root_text
        size = len(shown.encode())
        if budget is not None and size > budget:
            raise UsageError(
                f"this index has {size} bytes, more than --budget {budget}; ask a question instead"
            )
        print_answer({"text": shown, "bytes": size}, [shown.removesuffix("\n")], as_json=as_json)
        return
    found = index.look_up(text, count, budget_bytes=budget)
    print_answer(_record(found), [found.text.removesuffix("\n")], as_json=as_json)
    if not as_json:
        everywhere = "" if found.route.is_sure else " (all of them: the question fits none clearly)"
        say(
            f"{plural(len(found.route.domains), 'domain')}{everywhere}, {len(found.memories)} "
            f"memories, {found.context_bytes} bytes, about {found.tokens} tokens"
        )


def _record(found: Retrieved) -> dict[str, Any]:
    return {
        "text": found.text,
        "bytes": found.context_bytes,
        "tokens": found.tokens,
        "index_bytes": found.index_bytes,
        "domains": list(found.route.domains),
        "sure": found.route.is_sure,
        "share": round(found.route.share, 6),
        "memories": [memory.id for memory in found.memories],
    }
