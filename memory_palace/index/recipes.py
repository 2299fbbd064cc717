"""What an index is made by besides its notes: embedder, chunker, tokenizer, and how much detail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cache
from importlib.util import find_spec
from typing import NamedTuple

from memory_palace.config import Config, PalacePaths, describe_two
from memory_palace.embedding.base import Embedder
from memory_palace.embedding.registry import OFFERED, choose_embedder, find_ready, get_embedder
from memory_palace.errors import MissingPartError, UsageError, WrongEmbedderError
from memory_palace.index.commit import Commit
from memory_palace.language.tokens import Languages

CHUNKER = "sections-8"
"""Bump it whenever ``notes`` can cut elsewhere or embed another text."""

TOKENIZER = "words-4"
"""Bump it whenever ``language.tokens`` can give other tokens for a text."""

FACTS = "plain-10"
"""Bump it whenever ``facts.derive`` can find other names, headings, dates or speakers in a text, or
note records keep other members."""

PATTERNS = "patterns"
"""What reads structure unless the settings name spaCy."""

STRUCTURE = "facts-9"
"""Bump it whenever ``facts`` can extract anything else from a text."""

ENRICHED = "enriched-1"
"""Bump it whenever ``facts.enrich`` can describe the same facts in other words."""


_LOCALE = "locale-"
"""What goes before a locale: numbers of days in notes are read by it."""
_OTHER_VERSION = "the index was built by another version of palace; run `palace index` to update it"
_OTHER_LANGUAGES = (
    "the settings name other languages than the index was built for; run `palace index` to make "
    "its words again (vectors are kept)"
)


class Detail(IntEnum):
    """How much an index keeps of each passage; each includes those before it."""

    PLAIN = 0
    """Words, dates, speakers, and whether it is a question: all that most profiles read."""
    STRUCTURED = 1
    """The facts of source document 001, and the words that describe a passage."""
    ENRICHED = 2
    """A second vector, of what describes a passage."""


def name_recipe(
    embedder: Embedder,
    detail: Detail = Detail.PLAIN,
    languages: Languages = (),
    structure: str = PATTERNS,
    locale: str = "",
) -> str:
    """Name the recipe of an index; two indexes with one fingerprint may share segments.

    ``structure`` and ``locale`` are the settings. Raise ``MissingPartError`` where what the first
    names is not here.
    """
    parts = [embedder.fingerprint, CHUNKER, "+".join((TOKENIZER, *languages))]
    parts += [f"{_LOCALE}{locale}"] if locale else []
    parts.append(FACTS if detail == Detail.PLAIN else f"{STRUCTURE}+{_name_reader(structure)}")
    return "|".join([*parts, ENRICHED] if detail == Detail.ENRICHED else parts)


def read_detail(fingerprint: str) -> Detail:
    """Return how much detail an index of that recipe has."""
    last = fingerprint.rpartition("|")[2]
    if last.startswith(_kind(ENRICHED)):
        return Detail.ENRICHED
    return Detail.STRUCTURED if last.startswith(_kind(STRUCTURE)) else Detail.PLAIN


def fits_recipe(embedder: Embedder, commit: Commit, *, structure: str = "") -> bool:
    """Say whether an index is as this version makes it with that embedder.

    Whatever read its structure: what was found is asked for in one way. With ``structure``, the
    setting, it has to be what that names.
    """
    fingerprint = commit.fingerprint
    detail, languages = read_detail(fingerprint), read_languages(fingerprint)
    locale = next((part for part in fingerprint.split("|") if part.startswith(_LOCALE)), "")
    told = locale.removeprefix(_LOCALE)
    if structure:
        return name_recipe(embedder, detail, languages, structure, told) == fingerprint
    own = name_recipe(embedder, detail, languages, locale=told)
    return _drop_reader(own) == _drop_reader(fingerprint)


def read_languages(fingerprint: str) -> Languages:
    """Return the languages whose stemmers an index of that recipe was made with."""
    parts = (part.split("+") for part in fingerprint.split("|"))
    return next((tuple(languages) for first, *languages in parts if first == TOKENIZER), ())


def check_recipe(commit: Commit, languages: Languages) -> None:
    """Raise ``WrongEmbedderError`` where an index keeps other things than this version reads.

    So it is where its words are not those of the languages that the settings name.
    """
    if two := describe_two(commit.embedder):
        raise WrongEmbedderError(two)
    parts = commit.fingerprint.split("|")
    names = {part.partition("+")[0] for part in parts}
    if not {CHUNKER, TOKENIZER}.issubset(names) or not _keeps_facts(parts):
        raise WrongEmbedderError(_OTHER_VERSION)
    if read_languages(commit.fingerprint) != languages:
        raise WrongEmbedderError(_OTHER_LANGUAGES)


def _keeps_facts(parts: Sequence[str]) -> bool:
    return any(part == FACTS or part.partition("+")[0] == STRUCTURE for part in parts)


def choose_detail(
    commit: Commit | None, *, structure: bool | None = None, enrich: bool | None = None
) -> Detail:
    """Return the detail of a build: as asked, else as the index has it.

    Descriptions are made of structure: to enrich is to structure. Raise ``UsageError`` where
    that contradicts what is asked.
    """
    if enrich and structure is False:
        raise UsageError("--enrich describes passages by their structure; drop --no-structure")
    detail = read_detail(commit.fingerprint) if commit else Detail.PLAIN
    if enrich is False:
        detail = min(detail, Detail.STRUCTURED)
    if structure is False:
        detail = Detail.PLAIN
    wanted = Detail.ENRICHED if enrich else Detail.STRUCTURED if structure else Detail.PLAIN
    return max(detail, wanted)


def has_same_vectors(first: str, second: str) -> bool:
    """Whether two recipes cut and embed notes alike, whatever else they keep of them."""
    kind = f"|{_kind(TOKENIZER)}-"
    return first.partition(kind)[0] == second.partition(kind)[0]


@cache
def english_pipeline() -> str | None:
    """Return the package of the English spaCy pipeline that is installed, the first by name.

    spaCy itself is not imported: that takes seconds.
    """
    if find_spec("spacy") is None:
        return None
    from importlib.metadata import entry_points  # delayed: it takes longer than a question

    names = sorted(entry.name for entry in entry_points(group="spacy_models"))
    return next((name for name in names if name.startswith("en_")), None)


def need_pipeline() -> str:
    """Return the same; raise ``MissingPartError`` where there is none."""
    pipeline = english_pipeline()
    if pipeline is None:
        from memory_palace.libraries import install_command  # delayed: few lack what they named

        raise MissingPartError(
            "`structure: spacy` in the settings needs spaCy and an English pipeline; run "
            f"`{install_command('nlp')}`, then `python -m spacy download en_core_web_sm`"
        )
    return pipeline


class Embedders:
    """Gives embedders by name; each is made once, and used only where its recipe fits the index."""

    def __init__(self, paths: PalacePaths, config: Config) -> None:
        """Keep none yet; the settings may name the one to build with."""
        self._paths, self._config = paths, config
        self._made: dict[str, Embedder] = {}

    def get(self, name: str) -> Embedder:
        """Return the embedder of that name."""
        if name not in self._made:
            self._made[name] = get_embedder(name)
        return self._made[name]

    def share(self, other: Embedders) -> None:
        """Use the models that another palace has open, and let it use those of this one."""
        other._made = self._made = {**self._made, **other._made}

    def of(self, commit: Commit) -> Embedder:
        """Return the embedder an index was built with.

        Raise ``WrongEmbedderError`` where it, or what else makes an index, is of another version.
        """
        embedder = self.get(commit.embedder)
        if not fits_recipe(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder

    def to_build_with(
        self,
        commit: Commit | None,
        *,
        asked: str | None,
        force: bool,
        takes_up: bool,
    ) -> tuple[Embedder, str]:
        """Return the embedder of a build, and which one it waits for; see ``choose_embedder``.

        Where nobody chose, it is the one that would serve the notes.
        """
        from memory_palace.index.advice import prefer_embedders  # delayed: it looks at notes

        if asked and ":" in asked:
            asked = self.get(asked).name  # an alias, or a folder as it was typed
        configured = self._config.embedder
        is_open = not (asked or configured) and (commit is None or commit.waits_for)
        name, waits_for = choose_embedder(
            asked=asked,
            configured=configured,
            committed=commit.embedder if commit else None,
            waits_for=commit.waits_for if commit else "",
            preferred=prefer_embedders(self._paths, self._config, commit) if is_open else OFFERED,
            force=force,
            takes_up=takes_up,
        )
        embedder = self.get(name)
        is_same = commit is None or name == commit.embedder
        if commit is not None and is_same and not force and not is_embedder_of(embedder, commit):
            raise WrongEmbedderError(describe_mismatch(embedder, commit))
        return embedder, waits_for


class AwaitedModel(NamedTuple):
    """An embedder that nobody chose against, and that an index is without."""

    name: str
    is_ready: bool
    """Whether it has come since: the next build makes vectors with it."""
    passages: int
    """How many the index has."""


def find_awaited(
    commit: Commit | None, configured: str | None, prefer: Callable[[], Sequence[str]]
) -> AwaitedModel | None:
    """Return the model that a build would use if it were here, or will use now that it is.

    ``prefer`` says which ones would serve the notes.
    """
    if configured is not None or (commit is not None and not commit.waits_for):
        return None
    names = prefer()
    ready = find_ready(names)
    if commit is None and ready:
        return None
    return AwaitedModel(ready or names[0], bool(ready), commit.rows if commit else 0)


def describe_mismatch(embedder: Embedder, commit: Commit) -> str:
    """Say why an index does not fit this version, and which command makes it fit."""
    if is_embedder_of(embedder, commit):
        return _OTHER_VERSION
    return (
        f"the index was built with another version of {commit.embedder}; "
        "run `palace index --force` to build it again"
    )


def is_embedder_of(embedder: Embedder, commit: Commit) -> bool:
    """Whether the vectors of an index are those that an embedder makes."""
    return commit.fingerprint.startswith(f"{embedder.fingerprint}|")


def _name_reader(structure: str) -> str:
    """Name what structure is read by: the built-in patterns, or spaCy and its pipeline."""
    if structure == PATTERNS:
        return f"{PATTERNS}-1"
    from importlib.metadata import version

    pipeline = need_pipeline()
    return f"spacy-{version('spacy')}+{pipeline}-{version(pipeline)}"


def _drop_reader(fingerprint: str) -> str:
    parts = fingerprint.split("|")
    return "|".join(STRUCTURE if p.partition("+")[0] == STRUCTURE else p for p in parts)


def _kind(recipe: str) -> str:
    return recipe.partition("-")[0]
