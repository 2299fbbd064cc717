"""``palace query --palaces``: several palaces are asked the same, and give one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from typer import Context

from memory_palace.cli.answering import PalacesAsked, say_failure
from memory_palace.cli.faults import describe
from memory_palace.cli.options import find_palace, locate, name_unread_later
from memory_palace.cli.query import refresh_index, restrict
from memory_palace.cli.registry import read_registry
from memory_palace.cli.stored import query_store
from memory_palace.errors import PalaceError, UsageError
from memory_palace.models import QueryResult
from memory_palace.palace import Palace
from memory_palace.retrieval.excerpts import choose_texts, count_bytes
from memory_palace.retrieval.merging import merge_results


def ask_several(ctx: Context, text: str, asked: Mapping[str, Any]) -> PalacesAsked:
    """Ask each palace; one that cannot answer is named, and the others do.

    Raise ``UsageError`` where the names or other options cannot be used, and what failed first
    where no palace answers.
    """
    given = ctx.params
    budget, asked = asked["budget_bytes"], {**asked, "budget_bytes": None}
    palaces: dict[str, Palace] = {}
    own: dict[str, QueryResult] = {}
    failed: dict[str, PalaceError] = {}
    unknown: dict[str, list[str]] = {}
    wanted, stores = _read_names(given["palaces"]), read_registry().stores
    share = None if budget is None else max(budget // len(wanted), 1)
    for name in wanted:
        try:
            if name in stores:
                share_asked = {**asked, "budget_bytes": share}
                own[name], unknown[name] = query_store(name, text, share_asked, given)
            else:
                palaces[name] = palace = _open(ctx, name, palaces)
                own[name] = palace.query(text, **asked, **restrict(palace, given))
        except (PalaceError, OSError) as error:
            palaces.pop(name, None)
            failed[name] = _explain(error)
    if not own:
        raise _join_failures(failed)
    least = asked["min_confidence"]
    result = merge_results(own, limit=asked["limit"], min_confidence=least)
    if budget is not None and palaces:
        stored = sum(count_bytes(hit.text) for hit in result if hit.palace in stores)
        budget -= stored
        result = _spend(result, palaces, budget, include_cold=asked["include_cold"])
    return PalacesAsked(palaces, result, own, failed, unknown)


def _explain(error: PalaceError | OSError) -> PalaceError:
    return error if isinstance(error, PalaceError) else PalaceError(describe(error))


def _open(ctx: Context, name: str, opened: Mapping[str, Palace]) -> Palace:
    palace = find_palace(locate(name))
    name_unread_later(ctx, palace)
    for other in opened.values():
        palace.adopt(other)
    if ctx.params["refresh"]:
        refresh_index(palace)
    return palace


def _read_names(names: str) -> list[str]:
    found = [name.strip() for name in names.split(",")]
    if not all(found):
        raise UsageError(f"--palaces takes names or folders with commas between, not {names!r}")
    if len(set(found)) < len(found):
        raise UsageError(f"--palaces names a palace twice: {names}")
    return found


def _join_failures(failed: Mapping[str, PalaceError]) -> PalaceError:
    """Return the first error, which says what is wrong with each palace, or the same with all."""
    first = next(iter(failed.values()))
    if len({str(error) for error in failed.values()}) > 1 or len(failed) == 1:
        lines = (f"{name}: {say_failure(error)}" for name, error in failed.items())
        first.args = ("\n".join(lines),)
    return first


def _spend(
    result: QueryResult, palaces: Mapping[str, Palace], budget: int, *, include_cold: bool
) -> QueryResult:
    """Give the hits of each palace their share of the bytes; what one leaves goes to the next."""
    shown = {place: hit for place, hit in enumerate(result) if hit.palace not in palaces}
    to_come = sum(hit.role == "core" and hit.palace in palaces for hit in result)
    left = budget
    for name, palace in palaces.items():
        own = {place: hit for place, hit in enumerate(result) if hit.palace == name}
        count = sum(hit.role == "core" for hit in own.values())
        if not count or left < 1:
            continue
        snapshot = palace.snapshot(include_cold=include_cold)
        share = max(1, left * count // to_come)
        found = choose_texts(result.text, [*own.values()], snapshot, palace.paths, max_bytes=share)
        shown |= dict(zip(own, found, strict=False))
        left -= sum(count_bytes(hit.text) for hit in found)
        to_come -= count
    return replace(result, hits=tuple(shown[place] for place in sorted(shown)))
