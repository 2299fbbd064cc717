"""A builder at a store: which palace it writes, which vectors are known there, and the push."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from psycopg import Connection

from memory_palace.address import Address
from memory_palace.config import Config, PalacePaths
from memory_palace.errors import IndexDamagedError, WrongEmbedderError
from memory_palace.features.store.access import make_palace
from memory_palace.features.store.connecting import asking, connect
from memory_palace.features.store.generation import Generation, read_generation
from memory_palace.features.store.schema import migrate
from memory_palace.features.store.settings import kept_settings, refuse_two
from memory_palace.features.store.statements import Statements
from memory_palace.features.store.values import Pushed
from memory_palace.features.store.writing import push
from memory_palace.index.recipes import has_same_vectors
from memory_palace.index.store import IndexFiles
from memory_palace.models import Vector
from memory_palace.storage.lock import writer_lock


class Builder:
    """Writes one palace of a store."""

    def __init__(self, connection: Connection, address: Address, palace: int) -> None:
        self._connection, self._address, self._palace = connection, address, palace

    def find_vectors(self, fingerprint: str, digests: Sequence[bytes]) -> Mapping[bytes, Vector]:
        """Return the vectors of texts that the store has, by digest; see ``FindVectors``."""
        with asking(self._address), self._connection.transaction():
            statements = Statements(self._connection, self._palace)
            stored = read_generation(statements)
            if not digests or stored is None or not _has_vectors(stored, fingerprint):
                return {}
            rows = statements.ask(
                "SELECT digest, vector FROM passage"
                " WHERE palace = %(palace)s AND digest = ANY(%(digests)s)"
                " UNION ALL SELECT described_digest, described FROM passage"
                " WHERE palace = %(palace)s AND described_digest = ANY(%(digests)s)",
                digests=list(digests),
            )
        found = {digest: np.array(vector.to_numpy()) for digest, vector in rows if vector}
        return {d: vector for d, vector in found.items() if len(vector) == stored.commit.dimension}

    def push(
        self,
        paths: PalacePaths,
        config: Config,
        *,
        replaces: bool,
        renews: bool,
        wait_seconds: float,
    ) -> Pushed:
        """Make the store hold the index of a folder; ``renews`` mends what is damaged there.

        Raise ``WrongEmbedderError`` where its vectors are another embedder's, unless ``replaces``.
        """
        with writer_lock(paths.lock, wait_seconds=wait_seconds), asking(self._address):
            source = IndexFiles(paths)
            commit = source.read_commit()
            stored = self._read_generation(is_damaged=renews)
            if stored and not replaces and not _has_vectors(stored, commit.fingerprint):
                theirs = stored.commit.embedder
                refuse_two(theirs)
                raise WrongEmbedderError(
                    f"{self._address.shown} was indexed with {theirs}, and these notes with "
                    f"{commit.embedder}: `palace index --embedder {theirs} --force --store …` "
                    "makes these fit, `palace index --force --store …` replaces what is there"
                )
            built_by = self._connection.info.parameter_status("application_name") or ""
            return push(
                self._connection,
                self._palace,
                source,
                built_by=built_by,
                renews=renews,
                settings=kept_settings(config),
                wait_seconds=wait_seconds,
            )

    def _read_generation(self, *, is_damaged: bool) -> Generation | None:
        try:
            with self._connection.transaction():
                return read_generation(Statements(self._connection, self._palace))
        except IndexDamagedError:
            if is_damaged:
                return None
            raise


@contextmanager
def open_builder(address: Address) -> Iterator[Builder]:
    """Connect to a store, which is made or brought up to date, and to the palace in it."""
    connection = connect(address, purpose="index")
    try:
        migrate(connection, address)
        yield Builder(connection, address, make_palace(connection, address))
    finally:
        connection.close()


def _has_vectors(stored: Generation, fingerprint: str) -> bool:
    return has_same_vectors(str(stored.record["fingerprint"]), fingerprint)
