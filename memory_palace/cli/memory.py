"""``palace memory``: notes that carry an image, a content and a token."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

from typer import Argument, Context, Option, Typer

from memory_palace.cli.changes import change_record
from memory_palace.cli.memory_index import show_index
from memory_palace.cli.memory_reviews import Name, due, review, score
from memory_palace.cli.options import Json, Tags, open_palace, read_input
from memory_palace.cli.printing import plural, print_answer, say, to_record
from memory_palace.errors import CheckFailedError
from memory_palace.language.markers import drop_markers
from memory_palace.language.sentences import split_sentences
from memory_palace.language.visible import visible
from memory_palace.mnemonics.domains import DomainGuess
from memory_palace.mnemonics.memory_notes import WrittenMemory
from memory_palace.mnemonics.memory_values import LinkKind, Memory, MemoryLink
from memory_palace.mnemonics.smashin import band_of

app = Typer(no_args_is_help=True, help="Write, check and review memories.")
Domain = Annotated[str | None, Option("--domain", help="Only this folder of memories.")]
NewDomain = Annotated[
    str | None,
    Option("--domain", help="Folder of memories to file it in; guessed or asked by default."),
]
NewRoom = Annotated[
    str | None, Option("--room", help="Room, or a folder in one, in place of the memories'.")
]
Items: TypeAlias = list[str] | None


@app.command("new")
def new(
    ctx: Context,
    subject: Annotated[str, Argument(help="What is remembered.")],
    image: Annotated[str, Option("--image", help="The image, 300 to 500 characters.")] = "",
    content: Annotated[str, Option("--content", help="What the image stands for.")] = "",
    token: Annotated[
        Items, Option("--token", help="Three to five unlikely words; repeatable.")
    ] = None,
    anchor: Annotated[Items, Option("--anchor", help="A short cue; repeatable.")] = None,
    locus: Annotated[str, Option("--locus", help="Where the image is placed.")] = "",
    link: Annotated[
        Items, Option("--link", help="NOTE, contrasts:NOTE or prerequisite:NOTE; repeatable.")
    ] = None,
    file: Annotated[
        str | None, Option("--from", help="File with the text or sections; - for stdin.")
    ] = None,
    domain: NewDomain = None,
    room: NewRoom = None,
    tag: Tags = None,
    as_json: Json = False,
) -> None:
    """Write a memory from options, a file, or stdin, filed with notes on the same matter.

    Example: palace memory new "Two-phase commit" --image "You kick a giant red gong."
    --content "Everyone votes before anyone commits." --token "gong in slippers"
    """
    written = open_palace(ctx).memories.new(
        subject,
        image=image,
        content=content,
        tokens=token or (),
        anchors=anchor or (),
        locus=locus,
        links=tuple(map(_parse_link, link or ())),
        text="" if file is None else read_input(file),
        domain=domain,
        room=room,
        tags=tag or (),
        ask=_ask_domain if sys.stdin.isatty() else None,
    )
    _show_written(written, as_json=as_json)


def _show_written(written: WrittenMemory, *, as_json: bool) -> None:
    record = change_record(written.outcome) | {
        "domain": written.domain or None,
        "guessed": written.is_guessed,
        "flaws": to_record(written.flaws),
    }
    print_answer(record, written.outcome.paths, as_json=as_json)
    made = written.outcome.diff.rpartition("\n--- /dev/null\n")[0]
    if made and not as_json:
        say(f"the palace had no such room; it has one now:\n{made.rstrip()}")
    if written.outcome.remark:
        say(written.outcome.remark)
    if written.is_guessed and not written.domain:
        say("filed in no domain; `--domain NAME` names one")
    for flaw in written.flaws:
        say(str(flaw))


def _ask_domain(guess: DomainGuess) -> str:
    hint = f", perhaps {visible(guess.name)}" if guess.name else ""
    print(f"Domain, a folder of memories [none{hint}]: ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


@app.command("lint")
def lint(
    ctx: Context,
    notes: Annotated[Items, Argument(help="Memories to check; all by default.")] = None,
    strict: Annotated[bool, Option("--strict", help="Treat advice as an error.")] = False,
    as_json: Json = False,
) -> None:
    """Report what is wrong with memories, above all with their tokens; exit 8 if anything is.

    Example: palace memory lint
    """
    flaws = open_palace(ctx).memories.lint(notes or ())
    lines = (str(flaw) if flaw.is_error else f"{flaw} (advice)" for flaw in flaws)
    print_answer({"flaws": to_record(flaws)}, lines, as_json=as_json)
    failed = [flaw for flaw in flaws if flaw.is_error or strict]
    if failed:
        raise CheckFailedError(f"{plural(len(failed), 'flaw')} in memories")


@app.command("show")
def show(ctx: Context, memory: Name, as_json: Json = False) -> None:
    """Print a whole memory, including its token.

    Example: palace memory show "the thread in the funnel"
    """
    found = open_palace(ctx).memories.show(memory)
    whole = {
        "tokens": list(found.verify_tokens),
        "image": found.image,
        "content": found.content,
        "links": to_record(found.links),
    }
    print_answer(_record(found) | whole, _lines(found), as_json=as_json)


@app.command("list")
def list_(ctx: Context, domain: Domain = None, as_json: Json = False) -> None:
    """List memories with their scores. Tokens are not shown.

    Example: palace memory list --domain memories
    """
    memories = open_palace(ctx).memories.list(domain=domain)
    lines = (f"{m.smashin_score:>2}/12  {m.id}  {m.subject}" for m in memories)
    print_answer({"memories": [_record(m) for m in memories]}, lines, as_json=as_json)
    if not memories and not as_json:
        say("there are no memories; `palace memory new` makes one")


@app.command("define")
def define(
    ctx: Context,
    term: Annotated[str, Argument(help="Subject, anchor, or a note that a memory links to.")],
    as_json: Json = False,
) -> None:
    """Say in one line what a term means in this palace.

    Example: palace memory define "stuck bucket"
    """
    way, memory = open_palace(ctx).memories.define(term)
    first = next(iter(split_sentences(drop_markers(memory.content))), "")
    record = _record(memory) | {"by": way, "definition": first}
    print_answer(record, [f"{memory.subject}: {first}"], as_json=as_json)
    if not as_json:
        say(f"by {way}, from {memory.id}")


@app.command("tour")
def tour(
    ctx: Context,
    domain: Domain = None,
    answers: Annotated[bool, Option("--answers", help="Show what each image stands for.")] = False,
    as_json: Json = False,
) -> None:
    """Walk from place to place and look at every image.

    Example: palace memory tour --answers
    """
    stops = []
    lines: list[str] = []
    for memory in open_palace(ctx).memories.tour(domain=domain):
        image, content = drop_markers(memory.image).strip(), drop_markers(memory.content).strip()
        stops.append(_record(memory) | {"image": image, "content": content if answers else None})
        lines += [f"{memory.locus or memory.domain}: {memory.subject}", f"  {_flat(image)}"]
        lines += [f"  = {_flat(content)}"] if answers else []
    print_answer({"stops": stops}, lines, as_json=as_json)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _lines(memory: Memory) -> Iterator[str]:
    yield f"{memory.subject}  {memory.id}"
    if memory.locus or memory.anchors:
        yield f"at {memory.locus or '-'}; anchors: {', '.join(memory.anchors) or '-'}"
    yield f"\n{memory.image}"
    yield f"\n{memory.content}\n"
    yield from (f"{link.kind.value}: [[{link.target}]]" for link in memory.links)
    band, _ = band_of(memory.smashin_score)
    yield f"SMASHIN {memory.smashin_score}/12, {band}; confidence {memory.confidence:.2f}"


def _parse_link(text: str) -> MemoryLink:
    kind, colon, target = text.partition(":")
    kinds = {known.value: known for known in LinkKind}
    if colon and kind.strip().casefold() in kinds:
        return MemoryLink(kinds[kind.strip().casefold()], target.strip().strip("[]"))
    return MemoryLink(LinkKind.RELATED, text.strip().strip("[]"))


def _record(memory: Memory) -> dict[str, Any]:
    """Return what may be listed of a memory: no image, no content, no token."""
    return {
        "path": memory.id,
        "title": memory.subject,
        "domain": memory.domain,
        "locus": memory.locus,
        "anchors": list(memory.anchors),
        "smashin": memory.smashin_score,
        "confidence": memory.confidence,
        "has_token": bool(memory.verify_tokens),
    }


for command in (score, review, due):
    app.command()(command)
app.command("index")(show_index)
