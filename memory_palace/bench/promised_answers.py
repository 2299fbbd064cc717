"""Promised quality of answers: on sets that others made, in one language and in eight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from memory_palace.bench import verify_systems, weighing
from memory_palace.bench.datasets.beir import load_beir
from memory_palace.bench.datasets.items import Collection
from memory_palace.bench.datasets.locomo import load_locomo
from memory_palace.bench.datasets.longmemeval import load_longmemeval
from memory_palace.bench.datasets.meetings import load_meetings
from memory_palace.bench.datasets.pages import load_pages
from memory_palace.bench.first_minutes import (
    measure_names,
    measure_screen,
    measure_sureness,
    measure_turns,
)
from memory_palace.bench.given import (
    GARDEN,
    Given,
    at_least,
    checkout,
    garden,
    need_models,
    sample_palace,
)
from memory_palace.bench.golden import ask, measure_recall, read_pairs
from memory_palace.bench.pages import PageMeans, judge_pages, sum_up
from memory_palace.bench.product import as_notes
from memory_palace.bench.report import core, summarise
from memory_palace.bench.runs import Answer, Run, run_system
from memory_palace.bench.signal_tables import measure_collections
from memory_palace.bench.timing import Measured
from memory_palace.bench.vectors import RememberingEmbedder, loading
from memory_palace.bench.verify_answers import find_answers, load_answers
from memory_palace.bench.verifying import sum_system
from memory_palace.embedding.registry import get_embedder, is_available
from memory_palace.palace import Palace
from memory_palace.retrieval.profiles import Profile

LEAST_HELD_OUT = {"turn": 0.81, "session": 0.945}
"""recall_any@5 of LoCoMo with weights fitted without the conversation that is judged."""
LEAST_OF_PAGES = {"hybrid": (0.94, 0.86), "vector": (0.91, 0.86), "across": (0.78, 0.66)}
"""any@5 with e5, of the mean over the languages other than English and of the worst of them."""


def measure_golden(given: Given) -> Iterator[Measured]:
    """Ask the thirty golden questions of the sample palace and the garden."""
    first, within = 0.0, 0.0
    embedder = RememberingEmbedder(get_embedder("minilm"), given.cache)
    for name, prefix in (("sample_palace", ""), ("garden", "palace/project_rooms/vault/")):
        pairs = read_pairs(checkout("tests/golden") / f"{name}.md")
        with sample_palace() if not prefix else garden(given) as root, loading(embedder):
            palace = Palace(root)
            palace.index(embedder="minilm")
            recall = measure_recall(pairs, ask(palace, profile="hybrid"), prefix=prefix)
        embedder.save()
        first += recall.at_1 * len(pairs)
        within += recall.at_5 * len(pairs)
    yield at_least("golden questions answered first", round(first), "of 30", 21, 21)
    yield at_least("golden questions answered in five", round(within), "of 30", 28, 28)


def measure_known_names(given: Given) -> Iterator[Measured]:
    """Ask two folders for their own names, quotes and words."""
    yield from measure_names([checkout("palace"), given.find(GARDEN)], cache=given.cache)


def measure_screens(given: Given) -> Iterator[Measured]:
    """Ask on a terminal of 80 columns."""
    pairs = read_pairs(checkout("tests/golden") / "sample_palace.md")
    with sample_palace() as root:
        Palace(root).index(embedder="minilm" if is_available("minilm") else "hashing")
        yield from measure_screen(root, [pair.question for pair in pairs])


def measure_talks(given: Given) -> Iterator[Measured]:
    """Rank turns and sessions of LoCoMo with the weights that ship."""
    path, gold = given.find_talks()
    for unit, before in (("turn", 0.820), ("session", 0.951)):
        found = list(load_locomo(path, unit=unit, gold=gold))
        value = _score(given, f"locomo-{unit}", found, "any@5")
        yield at_least(f"LoCoMo dev, {unit}", value, "any@5", before - 0.003, before)


def measure_held_out(given: Given) -> Iterator[Measured]:
    """Rank the same with weights that were fitted without the conversation that is judged."""
    path, gold = given.find_talks()
    need_models("minilm")
    found = {unit: list(load_locomo(path, unit=unit, gold=gold)) for unit in LEAST_HELD_OUT}
    model = get_embedder("minilm")
    tables = [
        measure_collections(part, weighing.EVIDENCE, embedder=model, cache=given.cache)
        for part in found.values()
    ]
    profiles = dict(weighing.hold_out_each(tables))
    for unit, part in found.items():
        asked = partial(_ask, given, f"held-out-{unit}")
        value = round(weighing.judge_held_out(part, profiles, asked).mean, 4)
        yield at_least(f"LoCoMo dev left out, {unit}, minilm", value, "any@5", LEAST_HELD_OUT[unit])


def measure_product(given: Given) -> Iterator[Measured]:
    """Ask notes of sessions as the command asks, beside BM25 on the same notes."""
    path, gold = given.find_talks()
    found = [as_notes(part) for part in load_locomo(path, gold=gold)]
    runs = [_run(given, "locomo-product", found, s, is_product=True) for s in ("hybrid", "bm25")]
    ours, plain = (summarise(core(run.answers)) for run in runs)
    for measure, what in (("any@5", "the session in five"), ("shown", "a right turn shown whole")):
        yield Measured(
            f"LoCoMo dev as notes, {what}", ours[measure], "of them", "bm25", plain[measure]
        )


def measure_shown_turns(given: Given) -> Iterator[Measured]:
    """Look for a right turn in what five hits show."""
    path, gold = given.find_talks()
    found = list(load_locomo(path, unit="turn", gold=gold))
    yield from measure_turns(found, given.cache, draw=given.draw, progress=given.progress)


def measure_confidence(given: Given) -> Iterator[Measured]:
    """Ask collections the questions of others."""
    data = given.find("multilingual-help").parent
    yield from measure_sureness(data, checkout("palace").parent, given.cache)


def measure_scifact(given: Given) -> Iterator[Measured]:
    """Rank abstracts for claims."""
    value = _score(given, "beir-scifact", [load_beir(given.find("beir/scifact"))], "ndcg@10")
    yield at_least("SciFact", value, "nDCG@10", 0.725, 0.718)


def measure_meetings(given: Given) -> Iterator[Measured]:
    """Rank parts of meetings."""
    found = [load_meetings(given.find("qmsum/val.jsonl"))]
    yield at_least("QMSum", _score(given, "qmsum", found, "any@5"), "any@5", 0.55, 0.544)


def measure_chats(given: Given) -> Iterator[Measured]:
    """Rank the sessions of LongMemEval's haystacks; count the questions."""
    found = list(load_longmemeval(given.find("longmemeval/longmemeval_s_dev.json")))
    answers = core(_run(given, "longmemeval", found, "hybrid").answers)
    for measure, limit, before in (("any@5", 21, 21), ("all@5", 18, 17)):
        value = round(summarise(answers)[measure] * len(answers))
        what = f"LongMemEval dev, {measure}"
        yield at_least(what, value, f"of {len(answers)}", limit, before)


def measure_pages(given: Given) -> Iterator[Measured]:
    """Ask pages in eight languages, and English questions of the others, with e5 and minilm."""
    folder = given.find("multilingual-help")
    need_models("e5")
    for embedder in ("e5", "minilm") if is_available("minilm") else ("e5",):
        for name, asked_in in (("pages", None), ("pages-across", "en")):
            found = list(load_pages(folder, asked_in=asked_in))
            runs = [
                _run(given, name, found, system, embedder=embedder, is_product=True)
                for system in (("hybrid",) if asked_in else ("hybrid", "vector"))
            ]
            for means in sum_up(judge_pages(runs), but="en"):
                kind = "across" if asked_in else means.system
                yield from _page_rows(means, kind, embedder)


def measure_verified(given: Given) -> Iterator[Measured]:
    """Check answers on others' notes: with one fact changed, beside the notes, and right ones."""
    path, data = find_answers(), given.find(GARDEN).parent.parent
    need_models(verify_systems.MODEL)
    answers = load_answers(path, data)
    half = path.stem.rpartition("_")[2]
    totals = {
        name: sum_system(name, asked, verify_systems.SYSTEMS[name](*around))
        for name in (verify_systems.NAMED, f"{verify_systems.SEARCHED}, garden")
        for asked in [verify_systems.choose_asked(name, answers)]
        for around in [(asked, data, given.cache, given.progress)]
    }
    named, searched = totals.values()
    for what, value, limit in (
        (f"changed facts accepted, the worst kind: {named.worst_kind}", named.worst_accepted, 0.2),
        ("sentences that wander off accepted", named.off_accepted, 0.02),
        ("right paraphrases refused", named.right_refused, 0.15),
    ):
        yield Measured(f"{what} ({half})", round(value, 3), "of them", limit=limit)
    cited = searched.cites_source or 0.0
    yield at_least(f"right note cited, nothing named ({half})", round(cited, 3), "of them", 0.85)


def _page_rows(means: PageMeans, kind: str, embedder: str) -> Iterator[Measured]:
    limits = LEAST_OF_PAGES[kind] if embedder == "e5" else (None, None)
    label = f"help, {kind}, {embedder}"
    what = f"{label}, mean of those other than English"
    yield at_least(what, round(means.any_at_5, 3), "any@5", limits[0])
    yield at_least(f"{label}, worst: {means.least_in}", round(means.least, 3), "any@5", limits[1])


def _score(given: Given, name: str, found: list[Collection], measure: str) -> float:
    return round(summarise(core(_run(given, name, found, "hybrid").answers))[measure], 3)


def _ask(
    given: Given, name: str, found: Sequence[Collection], profile: Profile
) -> Sequence[Answer]:
    return _run(given, name, found, profile).answers


def _run(
    given: Given,
    name: str,
    found: Sequence[Collection],
    system: str | Profile,
    *,
    embedder: str = "minilm",
    is_product: bool = False,
) -> Run:
    return run_system(
        name,
        found,
        system,
        embedder=get_embedder(embedder),
        cache=given.cache,
        is_product=is_product,
        progress=given.progress,
    )
