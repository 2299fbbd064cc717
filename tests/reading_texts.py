"""Everything that reads a text of any length, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from memory_palace.anchors.terms import chunk_terms, note_terms, words_of
from memory_palace.checking import (
    amounts,
    attempts,
    checker,
    clock,
    derived,
    numbers,
    told_times,
    verdicts,
    wording,
)
from memory_palace.config import Config
from memory_palace.facts.derive import derive
from memory_palace.facts.structure import describe_chunks
from memory_palace.fence import Fence
from memory_palace.index.recipes import Detail
from memory_palace.language import (
    detect,
    markers,
    names,
    phrases,
    preferences,
    quotes,
    relations,
    secrets,
    sentences,
    tagged_words,
    themes,
    tokens,
    visible,
)
from memory_palace.language.time.reading import find_times
from memory_palace.language.time.weekdays import find_weekdays
from memory_palace.markdown.comments import drop_comments
from memory_palace.markdown.markup import Markup
from memory_palace.markdown.prose import strip_markup
from memory_palace.metabolism import distill
from memory_palace.mnemonics import form, lint, smashin
from memory_palace.notes.document import parse_document, split_sections
from memory_palace.notes.excerpt import excerpt, split_line_range
from memory_palace.notes.frontmatter import set_fields
from memory_palace.notes.note_links import rewrite_links
from memory_palace.notes.parsing import parse_note
from memory_palace.notes.sections import read_section
from memory_palace.notes.withholding import withhold
from memory_palace.redqueen import own_sections, readable
from memory_palace.retrieval.analysis import analyse

_DAY = date(2026, 11, 21)
_PATH = "palace/chambers/a.md"


def _note(text: str) -> object:
    return parse_note(
        _PATH, text.encode(), count_tokens=lambda part: len(part.split()), token_limit=200
    )


def _facts(text: str) -> object:
    note = _note(text)
    chunks = [chunk_terms(chunk, note) for chunk in note.chunks]
    return (
        derive(note, Detail.ENRICHED),
        describe_chunks(note, Config(), Fence(note.path)),
        note_terms(note),
        chunks,
    )


def _form(text: str) -> object:
    document = parse_document(_PATH, f"# A\n\n## Content\n\n{text}\n".encode())
    read = form.read_form(document)
    return read, lint.lint_memory(read, lint.VisibleWords({}))


def _grammar(text: str) -> object:
    words = tagged_words.split_words(text)
    return (
        names.find_names(words),
        phrases.find_phrases(words),
        list(relations.find_relations(words, ())),
    )


def _check(text: str) -> object:
    passage = verdicts.Passage("a.md", 1, 1, "Jean checks the rain gauge at half past six.")
    return checker.check_answer(text, [passage], tokens=["wet gong"])


def _check_against(text: str) -> object:
    passage = verdicts.Passage("a.md", 1, text.count("\n") + 1, text)
    return checker.check_answer("Jean checks the rain gauge at half past six.", [passage])


def _condense(text: str) -> object:
    kept, left_out = distill.condense(text)
    return distill.render_statements([statement for statement, _ in kept]), left_out


def _add_up(text: str) -> object:
    (total,) = amounts.find_amounts("7000000007 in total")
    return derived.is_computed(total, "in total", amounts.find_amounts(text))


READERS: Mapping[str, Callable[[str], object]] = {
    "markup": lambda text: (lambda m: (m.headings, m.links, m.plain, drop_comments(text)))(
        Markup(text)
    ),
    "prose": strip_markup,
    "note": _note,
    "facts": _facts,
    "document": lambda text: parse_document(_PATH, text.encode()),
    "front matter": lambda text: parse_document(_PATH, f"---\n{text}\n---\n".encode()),
    "sections": split_sections,
    "excerpt": lambda text: excerpt(_PATH, text.encode(), first_line=1, last_line=2),
    "line range": split_line_range,
    "links": lambda text: rewrite_links(text, lambda target, is_wiki: None),
    "set field": lambda text: set_fields(_PATH, text.encode(), {"status": "open"}),
    "section": lambda text: read_section(_PATH, text.encode(), "A"),
    "withheld": lambda text: withhold(text, _PATH),
    "visible": lambda text: (visible.visible(text), visible.escape_hidden(text)),
    "sentences": sentences.split_sentences,
    "tokens": lambda text: (tokens.tokenize(text), tokens.plain_words(text)),
    "grammar": _grammar,
    "dates": lambda text: (find_times(text, _DAY), find_weekdays(text)),
    "secrets": secrets.find_secrets,
    "speakers": lambda text: (list(sentences.find_speakers(text)), sentences.split_speakers(text)),
    "quotes": quotes.find_quotes,
    "markers": lambda text: (list(markers.find_markers(text)), markers.drop_markers(text)),
    "themes": themes.find_themes,
    "language": detect.is_english,
    "tongue": detect.tell_tongue,
    "preferences": lambda text: list(preferences.find_preferences(text)),
    "question": analyse,
    "numbers": lambda text: (numbers.find_numbers(text), amounts.find_amounts(text)),
    "clock": lambda text: (list(clock.find_clock_times(text)), told_times.find_told_times(text)),
    "claims": lambda text: (wording.find_sentences(text), attempts.find_attempts(text, "wet gong")),
    "answer": _check,
    "passage": _check_against,
    "sums": _add_up,
    "memory": _form,
    "factors": lambda text: (smashin.detect_factors(text), form.read_marks(text)),
    "telegraph": _condense,
    "asking": lambda text: (readable.read_question(text), own_sections.blank_own_sections(text)),
    "terms": words_of,
}
