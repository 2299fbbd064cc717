"""``palace memory``: notes that carry an image, a content and a token."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any, TypeAlias

from typer import Argument, Context, Option, Typer

from memory_palace.cli.old_changes import change_record, show_change
from memory_palace.cli.options import Apply, Budget, Json, Words, completed, open_palace, read_input
from memory_palace.errors import CheckFailedError, UsageError
from memory_palace.features.memories.decay import half_life_days
from memory_palace.features.memories.hierarchy import Retrieved
from memory_palace.features.memories.memories import find_domain
from memory_palace.features.memories.memory_notes import ScoredMemory, WrittenMemory
from memory_palace.features.memories.memory_values import BY_PERSON, Factor, Mark, Memory
from memory_palace.features.memories.reviews import Standing
from memory_palace.features.memories.smashin import band_of
from memory_palace.language.markers import drop_markers
from memory_palace.shown import plural, print_answer, say, to_record

app = Typer(no_args_is_help=True, help="Write, check and review memories.")
WEAK = 0.6
"""Predicted confidence below which a memory is called weak (source document 000)."""

Name = Annotated[
    str,
    Argument(
        help="Path, file name, slug, title, alias or anchor of a memory.",
        autocompletion=completed("notes"),
    ),
]
Domain = Annotated[str | None, Option("--domain", help="Only this folder of memories.")]
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
    file: Annotated[
        str | None, Option("--from", help="File with the text or sections; - for stdin.")
    ] = None,
    domain: Annotated[str, Option("--domain", help="Folder of memories to file it in.")] = "",
    as_json: Json = False,
) -> None:
    """Write a memory from options, a file, or stdin.

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
        text="" if file is None else read_input(file),
        domain=domain,
    )
    _show_written(written, as_json=as_json)


def _show_written(written: WrittenMemory, *, as_json: bool) -> None:
    record = change_record(written.outcome) | {
        "domain": written.domain or None,
        "flaws": to_record(written.flaws),
    }
    print_answer(record, written.outcome.paths, as_json=as_json)
    made = written.outcome.diff.rpartition("\n--- /dev/null\n")[0]
    if made and not as_json:
        say(f"the palace had no such room; it has one now:\n{made.rstrip()}")
    if written.outcome.remark:
        say(written.outcome.remark)
    for flaw in written.flaws:
        say(str(flaw))


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


@app.command("score")
def score(
    ctx: Context,
    memory: Name,
    set_: Annotated[
        list[str] | None,
        Option("--set", help="A factor the image has, as FACTOR:REASON; repeatable."),
    ] = None,
    unset: Annotated[
        list[str] | None, Option("--unset", help="A factor the image does not have; repeatable.")
    ] = None,
    apply: Apply = False,
    as_json: Json = False,
) -> None:
    """Count the twelve factors of an image: eight from its words, four from marks that are given.

    Example: palace memory score "the thread in the funnel" --set "humor: two neighbours laugh"
    """
    given = [_parse_mark(text, is_present=True) for text in set_ or ()]
    given += [_parse_mark(text, is_present=False) for text in unset or ()]
    scored = open_palace(ctx).memories.score(memory, given, apply=apply)
    if as_json:
        print_answer(_score_record(scored), as_json=True)
        return
    band, claimed = band_of(scored.score)
    marks = {mark.factor: mark for mark in scored.marks}
    lines = [f"{scored.score}/12 {band}  {scored.path}"]
    lines += [_factor_line(factor, marks.get(factor)) for factor in Factor]
    lines += [f"! {pattern}" for pattern in scored.anti_patterns]
    print_answer({}, lines, as_json=False)
    say(f"claimed recall@1 of this band: {claimed}; not measured here")
    show_change(scored.outcome, as_json=False)


@app.command("review")
def review(
    ctx: Context,
    memory: Name,
    recalled: Annotated[bool, Option("--recalled/--forgotten", help="Whether you recalled it.")],
    confidence: Annotated[
        int | None, Option("--confidence", min=1, max=5, help="How sure you were, 1 to 5.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Log one review: one line in reviews.jsonl; no note is changed.

    Example: palace memory review "the thread in the funnel" --recalled --confidence 4
    """
    share = None if confidence is None else confidence / 5
    standing = open_palace(ctx).memories.review(memory, is_recalled=recalled, confidence=share)
    line = f"next review on {standing.due}, after {standing.streak} in a row"
    print_answer(to_record(standing), [line], as_json=as_json)


@app.command("due")
def due(
    ctx: Context,
    as_of: Annotated[
        str | None, Option("--as-of", help="Answer as if today were this date.")
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="Include memories that are not due yet.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the memories to review, earliest first, with the predicted confidence.

    Example: palace memory due --all
    """
    today = _parse_day(as_of) if as_of else datetime.now(UTC).date()
    standings = open_palace(ctx).memories.due(today=today)
    shown = [(m, s) for m, s in standings if everything or s.due <= today]
    records = [{"path": m.id, "title": m.subject, **to_record(s)} for m, s in shown]
    lines = [_due_line(memory, standing) for memory, standing in shown]
    print_answer({"due": records}, lines, as_json=as_json)
    if not shown:
        say("no review is due")
    say(
        "forgetting is assumed, not measured: half-lives from "
        f"{half_life_days(0):.1f} to {half_life_days(12):.0f} days by score"
    )


def _due_line(memory: Memory, standing: Standing) -> str:
    weak = "  weak" if standing.confidence < WEAK else ""
    return f"{standing.due}  {standing.confidence:.2f}  {memory.id}{weak}"


def _factor_line(factor: Factor, mark: Mark | None) -> str:
    if mark is None:
        return f"  ?  {factor.value:<10}  not judged; words cannot show it"
    sign = "+" if mark.is_present else "-"
    reason = f"{mark.reason} ({mark.by})" if mark.reason else f"({mark.by})"
    return f"  {sign}  {factor.value:<10}  {reason}"


def _parse_mark(text: str, *, is_present: bool) -> Mark:
    name, _, reason = text.partition(":")
    wanted = name.strip().casefold().replace("colour", "color")
    if wanted not in {factor.value for factor in Factor}:
        known = ", ".join(factor.value for factor in Factor)
        raise UsageError(f"there is no factor {name.strip()!r}; the factors are {known}")
    return Mark(Factor(wanted), is_present, " ".join(reason.split()), BY_PERSON)


def _parse_day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is not a date; write 2026-03-01") from error


def _score_record(scored: ScoredMemory) -> dict[str, Any]:
    band, claimed = band_of(scored.score)
    return {
        "path": scored.path,
        "score": scored.score,
        "band": band,
        "claimed_recall_at_1": claimed,
        "factors": to_record(scored.marks),
        "anti_patterns": list(scored.anti_patterns),
        "change": change_record(scored.outcome),
    }


@app.command("index")
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
    print_answer(_retrieved_record(found), [found.text.removesuffix("\n")], as_json=as_json)
    if not as_json:
        everywhere = "" if found.route.is_sure else " (all of them: the question fits none clearly)"
        say(
            f"{plural(len(found.route.domains), 'domain')}{everywhere}, {len(found.memories)} "
            f"memories, {found.context_bytes} bytes, about {found.tokens} tokens"
        )


def _retrieved_record(found: Retrieved) -> dict[str, Any]:
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


def _flat(text: str) -> str:
    return " ".join(text.split())


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
