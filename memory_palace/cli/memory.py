"""``palace memory``: notes that carry an image, a content and a token."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from memory_palace.cli import memory_reviews
from memory_palace.cli.changes import Apply, show_outcome
from memory_palace.cli.memory_index import show_index
from memory_palace.cli.options import SCHEMA, Json, open_palace, read_input
from memory_palace.cli.printing import print_json, say
from memory_palace.errors import CheckFailedError
from memory_palace.language.markers import drop_markers
from memory_palace.language.visible import visible
from memory_palace.mnemonics.claims import split_sentences
from memory_palace.mnemonics.memories import define, list_memories, show_memory, tour
from memory_palace.mnemonics.memory_notes import (
    MEMORIES_ROOM,
    lint_memories,
    new_memory,
    read_draft,
)
from memory_palace.mnemonics.smashin import band_of
from memory_palace.mnemonics.values import LinkKind, Memory, MemoryLink

app = typer.Typer(no_args_is_help=True, help="Memories: notes that can be checked.")
Name = Annotated[str, typer.Argument(help="Path, file name, title, alias or anchor of a memory.")]
Domain = Annotated[
    str | None, typer.Option("--domain", help="Only this folder of memories.")
]  # fmt: skip


@app.command("new")
def new(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="What is remembered.")],
    image: Annotated[str, typer.Option("--image", help="The picture, 300 to 500 characters.")] = "",
    content: Annotated[str, typer.Option("--content", help="What it stands for.")] = "",
    token: Annotated[
        list[str] | None, typer.Option("--token", help="Three to five odd words; repeat.")
    ] = None,
    anchor: Annotated[
        list[str] | None, typer.Option("--anchor", help="A short cue; may be repeated.")
    ] = None,
    locus: Annotated[str, typer.Option("--locus", help="Where it stands.")] = "",
    link: Annotated[
        list[str] | None,
        typer.Option("--link", help="NOTE, contrasts:NOTE or prerequisite:NOTE; repeat."),
    ] = None,
    file: Annotated[
        str | None, typer.Option("--from", help="File with the text or its sections; - is stdin.")
    ] = None,
    room: Annotated[str, typer.Option("--room", help="Room, or a folder in one.")] = MEMORIES_ROOM,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="May be repeated.")] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Write a memory from options, from a file, or from stdin.

    Example: palace memory new "Two-phase commit" --image "You kick a giant red gong."
    --content "Everyone votes before anyone commits." --token "gong in slippers" --apply
    """
    draft = read_draft(subject, "" if file is None else read_input(file))
    links = tuple(map(_parse_link, link or ()))
    memory = replace(
        draft,
        image=image or draft.image,
        content=content or draft.content,
        verify_token="",
        verify_tokens=tuple(dict.fromkeys((*draft.verify_tokens, *(token or ())))),
        anchors=tuple(dict.fromkeys((*draft.anchors, *(anchor or ())))),
        locus=locus or draft.locus,
        links=(*draft.links, *links),
    )
    today = datetime.now(UTC).date()
    written = new_memory(
        open_palace(ctx), memory, room=room, tags=tag or (), today=today, apply=apply
    )  # fmt: skip
    show_outcome(written.outcome, as_json=as_json)
    for flaw in written.flaws:
        say(str(flaw))


@app.command("lint")
def lint(
    ctx: typer.Context,
    notes: Annotated[list[str] | None, typer.Argument(help="Memories; all if none.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Advice counts as an error.")] = False,
    as_json: Json = False,
) -> None:
    """Name what is wrong with memories, tokens above all; exit 8 if anything is.

    Example: palace memory lint
    """
    flaws = lint_memories(open_palace(ctx), notes or ())
    if as_json:
        records = [
            {"path": f.path, "line": f.line, "message": f.message, "error": f.is_error}
            for f in flaws
        ]  # fmt: skip
        print_json({"schema": SCHEMA, "flaws": records})
    else:
        for flaw in flaws:
            print(visible(str(flaw) if flaw.is_error else f"{flaw} (advice)"))
    failed = [flaw for flaw in flaws if flaw.is_error or strict]
    if failed:
        raise CheckFailedError(f"flaws in memories: {len(failed)}")


@app.command("show")
def show(ctx: typer.Context, memory: Name, as_json: Json = False) -> None:
    """Print one memory whole, its token too: who asks this reads it.

    Example: palace memory show "the thread in the funnel"
    """
    found = show_memory(open_palace(ctx), memory)
    if as_json:
        print_json({"schema": SCHEMA, **_record(found), "tokens": list(found.verify_tokens),
                    "image": found.image, "content": found.content})  # fmt: skip
        return
    print(visible(f"{found.subject}  {found.id}"))
    if found.locus or found.anchors:
        print(visible(f"at {found.locus or '-'}; anchors: {', '.join(found.anchors) or '-'}"))
    for text in (found.image, found.content):
        print(visible(f"\n{text}"))
    print()
    for link in found.links:
        print(visible(f"{link.kind.value}: [[{link.target}]]"))
    band, _ = band_of(found.smashin_score)
    print(f"SMASHIN {found.smashin_score}/12, {band}; confidence {found.confidence:.2f}")


@app.command("list")
def list_(ctx: typer.Context, domain: Domain = None, as_json: Json = False) -> None:
    """List memories with their score. No token is shown.

    Example: palace memory list --domain memories
    """
    memories = list_memories(open_palace(ctx), domain=domain)
    if as_json:
        print_json({"schema": SCHEMA, "memories": [_record(memory) for memory in memories]})
        return
    for memory in memories:
        print(visible(f"{memory.smashin_score:>2}/12  {memory.id}  {memory.subject}"))
    if not memories:
        say("there is no memory; `palace memory new` makes one")


@app.command("define")
def define_(
    ctx: typer.Context,
    term: Annotated[str, typer.Argument(help="Subject, anchor, or a note that one links to.")],
    as_json: Json = False,
) -> None:
    """Say in one line what a term means here.

    Example: palace memory define "stuck bucket"
    """
    way, memory = define(open_palace(ctx), term)
    first = next(iter(split_sentences(drop_markers(memory.content))), "")
    if as_json:
        print_json({"schema": SCHEMA, "by": way, **_record(memory), "definition": first})
        return
    print(visible(f"{memory.subject}: {first}"))
    say(f"by {way}, from {memory.id}")


@app.command("tour")
def tour_(
    ctx: typer.Context,
    domain: Domain = None,
    answers: Annotated[bool, typer.Option("--answers", help="What each stands for too.")] = False,
    as_json: Json = False,
) -> None:
    """Walk from place to place and see every image; say to yourself what it stands for.

    Example: palace memory tour --answers
    """
    for memory in tour(open_palace(ctx), domain=domain):
        image, content = drop_markers(memory.image).strip(), drop_markers(memory.content).strip()
        if as_json:
            print_json({"schema": SCHEMA, **_record(memory), "image": image,
                        **({"content": content} if answers else {})})  # fmt: skip
            continue
        print(visible(f"{memory.locus or memory.domain}: {memory.subject}"))
        print(visible(f"  {' '.join(image.split())}"))
        if answers:
            print(visible(f"  = {' '.join(content.split())}"))


def _parse_link(text: str) -> MemoryLink:
    kind, colon, target = text.partition(":")
    kinds = {known.value: known for known in LinkKind}
    if colon and kind.strip().casefold() in kinds:
        return MemoryLink(kinds[kind.strip().casefold()], target.strip().strip("[]"))
    return MemoryLink(LinkKind.RELATED, text.strip().strip("[]"))


def _record(memory: Memory) -> dict[str, object]:
    """Return what may be listed of a memory: no image, no content, no token."""
    return {
        "path": memory.id,
        "subject": memory.subject,
        "domain": memory.domain,
        "locus": memory.locus,
        "anchors": list(memory.anchors),
        "smashin": memory.smashin_score,
        "confidence": memory.confidence,
        "has_token": bool(memory.verify_tokens),
    }


memory_reviews.add_commands(app)
app.command("index")(show_index)
