"""Which embedder an index gets. It is chosen once, at the first build, and never falls back."""

from __future__ import annotations

from collections.abc import Callable

from memory_palace.errors import WrongEmbedderError

DEFAULT = "minilm"
NO_VECTORS = "none"


def choose_embedder(
    *,
    asked: str | None,
    configured: str | None,
    committed: str | None,
    force: bool,
    is_available: Callable[[str], bool],
) -> str:
    """Return the name of the embedder to build with.

    ``asked`` is the flag, ``configured`` what ``palace.yaml`` says, ``committed`` what the index
    was built with. Another one than the committed needs ``force``: vectors of two models do not
    mix. Without any of them it is minilm where its weights are, and no vectors at all if not.
    """
    wanted = asked or configured
    if committed is not None and not force:
        if wanted is not None and wanted != committed:
            raise WrongEmbedderError(
                f"the index was built with {committed}, not {wanted}; keep it, or run "
                f"`palace index --force --embedder {wanted}` to build it again"
            )
        return committed
    name = wanted or committed or DEFAULT
    if name == DEFAULT and wanted is None and not is_available(DEFAULT):
        return NO_VECTORS
    return name
