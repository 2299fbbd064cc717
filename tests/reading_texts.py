"""Everything that reads a text of any length, by name."""

from collections.abc import Callable, Mapping
from datetime import date

from memory_palace.config import Config
from memory_palace.facts import derive
from memory_palace.features.anchors.vocabulary import chunk_terms, note_terms, words_of
from memory_palace.features.checking import checker, wording
from memory_palace.features.checking.wording import find_weekdays
from memory_palace.features.memories import form, smashin, verification
from memory_palace.features.metabolism import distill
from memory_palace.features.redqueen import askings, session
from memory_palace.features.structure import facts
from memory_palace.features.structure.signals import analyse
from memory_palace.index.commit import Detail
from memory_palace.language import numbers, sentences, tagged_words, visible, words
from memory_palace.language.times import find_times
from memory_palace.markdown.markup import Markup, drop_comments, strip_markup
from memory_palace.notes.document import parse_document, read_section, set_fields, split_sections
from memory_palace.notes.note import excerpt, split_line_range, withhold
from memory_palace.notes.parsing import parse_note, rewrite_links

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
        derive(note, Detail.STRUCTURED),
        [facts.describe(note, chunk, Config()) for chunk in note.chunks],
        note_terms(note),
        chunks,
    )


def _form(text: str) -> object:
    document = parse_document(_PATH, f"# A\n\n## Content\n\n{text}\n".encode())
    read = form.read_form(document)
    return read, verification.lint_memory(read, verification.VisibleWords({}))


def _grammar(text: str) -> object:
    words = tagged_words.split_words(text)
    return (
        tagged_words.find_names(words),
        facts.find_phrases(words),
        list(facts.find_relations(words, ())),
    )


def _check(text: str) -> object:
    passage = checker.Passage("a.md", 1, 1, "Jean checks the rain gauge at half past six.")
    return checker.check_answer(text, [passage])


def _check_against(text: str) -> object:
    passage = checker.Passage("a.md", 1, text.count("\n") + 1, text)
    return checker.check_answer("Jean checks the rain gauge at half past six.", [passage])


def _condense(text: str) -> object:
    return distill._shorten(distill._read_blocks(text))


READERS: Mapping[str, Callable[[str], object]] = {
    "redqueen": lambda text: list(askings.links_shown(Markup(session.blank_own_sections(text)))),
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
    "tokens": lambda text: (words.tokenize(text), words.plain_words(text)),
    "grammar": _grammar,
    "dates": lambda text: (find_times(text, _DAY), find_weekdays(text)),
    "secrets": visible.find_secrets,
    "speakers": lambda text: (list(sentences.find_speakers(text)), sentences.split_speakers(text)),
    "markers": lambda text: (list(visible.find_markers(text)), visible.drop_markers(text)),
    "language": words.is_english,
    "tongue": words.tell_tongue,
    "preferences": lambda text: list(facts.find_preferences(text, writer="i", keys=facts._HINTS)),
    "question": analyse,
    "numbers": numbers.find_numbers,
    "claims": wording.find_sentences,
    "answer": _check,
    "passage": _check_against,
    "memory": _form,
    "factors": lambda text: (smashin.detect_factors(text), form.read_marks(text)),
    "telegraph": _condense,
    "terms": words_of,
}
