"""Many clients of a store that ask at once, each a process of its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple, cast

from memory_palace.errors import PalaceError
from memory_palace.postgres.address import read_address
from memory_palace.postgres.reader import StoreReader
from memory_palace.retrieval.search import RankingOptions

_WAIT_SECONDS = 600.0


class ClientTimes(NamedTuple):
    """What a client met with."""

    began: float
    ended: float
    seconds: list[float]
    """Of each answer."""
    errors: int


def ask_at_once(
    url: str, questions: list[str], clients: int, options: RankingOptions
) -> Iterator[ClientTimes]:
    """Yield what each client met with; raise ``PalaceError`` once one cannot ask, or is killed."""
    context = get_context("spawn")
    given = (url, questions, options, context.Barrier(clients))
    processes, ends = [], []
    try:
        for number in range(clients):
            end, other = context.Pipe(duplex=False)
            processes.append(context.Process(target=_ask_many, args=(*given, other, number)))
            processes[-1].start()
            other.close()  # so that it ends with the client
            ends.append(end)
        while ends:
            for end in cast("list[Connection]", wait(ends)):
                ends.remove(end)
                yield _receive(end)
    finally:
        for process in processes:
            process.kill()


def _receive(end: Connection) -> ClientTimes:
    try:
        answer: ClientTimes | PalaceError = end.recv()
    except EOFError:
        raise PalaceError("a client was killed while it asked; give fewer") from None
    if isinstance(answer, PalaceError):
        raise answer
    return answer


def _ask_many(
    url: str,
    questions: list[str],
    options: RankingOptions,
    barrier: Any,
    end: Connection,
    number: int,
) -> None:
    try:
        end.send(_ask(url, questions[number:] + questions[:number], options, barrier))
    except PalaceError as error:
        end.send(error)


def _ask(url: str, questions: list[str], options: RankingOptions, barrier: Any) -> ClientTimes:
    seconds, errors = [], 0
    with StoreReader(read_address(url)) as reader:
        reader.query(questions[0])
        barrier.wait(_WAIT_SECONDS)
        began = time.time()
        for question in questions:
            started = time.perf_counter()
            try:
                reader.query(question, **options)
            except PalaceError:
                errors += 1
            else:
                seconds.append(time.perf_counter() - started)
        return ClientTimes(began, time.time(), seconds, errors)
